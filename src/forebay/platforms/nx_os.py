"""Cisco NX-OS (Nexus 9000): queue-limit of a class in a policy-map of type queuing.

The statements and the list of alphas are from the Nexus 9000 configuration commands, 9.3(x),
queue-limit. The reference does not say what the bytes include, how chips round them, and which
releases accept which unit. Each size therefore has a note that it is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from forebay.platforms.errors import PlatformError
from forebay.platforms.policy_map import TIMES, classes, converter, served, with_wred
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import (
    ConfiguredQueue,
    Place,
    Served,
    burst_unwritten,
    inside,
    note,
    pool_unknown,
    trap,
    uncertain,
)
from forebay.platforms.snippet import Snippet, whole

_CLASS = "c-out-8q-q-default"
_MOST = 2**32 - 1
_ALPHAS = tuple(Fraction(2) ** power for power in range(-7, 4))
"""alpha for dynamic 0 to 10: 1/128 to 8."""

_SIZES = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6}
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


def _write(order: Order) -> Written:
    size = order.wanted.bytes
    if size > _MOST:
        wrong = f"{size} B is above {_MOST}, the largest number that is assumed to be accepted"
        raise PlatformError("too-large", wrong, "ask for less")
    rate = order.port.rate_in(1000)
    aqm, marks = order.wanted.aqm, tuple[str, ...]()
    if aqm is not None and aqm.parameter == "min":  # a step: minimum and maximum threshold are K
        k = f"minimum-threshold {aqm.min_bytes} bytes maximum-threshold {aqm.min_bytes} bytes"
        marks = (f"    random-detect {k} drop-probability 100 weight 0 ecn",)
    shape = (f"    shape min 0 kbps max {rate} kbps",) if order.port.is_shaped else ()
    lines = (
        f"policy-map type queuing {order.name}",
        f"  class type queuing {_CLASS}",
        *shape,
        *marks,
        f"    queue-limit {size} bytes",
        "!",
        f"interface {order.interface}",
        f"  service-policy type queuing output {order.name}",
        "!",
    )
    named = note(f"{_CLASS} is the default queue of a switch with eight; see show class-map")
    burst = order.port.burst_bytes
    left = (burst_unwritten(burst, "shape has no word for it"),) if burst else ()
    return Written(lines, 0, (_NOT_VERIFIED, named, *left, *(_PFC if aqm else ())))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for each in classes(snippet, port, ("type", "queuing")):
        if each.limit is None and not each.beginning("random-detect"):
            continue
        rate = served(each, port)
        if each.limit is not None:
            own = _limit(each.place(each.limit), each.limit.words[1:], port, rate)
        else:
            said = trap("its queue-limit is not in this text")
            own = each.place(each.beginning("random-detect")[-1]).unknown(said, _NOT_VERIFIED)
        sizes = {"packets": port.packet_bytes, **_SIZES}
        amount = converter(sizes, port, rate)
        yield with_wred(each, each.reading(port, own), port, amount)


def _limit(
    place: Place, words: tuple[str, ...], port: Port, rate: Served | None
) -> ConfiguredQueue:
    value = whole(words[-1] if words[:1] == ("dynamic",) else words[0], _MOST) if words else None
    if words[:1] == ("dynamic",) and len(words) == 2:
        return _dynamic(place, value, port)
    if words[:1] == ("percent",):
        return place.unknown(trap("percent of the buffer, whose size is not in this text"))
    unit = words[1] if len(words) == 2 else ""
    if not value or unit not in (*_SIZES, *TIMES):
        return place.unknown(uncertain("this form of queue-limit is not understood"))
    if unit in TIMES:
        seen = inside(port, rate)
        size, step = seen.bytes_in(Fraction(value, TIMES[unit])), seen.bytes_in(Fraction(1, 10**6))
        return place.of_bytes(size, port, (_NOT_VERIFIED,), step + 1).counted_at(rate)
    powers = () if unit == "bytes" else (uncertain(f"{unit} are taken as powers of 1000"),)
    return place.of_bytes(value * _SIZES[unit], port, (*powers, _NOT_VERIFIED))


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
