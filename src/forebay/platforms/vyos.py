"""VyOS: a drop-tail policy, which is Linux's pfifo."""

from __future__ import annotations

from collections.abc import Iterator

from forebay.platforms.errors import PlatformError, short
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import ConfiguredQueue, Place, note, trap
from forebay.platforms.snippet import Snippet, Statement, whole

_MOST = 2**32 - 1
_PFIFO = trap("a packet may be a GSO super-packet of up to 64 kB; small ones count as one too")
_BOTTLENECK = trap("does not slow anything: packets wait here only if this is the slowest link")
_MANAGED = trap("not drop-tail: it drops before it is full, or shares its packets among flows")


def _write(order: Order) -> Written:
    packets = order.wanted.whole_packets(order.port)
    if packets > _MOST:
        raise PlatformError("too-large", f"{packets} packets are more than {_MOST}", "ask for less")
    lines = (
        f"set qos policy drop-tail FOREBAY queue-limit '{packets}'",
        f"set qos interface {order.interface} egress 'FOREBAY'",
    )
    before = trap("before VyOS 1.4 it is: set traffic-policy drop-tail FOREBAY queue-limit")
    return Written(lines, order.port.packet_bytes - 1, (_BOTTLENECK, before))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for statement in snippet.statements():
        words = statement.words
        inside = "traffic-policy" in words or ("qos" in words and "policy" in words)
        if inside and "queue-limit" in words[:-1]:
            yield _limit(statement, port)


def _limit(statement: Statement, port: Port) -> ConfiguredQueue:
    words = statement.words
    at = words.index("queue-limit")
    start = words.index("traffic-policy" if "traffic-policy" in words else "policy")
    value = whole(words[at + 1], _MOST)
    place = Place(
        statement.line,
        short(" ".join(words[start + 1 : at])),
        short(f"queue-limit {words[at + 1]}"),
    )
    if not value:
        return place.unknown(trap(f"queue-limit takes a whole number from 1 to {_MOST}"))
    managed = () if "drop-tail" in words[:at] else (_MANAGED,)
    return place.of_packets(value, port, (*managed, _PFIFO))


PLATFORM = Platform(
    name="vyos",
    title="VyOS",
    comment="#",
    forms=("packets",),
    models=("vyos",),
    interface="eth0",
    tells=(
        r"\b(qos policy|traffic-policy)\s+(drop-tail|shaper|fq-codel|fair-queue|random-detect)\b",
        r"^\s*(drop-tail|fq-codel|fair-queue)\s+\S+\s*\{",
        r"\bset qos interface\b",
    ),
    source="VyOS documentation: traffic policy, drop tail (pfifo)",
    rounds=note("rounding: up to a whole packet; the kernel compares with the number as it stands"),
    write=_write,
    read=_read,
)
