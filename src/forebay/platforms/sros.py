"""Nokia SR OS: mbs of a queue in a sap-egress policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import (
    ConfiguredQueue,
    Note,
    Place,
    Served,
    burst_unwritten,
    note,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, Statement, decimal, whole
from forebay.platforms.unread import matching

KILOBYTE = 1000
_MOST_BYTES = 2**30
_USUAL_BYTES = 131_072 * KILOBYTE
_BUFFERS = {"7705-512": 512, "7705-2304": 2304}
_CHAIN_HEADER = 64  # stored in the first of a chain of 512-B buffers
_POLICIES = ("sap-egress", "sap-ingress", "network-queue", "queue-group-templates")

_ROUNDS = uncertain(
    "rounding: a 7705 counts whole buffers of 512 or 2304 B (models 7705-512 and "
    "7705-2304); a 7750's own steps are not published"
)


def _per_packet(model: str, port: Port) -> int:
    """Bytes of buffers for one full packet on a 7705."""
    unit = _BUFFERS[model]
    held = port.packet_bytes + (_CHAIN_HEADER if unit == 512 else 0)
    return unit * -(-held // unit)


def _write(order: Order) -> Written:
    chained = order.model in _BUFFERS
    size = order.wanted.bytes
    if chained:
        size = order.wanted.whole_packets(order.port) * _per_packet(order.model, order.port)
    if size > _MOST_BYTES:
        wrong = f"{size} B is more than the {_MOST_BYTES} B that mbs takes"
        raise PlatformError("too-large", wrong, "ask for less")
    number = order.number
    write = _model_driven if order.form == "md-cli" else _classic
    attach = note(
        f"{number} is a policy number to change; give it to the SAP with egress qos {number}"
    )
    percent = trap("network queues take mbs in percent of a pool: these lines are for a SAP")
    rounding = order.port.packet_bytes if chained else 0
    burst = order.port.burst_bytes
    left = (
        (burst_unwritten(burst, "no burst-limit of a 7705 is known"),) if burst and chained else ()
    )
    return Written(write(size, order), rounding, (attach, percent, *left))


def _classic(size: int, order: Order) -> tuple[str, ...]:
    port = order.port
    rate: tuple[str, ...] = (f"        rate {port.rate_in(1000)}",) if port.is_shaped else ()
    if port.burst_bytes and order.model not in _BUFFERS:
        rate += (f"        burst-limit {port.burst_bytes} byte",)
    return (
        f"/configure qos sap-egress {order.number} create",
        "    queue 1 create",
        *rate,
        f"        mbs {size} bytes",
        "    exit",
        "exit",
    )


def _model_driven(size: int, order: Order) -> tuple[str, ...]:
    port, queue = order.port, f'/configure qos sap-egress "{order.number}" queue 1'
    rate: tuple[str, ...] = (f"{queue} rate pir {port.rate_in(1000)}",) if port.is_shaped else ()
    if port.burst_bytes and order.model not in _BUFFERS:
        rate += (f"{queue} burst-limit {port.burst_bytes}",)
    return (*rate, f"{queue} mbs {size}")


@dataclass(slots=True)
class _Queue:
    """A queue of a policy: the words after its mbs and after its rate, and lines read for it."""

    policy: str
    name: str
    mbs: list[tuple[int, list[str]]] = field(default_factory=list)
    rate: list[str] = field(default_factory=list)
    cbs: str = ""
    lines: set[int] = field(default_factory=set)


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    model_driven = _is_model_driven(snippet)
    for queue in _queues(snippet):
        served = _served(queue.rate, port)
        doubts = _doubts(queue.rate, served)
        for line, rest in queue.mbs:
            name = short(f"{queue.policy}, queue {queue.name}")
            place = Place(line, name, short(f"mbs {' '.join(rest)}"))
            reading = _mbs(place, rest, queue.policy, port, model, model_driven)
            cbs = (note(f"cbs {short(queue.cbs, 20)}: a part of it is reserved"),)
            yield reading.serving(served, *(cbs if queue.cbs else ()), *doubts, also=queue.lines)


def _is_model_driven(snippet: Snippet) -> bool:
    """Whether a text is of the model-driven CLI: braces, quoted policies or "rate pir"."""
    return "{" in snippet.text or any(
        any(rate.endswith("rate") and pir == "pir" for rate, pir in pairwise(each.words))
        or any(word.startswith('"') for word in _after_policy(each))
        for each in snippet.lines()
    )


def _after_policy(statement: Statement) -> tuple[str, ...]:
    words = statement.words
    inside = "sap-egress" in words[:-1] and "create" not in words
    return words[words.index("sap-egress") + 1 :][:1] if inside else ()


def statements(snippet: Snippet) -> Iterator[Statement]:
    """Return the lines of the classic CLI, or the paths through the braces of the other."""
    return snippet.statements() if "{" in snippet.text else snippet.lines()


def _queues(snippet: Snippet) -> list[_Queue]:
    """Return every queue; the classic CLI changes levels by lines, the other by braces."""
    found: dict[tuple[str, str], _Queue] = {}
    policy, queue = "?", _Queue("?", "?")
    for statement in statements(snippet):
        words = [word.strip('"/') for word in statement.words]
        for at, word in enumerate(words[:-1]):
            rest = words[at + 1 : at + 3]
            if word in _POLICIES:
                policy, queue = f"{word} {rest[0]}", _Queue(f"{word} {rest[0]}", "?")
            elif word == "queue":  # paths name it again at each statement
                queue = found.setdefault((policy, rest[0]), _Queue(policy, rest[0]))
            elif word == "mbs":
                queue = found.setdefault((policy, queue.name), queue)
                queue.mbs.append((statement.line, rest))
            elif word in ("rate", "percent-rate"):
                if not (rest[0] == "cir" and queue.rate):  # the guaranteed rate, on its own line
                    queue.rate = [word, *rest]
            elif word == "cbs":
                queue.cbs = rest[0]
                queue.lines.add(statement.line)
    return list(found.values())


def _served(words: list[str], port: Port) -> Served | None:
    """Return the rate of "rate 200000", "rate pir 200000" or "percent-rate 20.50"."""
    if words[1:2] == ["pir"]:
        words = [words[0], *words[2:]]
    if len(words) < 2:
        return None
    if words[0] == "percent-rate":
        share = decimal(words[1], 100)
        return Served(port.line * float(share) / 100, "the queue's percent-rate") if share else None
    value = whole(words[1], 10**10)
    return Served(1000.0 * value, "the queue's own rate, in kbit/s") if value else None


def _doubts(words: list[str], served: Served | None) -> tuple[Note, ...]:
    """Return the remark on a rate that was not understood; "max" is the port's."""
    if not words or served is not None or "max" in words:
        return ()
    written = short(" ".join(words), 40)
    return (trap(f'"{written}" is not understood: the queue may drain more slowly'),)


