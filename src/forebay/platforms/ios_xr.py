"""Cisco IOS-XR: queue-limit of a policy-map's class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from forebay.platforms.errors import PlatformError
from forebay.platforms.policy_map import (
    BUFFERS,
    BUNDLES,
    TIMES,
    PolicyClass,
    classes,
    converter,
    guaranteed,
    with_wred,
)
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written, matching
from forebay.platforms.reading import ConfiguredQueue, Note, Place, inside, note, trap, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole

PACKET = 256
"""Size in bytes of a packet in the unit of queue-limit, independent of real packet sizes."""

_MOST = 2**32 - 1
_MOST_BYTES = 10**9  # the queueing chips' packet memory (CRS command reference)
_LEAST_BYTES = 9 * 1024
_PORT_PERCENT_S = Fraction(40, 1000)
_DEFAULT_MS = {"asr9000": 100, "crs": 100, "ncs540": 10, "ncs5500": 10}
_PRIORITY_MS = 10
_SIZES = {"bytes": 1, "kbytes": 10**3, "mbytes": 10**6, "packets": PACKET}

_PORTS = (
    (1e9, "GigabitEthernet0/0/0/0"),
    (1e10, "TenGigE0/0/0/0"),
    (2.5e10, "TwentyFiveGigE0/0/0/0"),
    (4e10, "FortyGigE0/0/0/0"),
    (5e10, "FiftyGigE0/0/0/0"),
    (1e11, "HundredGigE0/0/0/0"),
    (2e11, "TwoHundredGigE0/0/0/0"),
    (4e11, "FourHundredGigE0/0/0/0"),
    (8e11, "EightHundredGigE0/0/0/0"),
)
_ROUNDS = uncertain(
    "rounding: line cards take steps of their own; show qos interface tells what was programmed"
)


def _write(order: Order) -> Written:
    size = order.wanted.bytes
    if size > _MOST_BYTES:
        wrong = f"{size} B is more than the 1 GB that IOS-XR allows a queue"
        raise PlatformError("too-large", wrong, "ask for less")
    value, rounding = _value(order)
    port = order.port
    burst = f" {port.burst_bytes} bytes" if port.burst_bytes else ""
    shape = (f"  shape average {port.rate_in()} bps{burst}",) if port.is_shaped else ()
    lines = (
        f"policy-map {order.name}",
        " class class-default",
        *shape,
        f"  queue-limit {value}",
        " !",
        " end-policy-map",
        "!",
        f"interface {order.interface}",
        f" service-policy output {order.name}",
        "!",
    )
    said = trap('on a bundle only a time is taken: write --form time, in Python form="time"')
    if order.form == "time":
        whose = "its shape" if port.is_shaped else "the whole port's"
        said = note(f"a time is taken at the class's guaranteed rate: here {whose}")
    return Written(lines, rounding, (said,))


def _value(order: Order) -> tuple[str, int]:
    size = order.wanted.bytes
    if order.form == "packets":
        return f"{-(-size // PACKET)} packets", PACKET
    if order.form == "time":
        microseconds = order.port.microseconds(size)
        if microseconds > _MOST:
            wrong = f"{microseconds} us is more than the {_MOST} that queue-limit takes"
            raise PlatformError("too-large", wrong, "write it in bytes, or ask for less")
        return f"{microseconds} us", order.port.microsecond_bytes
    return f"{size} bytes", 0


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    for each in classes(snippet, port):
        if each.has_child and each.limit is None:
            continue
        rate, _ = guaranteed(each, port, inherits=False)
        limit = each.limit
        own = _default(each, port, model) if limit is None else _limit(each, limit, port)
        amount = converter({"": PACKET, **_SIZES}, port, rate)
        yield with_wred(each, each.reading(port, own), port, amount)


def _limit(chosen: PolicyClass, limit: Statement, port: Port) -> ConfiguredQueue:
    place, words = chosen.place(limit), limit.words[1:]
    warnings = []
    if not chosen.is_default and not chosen.scheduling():
        wanting = "bandwidth, shape, priority or bandwidth remaining"
        warnings.append(
            trap(f"refused: a class that is not class-default needs {wanting} beside it")
        )
    if chosen.on_bundle and words[-1:] not in (("us",), ("ms",)):
        warnings.append(trap("refused: on a bundle queue-limit takes time units only (us, ms)"))
    if len(words) == 2 and words[0] == "percent":
        reading = _percent(place, words[1], port)
    else:
        value = whole(words[0], _MOST) if words else None
        unit = words[1] if len(words) == 2 else "packets"
        if not value or len(words) > 2 or unit not in (*TIMES, *_SIZES):
            return place.unknown(uncertain("this form of queue-limit is not understood"))
        reading = _sized(chosen, place, value, unit, port)
    return replace(reading, notes=(*warnings, *reading.notes))


def _sized(chosen: PolicyClass, place: Place, value: int, unit: str, port: Port) -> ConfiguredQueue:
    if unit in TIMES:
        rate, notes = guaranteed(chosen, port, inherits=False)
        size = inside(port, rate).bytes_in(Fraction(value, TIMES[unit]))
        rounding = (1 if unit == "us" else 1000) * port.microsecond_bytes
        reading = place.of_bytes(size, port, (*notes, *_extremes(size)), rounding)
        return reading.counted_at(rate)
    size = value * _SIZES[unit]
    notes = _extremes(size)
    if unit == "packets":
        full = f"{value} of them are {size // port.packet_bytes} of {port.packet_bytes} B"
        notes = (trap(f"a packet counts as {PACKET} B here: {full}"), *notes)
        return place.of_bytes(size, port, notes, PACKET)
    if unit == "bytes":
        return place.of_bytes(size, port, notes)
    doubt = uncertain(f"{unit} are taken as powers of 1000; if they are of 1024, up to 5 % more")
    return place.of_bytes(size, port, (doubt, *notes), size // 20)


def _percent(place: Place, text: str, port: Port) -> ConfiguredQueue:
    share = whole(text, 100)
    if not share:
        return place.unknown(trap("queue-limit percent goes from 1 to 100"))
    size = port.bytes_in(_PORT_PERCENT_S * Fraction(share, 100))
    said = trap("percent of what the port may buffer, taken as 40 ms at port rate (NCS 540/5500)")
    return place.of_bytes(size, port, (said,), size // share)


def _default(chosen: PolicyClass, port: Port, model: str) -> ConfiguredQueue:
    rate, notes = guaranteed(chosen, port, inherits=False)
    priority = any(words[0] == "priority" for words in chosen.scheduling())
    ms = min(_DEFAULT_MS[model], _PRIORITY_MS) if priority else _DEFAULT_MS[model]
    size = inside(port, rate).bytes_in(Fraction(ms, 1000))
    said = trap(f"nobody chose this: without queue-limit it is {ms} ms ({model})")
    reading = chosen.place().of_bytes(size, port, (said, *notes), port.microsecond_bytes)
    return reading.counted_at(rate)


def _extremes(size: int) -> tuple[Note, ...]:
    if size > _MOST_BYTES:
        return (trap("more than the 1 GB of packet memory that a queue can have"),)
    if size < _LEAST_BYTES:
        return (trap("less than 9 kB: it should hold at least the largest MTU, 9216 B"),)
    return ()


PLATFORM = Platform(
    name="ios-xr",
    title="Cisco IOS-XR",
    comment="!",
    forms=("bytes", "time", "packets"),
    models=tuple(_DEFAULT_MS),
    interface="EightHundredGigE0/0/0/0",
    tells=(
        r"^\s*end-policy-map\b",
        r"^\s*queue-limit\s+\d+\s+(kbytes|mbytes|us|ms|bytes)\b",
        r"^\s*interface\s+(Bundle-Ether|(Ten|Forty|Fifty|(Two|Four|Eight)?Hundred)GigE)",
        r"^\s*policy-map\s+\S+\s*$",
    ),
    source="Cisco IOS XR QoS command references: CRS (4.0), NCS 540/5500 (6.x)",
    rounds=_ROUNDS,
    write=_write,
    read=_read,
    unread=matching(BUFFERS),
    timed=BUNDLES,
    ports=_PORTS,
)
