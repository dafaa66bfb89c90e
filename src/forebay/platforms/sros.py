"""Nokia SR OS: mbs of a queue in a sap-egress policy."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import ConfiguredQueue, Place, note, trap, uncertain
from forebay.platforms.snippet import Snippet, whole

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
    lines = (
        "/configure qos sap-egress 100 create",
        "    queue 1 create",
        f"        mbs {size} bytes",
        "    exit",
        "exit",
    )
    attach = note("100 is a policy number to change; give it to the SAP with egress qos 100")
    percent = trap("network queues take mbs in percent of a pool: these lines are for a SAP")
    rounding = order.port.packet_bytes if chained else 0
    return Written(lines, rounding, (attach, percent))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    policy, queue = "?", "?"
    for statement in snippet.lines():
        words = [word.strip('"/') for word in statement.words]
        for at, word in enumerate(words[:-1]):
            rest = words[at + 1 : at + 3]
            if word in _POLICIES:
                policy, queue = f"{word} {rest[0]}", "?"
            elif word == "queue":
                queue = rest[0]
            elif word == "mbs":
                name, written = short(f"{policy}, queue {queue}"), short(f"mbs {' '.join(rest)}")
                yield _mbs(Place(statement.line, name, written), rest, policy, port, model)


def _mbs(place: Place, rest: list[str], policy: str, port: Port, model: str) -> ConfiguredQueue:
    if policy.startswith("network-queue"):
        return place.unknown(trap("percent of the network pool, whose size is not in this text"))
    value = whole(rest[0], 2**40)
    if value is None or value == 0:
        return place.unknown(trap("mbs default depends on the card; 0 or default is no size here"))
    unit = rest[1] if rest[1:] and rest[1] in ("bytes", "kilobytes") else ""
    size = value if unit == "bytes" else value * KILOBYTE
    notes = []
    if not unit:
        notes.append(trap("no unit: taken as kilobytes (classic CLI); MD-CLI takes bytes"))
    if unit != "bytes":
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
    forms=("bytes",),
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
)