def _mbs(
    place: Place, rest: list[str], policy: str, port: Port, model: str, model_driven: bool
) -> ConfiguredQueue:
    if policy.startswith("network-queue"):
        return place.unknown(trap("percent of the network pool, whose size is not in this text"))
    value = whole(rest[0], 2**40)
    if value is None or value == 0:
        return place.unknown(trap("mbs default depends on the card; 0 or default is no size here"))
    unit = rest[1] if rest[1:] else ""
    if unit.endswith("bytes") and unit not in ("bytes", "kilobytes"):
        return place.unknown(trap(f"mbs takes bytes or kilobytes, not {short(unit, 20)}"))
    unit = unit if unit in ("bytes", "kilobytes") else ""
    in_bytes = unit == "bytes" or (model_driven and not unit)
    size = value if in_bytes else value * KILOBYTE
    notes = []
    if not unit:
        taken = "bytes (MD-CLI)" if model_driven else "kilobytes (classic CLI); MD-CLI takes bytes"
        notes.append(trap(f"no unit: taken as {taken}"))
    if not in_bytes:
        notes.append(note("1 kilobyte is 1000 B here"))
    if size > _USUAL_BYTES:
        notes.append(uncertain(f"many releases stop at {_USUAL_BYTES} B (131072 kilobytes)"))
    if model in _BUFFERS:
        return _buffers(place, size, port, model)
    return place.of_bytes(size, port, notes)


def _buffers(place: Place, size: int, port: Port, model: str) -> ConfiguredQueue:
    unit, each = _BUFFERS[model], _per_packet(model, port)
    buffers = size // unit
    packets = buffers * unit // each
    said = trap(
        f"{buffers} buffers of {unit} B, and a packet of {port.packet_bytes} B takes "
        f"{each // unit}: bytes that are asked for are not bytes of packets"
    )
    whole_buffers = uncertain("whether a part of a buffer rounds up or down was not verified")
    return place.of_packets(packets, port, (said, whole_buffers), port.packet_bytes)


PLATFORM = Platform(
    name="sros",
    title="Nokia SR OS",
    comment="#",
    forms=("bytes", "md-cli"),
    models=("7750", *_BUFFERS),
    interface="1/1/1",
    tells=(
        r"\bsap-(egress|ingress)\b",
        r"\bmbs\s+(\d+|default)\b",
        r"\bnetwork-queue\b",
    ),
    source="Nokia 7705 SAR and 7750 SR quality of service guides: mbs, buffer unit allocation",
    rounds=_ROUNDS,
    write=_write,
    read=_read,
    unread=matching(
        r"\b(mbs|cbs|high-prio-only|drop-tail|wred-queue|slope-policy|queue-delay|pool)\b",
        statements,
    ),
)
