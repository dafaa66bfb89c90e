"""Reads the wanted buffer: from a scenario, from a sizing, or a plain size."""

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from forebay.catalogue import DISCIPLINES
from forebay.catalogue.disciplines import CAKE_TARGETS, RED_SPREAD
from forebay.outcome import Aqm, AqmTarget, AqmThresholds, Buffer, DocumentError, SizeResult
from forebay.platforms.reading import Port, Wanted
from forebay.platforms.snippet import MOST_BYTES, NotRecommended, PlatformError, Snippet, short
from forebay.scenario import (
    FRAMINGS,
    BufferSize,
    DataSize,
    Duration,
    Link,
    Rate,
    Scenario,
    ScenarioError,
    load,
    shipped,
)
from forebay.words import Fact, Told, argument, either

_WRITTEN = ("min", "max", "probability", "ecn", "target", "interval", "rtt")


def _aqm_of(scenario: Scenario, port: Port, source: str) -> Aqm | None:
    """Return the AQM of a scenario's queue; None for a drop-tail one.

    Raises PlatformError for a red without thresholds, which nobody chose.
    """
    queue, record = scenario.queue, DISCIPLINES[scenario.queue.discipline]
    if record.sized == "limit":
        return None
    ecn = queue.ecn if queue.ecn is not None else bool(record.parameters.get("ecn"))
    common: dict[str, Any] = {
        "discipline": record.name,
        "packet_s": port.seconds(port.packet_bytes),
        "packet_bytes": port.packet_bytes,
        "limit_packets": scenario.buffer_packets,
        "ecn": ecn,
    }
    if record.sized == "thresholds":
        low, high = queue.min, queue.max
        if low is None and high is None:
            raise PlatformError("not-sized.red", file=source)
        least = int(low) if low is not None else max(1, int(high or 0) // RED_SPREAD)
        most = int(high) if high is not None else RED_SPREAD * least
        chance = queue.probability or record.parameters["probability"] or 0.0
        return AqmThresholds(**common, min_bytes=least, max_bytes=most, probability=chance)
    if record.name == "cake":
        rtt = float(queue.rtt or record.parameters["rtt"] or 0.0)
        return AqmTarget(**common, target_s=rtt / CAKE_TARGETS, interval_s=rtt)
    target = float(queue.target or record.default_target_s or 0.0)
    interval = queue.interval or record.parameters.get("interval")
    return AqmTarget(**common, target_s=target, interval_s=float(interval) if interval else None)


def _unwritten(scenario: Scenario) -> tuple[str, ...]:
    """Return what the scenario sets of its queue and no platform's lines have."""
    queue = scenario.queue
    record = DISCIPLINES[queue.discipline]
    left = [name for name in queue.parameters if name not in _WRITTEN]
    if queue.ecn is False and record.parameters.get("ecn"):
        left.append("ecn = false")
    span = None if queue.min is None or queue.max is None else queue.max - queue.min
    if queue.weight == 1 and "weight" in left and span is not None and span <= int(scenario.packet):
        left.remove("weight")  # lines of a step mark by the present queue
    if queue.discipline == "pfifo_head_drop":
        left.append("pfifo_head_drop (the lines drop the newest packet)")
    return tuple(left)


Q = TypeVar("Q", Rate, DataSize)

_MOST_JSON = 64 << 20  # the document of a sizing has its whole curve


def read_target(
    target: str | os.PathLike[str] | DataSize | Duration,
    *,
    rate: str | None = None,
    packet: str | None = None,
    overrides: Sequence[str] = (),
) -> tuple[Wanted, Port]:
    """Return the wanted buffer and its port.

    Parameters
    ----------
    target : a scenario file (its queue.size), a ``.json`` file from ``forebay size --json`` or
        ``SizeResult.to_json`` (its buffer), or a size such as "129 packets", "1.5 MB" or "10 ms".
        A scenario without a queue.size is refused, because nobody chose its default.
    rate, packet : for a size: the line rate, and the size of a full packet (default 1500 B).
    overrides : for a scenario file: ``PATH=VALUE`` strings, as in `forebay.load`.

    Raises PlatformError, ScenarioError.
    """
    if not isinstance(target, str | os.PathLike):
        return _plain(target, rate, packet, overrides)
    target = os.fspath(target)
    if overrides and target.endswith(".json"):
        raise PlatformError("no-scenario.of-size")
    if not (target.endswith((".toml", ".json")) or Path(target).is_file() or target in shipped()):
        return _plain(target, rate, packet, overrides)
    if rate is not None or packet is not None:
        raise PlatformError("two-rates", name=short(target))
    if target.endswith(".json"):
        return read_sizing(target)
    scenario = load(target, overrides)
    if "queue" not in scenario.model_fields_set or "size" not in scenario.queue.model_fields_set:
        find = either("forebay.size(scenario)", f"forebay size {short(target)} --emit PLATFORM")
        raise PlatformError("not-sized.scenario", name=short(target), find=find)
    if scenario.queue.classes:
        raise _class_queues(target)
    there = "with --set" if overrides else "as written there"
    source = f"queue.size of {target} {there}, not sized"
    port, packets, chosen = port_of(scenario), scenario.buffer_packets, scenario.queue.size
    aqm, left = _aqm_of(scenario, port, source), _unwritten(scenario)
    written = str(chosen) if aqm is None else f"{aqm.discipline} with a limit of {chosen}"
    size = _bytes(chosen, port, packets)
    return Wanted(size, packets, written, source, aqm, unwritten=left), port


def port_of(scenario: Scenario) -> Port:
    """Return the port of a scenario's link, served at its shaper's rate."""
    link, port = scenario.link, Port(float(scenario.link.capacity), int(scenario.packet))
    if link.shaper is None:
        return port
    framing = None if link.framing is None else FRAMINGS[link.framing]
    burst = link.shaper.depth or None
    return replace(port, line_bps=float(link.rate), burst_bytes=burst, framing=framing)


def _plain(
    said: object, rate: str | None, packet: str | None, overrides: Sequence[str]
) -> tuple[Wanted, Port]:
    """Return a plain size, such as "10 ms", and its port."""
    if overrides:
        raise PlatformError("no-scenario.of-size")
    chosen = BufferSize.parse(said)
    if chosen.unit.startswith("bdp"):
        raise PlatformError("no-scenario.of-bdp", value=said)
    port = parse_port(rate, packet)
    packets = chosen.packets(
        rate_bps=port.rate_bps, packet_bytes=port.packet_bytes, bdp=0.0, flows=1
    )
    return Wanted(_bytes(chosen, port, packets), packets, str(chosen)), port


def _bytes(chosen: BufferSize, port: Port, packets: int) -> int:
    """Return the bytes of a size, at least its packets', to which a scenario rounds a time."""
    asked = {"bytes": int(chosen.amount), "seconds": port.bytes_in(Fraction(chosen.amount))}
    return max(asked.get(chosen.unit, 0), packets * port.packet_bytes)


def read_sizing(path: str, *, force: bool = False) -> tuple[Wanted, Port]:
    """Return the size of a ``forebay size --json`` document, and the port of its scenario.

    Raises PlatformError if the file is not such a document, or as `of_sizing`.
    """
    raw = _content(path, _MOST_JSON)
    if len(raw) > _MOST_JSON:
        raise _not_ours(path, Fact("not-a-sizing.long"))
    try:
        answer = SizeResult.from_json(raw)
    except DocumentError as error:
        why = short(str(error.but(file="", hint="")))
        raise _not_ours(path, why, error.parts["hint"]) from None
    return of_sizing(answer, path, force=force)


def of_sizing(answer: SizeResult, path: str, *, force: bool = False) -> tuple[Wanted, Port]:
    """Return the recommended size of a sizing; ``path`` is its source.

    Parameters
    ----------
    force : without a recommended size, return the upper end of the least's interval, within the
        goals, with the reason why it is not recommended.

    Raises PlatformError if the sizing found no buffer, or recommends none without ``force``.
    """
    if answer.governs is not None and answer.governs.regime == "class queues":
        raise _class_queues(path)
    if answer.of:
        raise PlatformError("not-of-queue", name=short(path), of=answer.of)
    buffer = answer.buffer
    if buffer is None:
        raise PlatformError("no-buffer", name=short(path))
    if answer.recommended is None and not force:
        why = answer.reason or Fact("recommended.of-old-document")
        raise NotRecommended("not-recommended", name=short(path), why=why)
    packet = buffer.bytes // buffer.packets if buffer.packets >= 1 else 0
    if packet < 1 or not 0 < buffer.seconds < 1e18 or buffer.bytes > 1e18:
        raise _not_ours(path, Fact("not-a-sizing.buffer"))
    port = _shaped(answer, Port(float(f"{8 * buffer.bytes / buffer.seconds:.12g}"), packet), path)
    why = Fact("recommended.not", why=answer.reason or Fact("recommended.not-by-version"))
    reasons = answer.recommended.why if answer.recommended else (str(why),)
    if answer.aqm is not None:
        return replace(_managed(answer.aqm, port, path), why=reasons), port
    packets = _packets(answer, buffer)
    if not 0 < packets * packet < 1e18:
        raise _not_ours(path, Fact("not-a-sizing.recommended"))
    written = f"{packets} packet{'' if packets == 1 else 's'}"
    return Wanted(packets * packet, packets, written, path, why=reasons), port


def _shaped(answer: SizeResult, port: Port, path: str) -> Port:
    """Return the port with the shaper of the scenario that was simulated, in proportion."""
    written = answer.curve[0].outcome.scenario.get("link") if answer.curve else None
    if not isinstance(written, dict) or not written.get("shaper"):
        return port
    try:
        link = Link.model_validate(written)
    except ScenarioError as error:
        why = short(str(error))
        raise _not_ours(path, Fact("not-a-sizing.link", why=why)) from None
    if link.shaper is None:
        return port
    factor = port.rate_bps / float(link.with_packets(port.packet_bytes).capacity)
    line, depth = float(f"{float(link.rate) * factor:.12g}"), round(link.shaper.depth * factor)
    framing = None if link.framing is None else FRAMINGS[link.framing]
    return replace(port, line_bps=line, burst_bytes=depth or None, framing=framing)


def _packets(answer: SizeResult, buffer: Buffer) -> int:
    """Return the recommended size; without one the upper end of the interval within the goals."""
    if answer.recommended is not None:
        return answer.recommended.packets
    here = (i for i in answer.region if i.low <= buffer.packets and i.high is not None)
    most = max((i.high for i in here if i.high is not None), default=buffer.high)
    return max(buffer.packets, min(buffer.high, most))


def _class_queues(source: str) -> PlatformError:
    return PlatformError("class-queues.for-one-queue", name=short(source))


def _managed(aqm: Aqm, port: Port, path: str) -> Wanted:
    """Return the limit of an AQM queue, with its target or thresholds."""
    numbers = (value for value in aqm.model_dump().values() if isinstance(value, int | float))
    if not all(0 <= value < 1e18 for value in numbers) or aqm.limit_packets < 1:
        raise _not_ours(path, Fact("not-a-sizing.aqm"))
    limit = aqm.limit_packets
    written = f"{aqm.discipline} with a limit of {limit} packets"
    return Wanted(limit * port.packet_bytes, limit, written, path, aqm)


def _not_ours(path: str, why: Told, hint: Told = "") -> PlatformError:
    return PlatformError("not-a-sizing", hint=hint, name=short(path), why=why)


def _content(path: str, most: int) -> bytes:
    """Return a file's bytes, at most one more than ``most``. Raises PlatformError."""
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except OSError as error:
        why = error.strerror or error
        raise PlatformError("unreadable.target", name=short(path), why=why) from None


def read_snippet(path: str) -> Snippet:
    """Return a configuration file's text. Raises PlatformError."""
    return Snippet.decode(_content(path, MOST_BYTES))


def parse_port(rate: str | None, packet: str | None) -> Port:
    """Return the port of a line rate and a full packet (default 1500 B).

    Raises ScenarioError, PlatformError.
    """
    if rate is None:
        raise PlatformError("no-rate")
    return Port(float(_parsed("rate", Rate, rate)), _size("packet", packet) or 1500)


def with_choices(port: Port, *, header: str | None, pool: str | None) -> Port:
    """Return the port with this link-layer header and shared pool.

    Raises ScenarioError, PlatformError.
    """
    header_bytes = _size("header", header)
    chosen = port.header_bytes if header_bytes is None else header_bytes
    return replace(port, header_bytes=chosen, pool_bytes=_size("pool", pool))


_RANGES: dict[str, tuple[Rate, Rate] | tuple[DataSize, DataSize]] = {
    "rate": (Rate(1e3), Rate(1e13)),
    "packet": (DataSize(1), DataSize(65_535)),
    "header": (DataSize(0), DataSize(256)),
    "pool": (DataSize(1), DataSize(10**12)),
}


def _size(name: str, text: str | None) -> int | None:
    return None if text is None else int(_parsed(name, DataSize, text))


def _parsed(name: str, kind: type[Q], text: str) -> Q:
    """Return a quantity in its range. Raises ScenarioError, PlatformError."""
    amount = kind.parse_argument(argument(name), text)
    least, most = _RANGES[name]
    if not least <= amount <= most:
        raise PlatformError(
            "out-of-range.of-port", field=argument(name), value=amount, least=least, most=most
        )
    return amount
