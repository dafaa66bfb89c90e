"""Cisco IOS-XE: queue-limit of a policy-map's class, in packets or bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from forebay.errors import option
from forebay.platforms.errors import PlatformError
from forebay.platforms.policy_map import (
    BUFFERS,
    TIMES,
    PolicyClass,
    classes,
    converter,
    guaranteed,
    with_wred,
)
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import ConfiguredQueue, Note, inside, note, trap, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole

_SOFTMAX, _RATIO = "queue-softmax-multiplier", "queue-buffers"


@dataclass(frozen=True, slots=True)
class Catalyst:
    """The softmax multiplier in percent, "" for the default, and the lines that set it."""

    softmax: str
    lines: frozenset[int]

    @classmethod
    def of(cls, snippet: Snippet) -> Catalyst | None:
        """Return what a text says of the switch; None if nothing in it is of a Catalyst."""
        lines = list(snippet.lines())
        softmax = [each for each in lines if _SOFTMAX in each.words[:-1]]
        if not softmax and not any(each.words[0] == _RATIO for each in lines):
            return None
        found = softmax[-1].words if softmax else ()
        value = found[found.index(_SOFTMAX) + 1] if found else ""
        return cls(value, frozenset(each.line for each in softmax))

    def share(self, chosen: PolicyClass) -> ConfiguredQueue:
        """Return a class's share of the port's buffer units, whose bytes the model decides."""
        found = chosen.beginning(_RATIO)
        words = found[-1].words if found else ()
        size = "the bytes of a port's buffer units depend on the model; see show platform hardware"
        if words[1:2] == ("ratio",) and len(words) == 3:
            said = trap(f"a Catalyst: {words[2]} % of the port's buffer units; {size}")
        else:
            said = trap(f"a Catalyst: a share of the port's units that nobody chose; {size}")
        soft = f"softmax {self.softmax or 100} %: shared units that a queue may borrow on top"
        reading = chosen.place(found[-1] if found else None).unknown(said, trap(soft))
        return replace(reading, also=self.lines)


_MOST_PACKETS = 2_000_000
_MOST_BYTES = 2**32 - 1
_ME3600X_PACKET = 200
_LEAST_DEFAULT = 64
_PRIORITY_DEFAULT = 512
_DEFAULT_PACKET = 1500
_DEFAULT_MS = {"asr1000": 50, "esp40": 25}

_PORTS = (
    (1e9, "GigabitEthernet0/0/0"),
    (1e10, "TenGigabitEthernet0/0/0"),
    (2.5e10, "TwentyFiveGigE0/0/0"),
    (4e10, "FortyGigabitEthernet0/0/0"),
    (1e11, "HundredGigE0/0/0"),
    (4e11, "FourHundredGigE0/0/0"),
)
_BC = uncertain(
    "the shaper's burst is Bc, in bits; some platforms take it and use one of their own"
)
_ONE_UNIT = uncertain(
    "all classes of a policy must use one unit; a platform that takes packets only refuses bytes"
)
_ANY_SIZE = trap("the limit counts packets of any size: small packets fill it with fewer bytes")


def _write(order: Order) -> Written:
    value, rounding = _value(order)
    port = order.port
    burst = f" {8 * port.burst_bytes}" if port.burst_bytes else ""
    shape = (f"  shape average {port.rate_in()}{burst}",) if port.is_shaped else ()
    lines = (
        f"policy-map {order.name}",
        " class class-default",
        *shape,
        f"  queue-limit {value}",
        "!",
        f"interface {order.interface}",
        f" service-policy output {order.name}",
        "!",
    )
    doubt = uncertain("some releases want bandwidth, shape or priority in class-default too")
    notes = (() if shape else (doubt,)) + ((_BC,) if burst else ())
    return Written(lines, rounding, ((_ONE_UNIT,) if order.form == "bytes" else ()) + notes)


def _value(order: Order) -> tuple[str, int]:
    """Return the size of a queue-limit, and its largest rounding in bytes."""
    size, me = order.wanted.bytes, order.model == "me3600x"
    if order.form == "bytes":
        if size > _MOST_BYTES:
            wrong = f"{size} B is more than the {_MOST_BYTES} B that queue-limit takes"
            raise PlatformError("too-large", wrong, f"write {option('form', 'packets')}")
        return f"{size} bytes", 0
    packets = -(-size // _ME3600X_PACKET) if me else order.wanted.whole_packets(order.port)
    if packets > _MOST_PACKETS:
        wrong = f"{packets} packets are more than IOS-XE's {_MOST_PACKETS}"
        raise PlatformError("too-large", wrong, "ask for less")
    return f"{packets} packets", _ME3600X_PACKET if me else order.port.packet_bytes - 1


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    catalyst = Catalyst.of(snippet)
    for each in classes(snippet, port):
        if each.has_child and each.limit is None:
            continue
        packet = _ME3600X_PACKET if model == "me3600x" else port.packet_bytes
        rate, _ = guaranteed(each, port, inherits=True)
        amount = converter({"": packet, "packets": packet, "bytes": 1}, port, rate)
        if each.limit is not None:
            own = _limit(each, each.limit, port, model)
        else:
            own = catalyst.share(each) if catalyst else _default(each, port, model)
        yield with_wred(each, each.reading(port, own), port, amount)


def _limit(chosen: PolicyClass, limit: Statement, port: Port, model: str) -> ConfiguredQueue:
    place, words = chosen.place(limit), limit.words[1:]
    needs: tuple[Note, ...] = ()
    if not chosen.is_default and not chosen.scheduling():
        needs = (trap("likely refused: a class needs bandwidth, shape or priority beside it"),)
    value = whole(words[0], 2**32 - 1) if words else None
    unit = words[1] if len(words) == 2 else "packets"
    if words[:1] == ("percent",):
        return place.unknown(*needs, trap("percent of the port's queue memory, not of its rate"))
    if not value or len(words) > 2 or unit not in ("packets", "bytes", *TIMES):
        return place.unknown(*needs, uncertain("this form of queue-limit is not understood"))
    if unit == "packets":
        if value > _MOST_PACKETS:
            needs += (trap(f"refused on an ASR 1000: queue-limit goes to {_MOST_PACKETS}"),)
        if model != "me3600x":
            return place.of_packets(value, port, (*needs, _ANY_SIZE))
        counted = trap(f"an ME 3600X counts packets of {_ME3600X_PACKET} B")
        size = value * _ME3600X_PACKET
        return place.of_bytes(size, port, (*needs, counted), _ME3600X_PACKET)
    if unit == "bytes":
        return place.of_bytes(value, port, needs)
    rate, notes = guaranteed(chosen, port, inherits=True)
    seen = inside(port, rate)
    rounding = floor(seen.rate_bps / 8 / TIMES[unit]) + 1
    size = seen.bytes_in(Fraction(value, TIMES[unit]))
    return place.of_bytes(size, port, (*needs, *notes), rounding).counted_at(rate)


def _default(chosen: PolicyClass, port: Port, model: str) -> ConfiguredQueue:
    place = chosen.place()
    if model not in _DEFAULT_MS:
        return place.unknown(uncertain(f"the default of an {model} was not verified"))
    if any(words[0] == "priority" for words in chosen.scheduling()):
        said = trap(f"nobody chose this: a priority queue's default is {_PRIORITY_DEFAULT} packets")
        return place.of_packets(_PRIORITY_DEFAULT, port, (said,))
    rate, notes = guaranteed(chosen, port, inherits=True)
    ms = _DEFAULT_MS[model]
    per_second = inside(port, rate).rate_bps / (8 * _DEFAULT_PACKET)
    packets = max(_LEAST_DEFAULT, floor(per_second * ms / 1000))
    said = trap(
        f"nobody chose this: without queue-limit it is {ms} ms of {_DEFAULT_PACKET}-B packets, "
        f"at least {_LEAST_DEFAULT} ({model})"
    )
    return place.of_packets(packets, port, (said, *notes)).counted_at(rate)


PLATFORM = Platform(
    name="ios-xe",
    title="Cisco IOS-XE",
    comment="!",
    forms=("packets", "bytes"),
    models=("asr1000", "esp40", "me3600x"),
    interface="FourHundredGigE0/0/0",
    tells=(
        r"^\s*queue-limit\s+\d+\s+packets\b",
        r"^\s*interface\s+(GigabitEthernet|TenGigabitEthernet|Port-channel)",
        r"^\s*policy-map\s+\S+\s*$",
        r"^\s*(shape average|bandwidth) percent\b",
        r"^\s*shape average \d+\s*$",
        r"^\s*queue-buffers ratio\b",
        r"\bqueue-softmax-multiplier\b",
    ),
    source="Cisco IOS XE QoS congestion management guide (16.12): queue depth, ASR 1000",
    rounds=note("rounding: up to a whole packet; software platforms count them one by one"),
    write=_write,
    read=_read,
    unread=matching(
        BUFFERS + r"|queue-softmax-multiplier|^platform\b.*\b(queue-limit|wred|buffer)"
    ),
    ports=_PORTS,
)
