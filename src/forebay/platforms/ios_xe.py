"""Cisco IOS-XE: queue-limit of a policy-map's class, in packets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor

from forebay.platforms.errors import PlatformError
from forebay.platforms.policy_map import PolicyClass, classes, guaranteed_rate
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import ConfiguredQueue, Note, note, trap, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole
from forebay.platforms.wred import Amount, with_wred

_MOST_PACKETS = 2_000_000
_ME3600X_PACKET = 200
_LEAST_DEFAULT = 64
_PRIORITY_DEFAULT = 512
_DEFAULT_PACKET = 1500
_DEFAULT_MS = {"asr1000": 50, "esp40": 25}
_TIMES = {"us": 10**6, "ms": 10**3}

_PORTS = (
    (1e9, "GigabitEthernet0/0/0"),
    (1e10, "TenGigabitEthernet0/0/0"),
    (2.5e10, "TwentyFiveGigE0/0/0"),
    (4e10, "FortyGigabitEthernet0/0/0"),
    (1e11, "HundredGigE0/0/0"),
    (4e11, "FourHundredGigE0/0/0"),
)
_ANY_SIZE = trap("the limit counts packets of any size: small packets fill it with fewer bytes")


def _write(order: Order) -> Written:
    me = order.model == "me3600x"
    whole_packets = order.wanted.whole_packets(order.port)
    packets = -(-order.wanted.bytes // _ME3600X_PACKET) if me else whole_packets
    if packets > _MOST_PACKETS:
        wrong = f"{packets} packets are more than IOS-XE's {_MOST_PACKETS}"
        raise PlatformError("too-large", wrong, "ask for less")
    lines = (
        "policy-map FOREBAY",
        " class class-default",
        f"  queue-limit {packets} packets",
        "!",
        f"interface {order.interface}",
        " service-policy output FOREBAY",
        "!",
    )
    rounding = _ME3600X_PACKET if me else order.port.packet_bytes - 1
    doubt = uncertain("some releases want bandwidth, shape or priority in class-default too")
    return Written(lines, rounding, (doubt,))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for each in classes(snippet):
        limits = each.limits()
        for limit in limits:
            reading = _limit(each, limit, port, model)
            yield with_wred(each, reading, port, _amount(each, port, model))
        if not limits and not each.has_child:
            reading = _default(each, port, model)
            yield with_wred(each, reading, port, _amount(each, port, model))


def _amount(chosen: PolicyClass, port: Port, model: str) -> Amount:
    """Return the conversion of random-detect thresholds to bytes; a bare number counts packets."""
    packet = _ME3600X_PACKET if model == "me3600x" else port.packet_bytes
    sizes = {"": packet, "packets": packet, "bytes": 1}

    def read(value: int, unit: str) -> int | None:
        if unit in _TIMES:
            rate, _ = guaranteed_rate(chosen, port)
            return replace(port, rate_bps=rate).bytes_in(Fraction(value, _TIMES[unit]))
        return None if unit not in sizes else value * sizes[unit]

    return read


def _limit(chosen: PolicyClass, limit: Statement, port: Port, model: str) -> ConfiguredQueue:
    place, words = chosen.place(limit), limit.words[1:]
    needs = _needs(chosen)
    value = whole(words[0], 2**32 - 1) if words else None
    unit = words[1] if len(words) == 2 else "packets"
    if words[:1] == ("percent",):
        return place.unknown(*needs, trap("percent of the port's queue memory, not of its rate"))
    if not value or len(words) > 2 or unit not in ("packets", "bytes", *_TIMES):
        return place.unknown(*needs, uncertain("this form of queue-limit is not understood"))
    if unit == "packets":
        return _packets(chosen, limit, value, port, model)
    if unit == "bytes":
        return place.of_bytes(value, port, needs)
    rate, notes = guaranteed_rate(chosen, port)
    size = replace(port, rate_bps=rate).bytes_in(Fraction(value, _TIMES[unit]))
    return place.of_bytes(size, port, (*needs, *notes), floor(rate / 8 / _TIMES[unit]) + 1)


def _packets(
    chosen: PolicyClass, limit: Statement, value: int, port: Port, model: str
) -> ConfiguredQueue:
    place, notes = chosen.place(limit), _needs(chosen)
    if value > _MOST_PACKETS:
        notes = (*notes, trap(f"refused on an ASR 1000: queue-limit goes to {_MOST_PACKETS}"))
    if model == "me3600x":
        counted = trap(f"an ME 3600X counts packets of {_ME3600X_PACKET} B")
        size = value * _ME3600X_PACKET
        return place.of_bytes(size, port, (*notes, counted), _ME3600X_PACKET)
    return place.of_packets(value, port, (*notes, _ANY_SIZE))


def _default(chosen: PolicyClass, port: Port, model: str) -> ConfiguredQueue:
    place = chosen.place()
    if model not in _DEFAULT_MS:
        return place.unknown(uncertain(f"the default of an {model} was not verified"))
    if any(words[0] == "priority" for words in chosen.scheduling()):
        said = trap(f"nobody chose this: a priority queue's default is {_PRIORITY_DEFAULT} packets")
        return place.of_packets(_PRIORITY_DEFAULT, port, (said,))
    rate, notes = guaranteed_rate(chosen, port)
    ms = _DEFAULT_MS[model]
    packets = max(_LEAST_DEFAULT, floor(rate * ms / 1000 / (8 * _DEFAULT_PACKET)))
    said = trap(
        f"nobody chose this: without queue-limit it is {ms} ms of {_DEFAULT_PACKET}-B packets, "
        f"at least {_LEAST_DEFAULT} ({model})"
    )
    return place.of_packets(packets, port, (said, *notes))


def _needs(chosen: PolicyClass) -> tuple[Note, ...]:
    if chosen.is_default or chosen.scheduling():
        return ()
    return (trap("likely refused: a class needs bandwidth, shape or priority beside it"),)


PLATFORM = Platform(
    name="ios-xe",
    title="Cisco IOS-XE",
    comment="!",
    forms=("packets",),
    models=("asr1000", "esp40", "me3600x"),
    interface="FourHundredGigE0/0/0",
    tells=(
        r"^\s*queue-limit\s+\d+\s+packets\b",
        r"^\s*interface\s+(GigabitEthernet|TenGigabitEthernet|Port-channel)",
        r"^\s*policy-map\s+\S+\s*$",
        r"^\s*(shape average|bandwidth) percent\b",
    ),
    source="Cisco IOS XE QoS congestion management guide (16.12): queue depth, ASR 1000",
    rounds=note("rounding: up to a whole packet; software platforms count them one by one"),
    write=_write,
    read=_read,
    ports=_PORTS,
)
