"""Cisco NX-OS (Nexus 9000): queue-limit of a class in a policy-map of type queuing.

The statements and the list of alphas are from the Nexus 9000 configuration commands, 9.3(x),
queue-limit. The reference does not say what the bytes include, how chips round them, and which
releases accept which unit. Each size therefore has a note that it is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor

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
    pool_unknown,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, Statement, whole
from forebay.platforms.unread import matching

_CLASS = "c-out-8q-q-default"
_MOST = 2**32 - 1
_ALPHAS = tuple(Fraction(2) ** power for power in range(-7, 4))
"""alpha for dynamic 0 to 10: 1/128 to 8."""

_SIZES = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6}
_TIMES = {"us": 10**6, "ms": 10**3}
_RATES = {"bps": 1, "kbps": 10**3, "mbps": 10**6, "gbps": 10**9}
_NOT_VERIFIED = uncertain(
    "not verified: which Nexus families take a size in bytes (some only dynamic), whether all "
    "eight queues must be in the policy, and that the size is of packets without headers of the "
    "chip's own; try it with show queuing interface before it carries traffic"
)
_PFC = (
    note("a step K: every packet of ECN-capable flows above it is marked, by the present queue"),
    trap("PFC is not modelled: a lossless class pauses its senders before it drops"),
)
_ROUNDS = uncertain("rounding: the chip takes whole cells, whose size the reference does not say")
_PORTS = tuple((rate, "Ethernet1/1") for rate in (1e9, 1e10, 2.5e10, 4e10, 5e10, 1e11, 4e11, 8e11))


@dataclass(slots=True)
class _Class:
    policy: str
    name: str
    line: int
    limit: Statement | None = None
    early: list[Statement] = field(default_factory=list)
    shape: Statement | None = None


def _write(order: Order) -> Written:
    size = order.wanted.bytes
    if size > _MOST:
        wrong = f"{size} B is above {_MOST}, the largest number that is assumed to be accepted"
        raise PlatformError("too-large", wrong, "ask for less")
    rate = order.port.rate_in(1000)
    shape = (f"    shape min 0 kbps max {rate} kbps",) if order.port.is_shaped else ()
    lines = (
        f"policy-map type queuing {order.name}",
        f"  class type queuing {_CLASS}",
        *shape,
        *_marks(order),
        f"    queue-limit {size} bytes",
        "!",
        f"interface {order.interface}",
        f"  service-policy type queuing output {order.name}",
        "!",
    )
    named = note(f"{_CLASS} is the default queue of a switch with eight; see show class-map")
    burst = order.port.burst_bytes
    left = (burst_unwritten(burst, "shape has no word for it"),) if burst else ()
    return Written(lines, 0, (_NOT_VERIFIED, named, *left, *(_PFC if order.wanted.aqm else ())))


def _marks(order: Order) -> tuple[str, ...]:
    """Return the line of a step of ECN marks: minimum and maximum threshold are K."""
    aqm = order.wanted.aqm
    if aqm is None or aqm.parameter != "min":
        return ()
    k = f"minimum-threshold {aqm.min_bytes} bytes maximum-threshold {aqm.min_bytes} bytes"
    return (f"    random-detect {k} drop-probability 100 weight 0 ecn",)


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for each in _classes(snippet):
        served = _served(each, port)
        inside = port if served is None else port.served_at(served.rate_bps)
        reading = _early(each, _reading(each, inside), inside) if each.early else None
        yield (reading or _reading(each, inside)).serving(served, *_doubts(each, served))


def _doubts(chosen: _Class, served: Served | None) -> tuple[Note, ...]:
    """Return the remark on a shape that was not understood."""
    if chosen.shape is None or served is not None:
        return ()
    written = short(" ".join(chosen.shape.words))
    return (trap(f'"{written}" is not understood: the queue may drain more slowly'),)


def _served(chosen: _Class, port: Port) -> Served | None:
    """Return the shape of a class: its max, or its only number."""
    words = chosen.shape.words[1:] if chosen.shape else ()
    words = words[1:] if words[:1] == ("average",) else words
    words = words[words.index("max") + 1 :] if "max" in words else words
    if len(words) != 2:
        return None
    if words[0] == "percent":
        share = whole(words[1], 100)
        return Served(port.line * share / 100, "the class's shape") if share else None
    value, unit = whole(words[0], 10**13), _RATES.get(words[1])
    return Served(float(value * unit), "the class's shape") if value and unit else None


def _early(chosen: _Class, reading: ConfiguredQueue, port: Port) -> ConfiguredQueue:
    """Return a queue with random-detect: its size is the maximum threshold."""
    known = {each.line: most for each in chosen.early if (most := _highest(each, port))}
    bare = [each.line for each in chosen.early if len(each.words) == 1]
    reading = reading.serving(None, also=(*known, *bare))
    most = max(known.values(), default=None)
    if most is None:
        said = trap("random-detect drops before the limit is reached, at thresholds not given here")
        return replace(reading, bytes=None, packets=None, notes=(*reading.notes, said))
    if chosen.limit is not None and all("ecn" in each.words for each in chosen.early):
        return _marking(chosen, reading, most, port)
    limit = most if reading.bytes is None else min(most, reading.bytes)
    said = trap("random-detect drops from its minimum threshold on, and all at its maximum")
    notes = tuple(dict.fromkeys((*reading.notes, said, _NOT_VERIFIED)))
    return replace(reading, bytes=limit, packets=limit // port.packet_bytes, notes=notes)


def _marking(chosen: _Class, reading: ConfiguredQueue, most: int, port: Port) -> ConfiguredQueue:
    """Return a queue whose random-detect marks: its limit is that of queue-limit."""
    found = {_amount(each, "minimum-threshold", port) for each in chosen.early}
    least = min((each for each in found if each), default=most)
    is_step = found == {most}
    span = f"from {most} B on" if is_step else f"with rising probability from {least} to {most} B"
    said = note(f"ECN-capable packets are marked {span}, and others dropped")
    return replace(reading.serving(None, said), marks_bytes=most if is_step else None)


def _highest(early: Statement, port: Port) -> int | None:
    """Return the maximum threshold of a random-detect statement in bytes."""
    return _amount(early, "maximum-threshold", port)


def _amount(early: Statement, name: str, port: Port) -> int | None:
    words = early.words
    if name not in words[:-2]:
        return None
    at = words.index(name)
    return _bytes(whole(words[at + 1], _MOST), words[at + 2], port)


def _bytes(value: int | None, unit: str, port: Port) -> int | None:
    """Return an amount in bytes; None for another unit."""
    if not value or unit not in (*_SIZES, *_TIMES, "packets"):
        return None
    if unit in _TIMES:
        return port.bytes_in(Fraction(value, _TIMES[unit]))
    return value * (port.packet_bytes if unit == "packets" else _SIZES[unit])


def _classes(snippet: Snippet) -> list[_Class]:
    found: list[_Class] = []
    policy, inside = "", False
    for statement in snippet.lines():
        words = statement.words
        if words[:3] == ("policy-map", "type", "queuing") and len(words) > 3:
            policy, inside = words[3], False
        elif words[0] in ("policy-map", "interface"):
            policy, inside = "", False
        elif policy and words[:3] == ("class", "type", "queuing") and len(words) > 3:
            found.append(_Class(policy, words[3], statement.line))
            inside = True
        elif inside and words[0] == "queue-limit":
            found[-1].limit = statement
        elif inside and words[0] == "random-detect":
            found[-1].early.append(statement)
        elif inside and words[0] == "shape":
            found[-1].shape = statement
    return [each for each in found if each.limit is not None or each.early]


def _reading(chosen: _Class, port: Port) -> ConfiguredQueue:
    limit = chosen.limit
    words = limit.words[1:] if limit else ()
    line = limit.line if limit else chosen.line
    place = Place(
        line,
        short(f"policy-map {chosen.policy}, class {chosen.name}"),
        short(" ".join(limit.words if limit else chosen.early[0].words)),
    )
    if limit is None:
        return place.unknown()
    value = whole(words[-1] if words[:1] == ("dynamic",) else words[0], _MOST) if words else None
    if words[:1] == ("dynamic",) and len(words) == 2:
        return _dynamic(place, value, port)
    if words[:1] == ("percent",):
        return place.unknown(trap("percent of the buffer, whose size is not in this text"))
    unit = words[1] if len(words) == 2 else ""
    if not value or unit not in (*_SIZES, *_TIMES):
        return place.unknown(uncertain("this form of queue-limit is not understood"))
    if unit in _TIMES:
        size = port.bytes_in(Fraction(value, _TIMES[unit]))
        return place.of_bytes(size, port, (_NOT_VERIFIED,), port.bytes_in(Fraction(1, 10**6)) + 1)
    return place.of_bytes(value * _SIZES[unit], port, _size_notes(unit))


def _size_notes(unit: str) -> tuple[Note, ...]:
    if unit == "bytes":
        return (_NOT_VERIFIED,)
    return (uncertain(f"{unit} are taken as powers of 1000"), _NOT_VERIFIED)


def _dynamic(place: Place, value: int | None, port: Port) -> ConfiguredQueue:
    if value is None or value >= len(_ALPHAS):
        return place.unknown(trap(f"dynamic goes from 0 to {len(_ALPHAS) - 1}"))
    alpha = _ALPHAS[value]
    said = trap(
        f"alpha is {alpha}: alone, the queue gets {float(alpha / (1 + alpha)):.4g} of what is free"
    )
    lists = uncertain("other Nexus families count their alphas by another list")
    if not port.pool_bytes:
        return place.unknown(said, lists, pool_unknown())
    size = floor(port.pool_bytes * alpha / (1 + alpha))
    return place.of_bytes(size, port, (said, lists, _NOT_VERIFIED))


PLATFORM = Platform(
    name="nx-os",
    title="Cisco NX-OS (not verified on a switch)",
    comment="!",
    forms=("bytes",),
    models=("nexus9000",),
    interface="Ethernet1/1",
    tells=(
        r"^\s*policy-map\s+type\s+queuing\b",
        r"^\s*class\s+type\s+queuing\b",
        r"^\s*service-policy\s+type\s+queuing\b",
        r"^\s*queue-limit\s+dynamic\b",
    ),
    source="Cisco Nexus 9000 Series NX-OS configuration commands, 9.3(x): queue-limit",
    rounds=_ROUNDS,
    write=_write,
    read=_read,
    unread=matching(
        r"^(queue-limit|random-detect|hold-queue|hardware qos)\b|\bburst-detect\b"
        r"|\bbuffer-profile\b|^hardware\b.*\b(queue-limit|buffer)\b"
    ),
    ports=_PORTS,
)
