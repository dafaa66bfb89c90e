"""What buffer is asked for: a scenario, the answer of a sizing, or a size by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from forebay.outcome import Aqm, DocumentError, SizeResult
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port, Wanted
from forebay.platforms.snippet import MOST_BYTES, Snippet
from forebay.scenario import BufferSize, DataSize, Rate, Scenario, ScenarioError, load

Q = TypeVar("Q", Rate, DataSize)

_MOST_JSON = 64 << 20  # a sizing keeps the whole curve that it saw


def ask(
    target: str,
    *,
    rate_bps: float | None = None,
    packet_bytes: int | None = None,
    overrides: Sequence[str] = (),
) -> tuple[Wanted, Port]:
    """Return the buffer wanted and its port.

    ``target`` is a scenario file (the queue.size that it writes down), a ``.json`` file from
    ``forebay size --json`` (the buffer found), or a size such as "129 packets", "1.5 MB" or
    "10 ms", which needs ``rate_bps``. A scenario without a queue.size is refused: its default
    was chosen by nobody. Raises PlatformError or ScenarioError.
    """
    given = rate_bps is not None or packet_bytes is not None
    if not _is_file(target):
        if overrides:
            hint = "leave --set away, or name a scenario file"
            raise PlatformError("no-scenario", "--set changes a scenario's field", hint)
        return size(target, rate_bps, packet_bytes)
    if given:
        wrong = f"{short(target)} says its own rate and packet"
        hint = "leave --rate and --packet away, or change link.rate with --set"
        raise PlatformError("two-rates", wrong, hint)
    if target.endswith(".json"):
        return found(target)
    scenario = load(target, overrides)
    if not _is_written(scenario):
        wrong = f"{short(target)} has no queue.size, and its default is no answer"
        hint = (
            "write --emit NAME with forebay size, or write queue.size down, such as "
            '--set queue.size="10 ms"'
        )
        raise PlatformError("not-sized", wrong, hint)
    return of_scenario(scenario, f"queue.size of {target} as it stands there, not sized")


def _is_written(scenario: Scenario) -> bool:
    return "queue" in scenario.model_fields_set and "size" in scenario.queue.model_fields_set


def _is_file(target: str) -> bool:
    return target.endswith((".toml", ".json")) or Path(target).is_file()


def of_scenario(scenario: Scenario, source: str) -> tuple[Wanted, Port]:
    """Return the scenario's own queue.size in front of its link. Raises PlatformError."""
    if scenario.queue.classes:
        raise _class_queues(source)
    port = Port(float(scenario.link.rate), int(scenario.packet))
    packets, chosen = scenario.buffer_packets, scenario.queue.size
    size = packets * port.packet_bytes
    if chosen.unit in ("bytes", "seconds"):
        size = _bytes(chosen, port)
    # Time is rounded to the nearest packet by the scenario: never fewer bytes than those.
    size = max(size, packets * port.packet_bytes)
    return Wanted(size, packets, str(chosen), source), port


def size(text: str, rate_bps: float | None, packet_bytes: int | None) -> tuple[Wanted, Port]:
    """Return a size that stands by itself, such as "10 ms"."""
    chosen = BufferSize.parse(text)
    if chosen.unit.startswith("bdp"):
        wrong = f'"{short(text)}" depends on round-trip times'
        hint = 'name a scenario file, or write a size such as "129 packets" or "10 ms"'
        raise PlatformError("no-scenario", wrong, hint)
    if rate_bps is None:
        wrong = f'the line rate that goes with "{short(text)}" is not given'
        raise PlatformError("no-rate", wrong, 'write it, such as --rate "10 Gbit/s"')
    port = Port(rate_bps, packet_bytes or 1500)
    packets = chosen.packets(rate_bps=rate_bps, packet_bytes=port.packet_bytes, bdp=0.0, flows=1)
    amount = max(_bytes(chosen, port), packets * port.packet_bytes)
    return Wanted(amount, packets, str(chosen)), port


def _bytes(chosen: BufferSize, port: Port) -> int:
    if chosen.unit == "packets":
        return int(chosen.amount) * port.packet_bytes
    if chosen.unit == "bytes":
        return int(chosen.amount)
    return port.bytes_in(Fraction(chosen.amount))


def found(path: str) -> tuple[Wanted, Port]:
    """Return the buffer of a ``forebay size --json`` document, and the port that it implies.

    Raises PlatformError or DocumentError where the file is none, or the sizing found no buffer.
    """
    return of_answer(_document(path), path)


def of_answer(answer: SizeResult, path: str) -> tuple[Wanted, Port]:
    """Return the buffer that a sizing found; ``path`` is its source. Raises PlatformError."""
    if answer.governs is not None and answer.governs.regime == "class queues":
        raise _class_queues(path)
    buffer = answer.buffer
    if buffer is None:
        wrong = f"{short(path)} holds no buffer: that sizing found none"
        raise PlatformError("no-buffer", wrong, "relax its goals and run forebay size again")
    packet = buffer.bytes // buffer.packets if buffer.packets >= 1 else 0
    if packet < 1 or not 0 < buffer.seconds < 1e18 or buffer.bytes > 1e18:
        raise _not_ours(path, "its buffer is no size")
    port = Port(float(f"{8 * buffer.bytes / buffer.seconds:.12g}"), packet)
    if answer.aqm is not None:
        return _managed(answer.aqm, port, path), port
    written = f"{buffer.packets} packet{'' if buffer.packets == 1 else 's'}"
    return Wanted(buffer.bytes, buffer.packets, written, path), port


def _class_queues(source: str) -> PlatformError:
    wrong = f"{short(source)} is of several class queues, and one queue for all is written here"
    hint = 'write a class\'s limit as a size by itself, such as "64 packets" with --rate'
    return PlatformError("class-queues", wrong, hint)


def _managed(aqm: Aqm, port: Port, path: str) -> Wanted:
    """Return the limit of a queue that manages itself, with its target or thresholds."""
    numbers = (value for value in aqm.model_dump().values() if isinstance(value, int | float))
    if not all(0 <= value < 1e18 for value in numbers) or aqm.limit_packets < 1:
        raise _not_ours(path, "its aqm is none")
    limit = aqm.limit_packets
    written = f"{aqm.discipline} with a limit of {limit} packets"
    return Wanted(limit * port.packet_bytes, limit, written, path, aqm)


def _document(path: str) -> SizeResult:
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_JSON + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    if len(raw) > _MOST_JSON:
        raise _not_ours(path, "it is too long")
    try:
        return SizeResult.from_json(raw)
    except DocumentError as error:
        raise _not_ours(path, short(error.wrong), error.hint) from None


_MAKE = "make one with: forebay size SCENARIO --json"


def _not_ours(path: str, why: str, hint: str = _MAKE) -> PlatformError:
    wrong = f"{short(path)} is not a document of forebay size --json that can be read here: {why}"
    return PlatformError("not-a-sizing", wrong, hint)


def unreadable(path: str, error: OSError) -> PlatformError:
    """Return the complaint about a file that cannot be read."""
    wrong = f"{short(path)} cannot be read: {error.strerror or error}"
    return PlatformError("unreadable", wrong, "name a file that can be")


def read_snippet(path: str) -> Snippet:
    """Return a configuration file's text. Raises PlatformError."""
    try:
        with open(path, "rb") as file:
            return Snippet.decode(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise unreadable(path, error) from None


def with_choices(port: Port, header_bytes: int | None, pool_bytes: int | None) -> Port:
    """Return the port with the link-layer header and the shared pool that were given."""
    header = port.header_bytes if header_bytes is None else header_bytes
    return replace(port, header_bytes=header, pool_bytes=pool_bytes)


_RATES = (1e3, 1e13)
_SIZES = {"--packet": (1, 65_535), "--header": (0, 256), "--pool": (1, 10**12)}


def parse_rate(text: str | None) -> float | None:
    """Return --rate in bit/s. Raises ScenarioError, PlatformError."""
    if text is None:
        return None
    rate = _parsed(Rate, text, "--rate")
    if not _RATES[0] <= rate <= _RATES[1]:
        raise PlatformError(
            "out-of-range", f"--rate {rate} is no port", "write 1 kbit/s to 10 Tbit/s"
        )
    return float(rate)


def parse_bytes(text: str | None, option: str) -> int | None:
    """Return --packet, --header or --pool in bytes. Raises ScenarioError, PlatformError."""
    if text is None:
        return None
    amount = int(_parsed(DataSize, text, option))
    least, most = _SIZES[option]
    if not least <= amount <= most:
        hint = f"write {least} B to {most} B"
        raise PlatformError("out-of-range", f"{option} {amount} B is out of range", hint)
    return amount


def _parsed(kind: type[Q], text: str, option: str) -> Q:
    try:
        return kind.parse(text)
    except ScenarioError as error:
        raise error.at("", option) from None
