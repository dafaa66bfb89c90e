"""Juniper Junos: buffer-size of a class-of-service scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor

from forebay.errors import option
from forebay.platforms.errors import PlatformError, short
from forebay.platforms.junos_schedulers import Schedulers, suffixed
from forebay.platforms.port import Port
from forebay.platforms.protocol import Order, Platform, Written
from forebay.platforms.reading import ConfiguredQueue, Note, Place, inside, note, trap, uncertain
from forebay.platforms.snippet import Snippet, decimal
from forebay.platforms.unread import matching

_GIGABIT = 10**9
_POINTS = 256
_LEAST, _MOST = 4096, 256 * 2**20
_STEP_PERCENT = ((_MOST / _LEAST) ** (1 / (_POINTS - 1)) - 1) * 100
_MOST_US = 10**7

_PORTS = (
    (1e9, "ge-0/0/0"),
    (1e10, "xe-0/0/0"),
    *((rate, "et-0/0/0") for rate in (2.5e10, 4e10, 5e10, 1e11, 2e11, 4e11, 8e11)),
)
_RELEASES = uncertain(
    "what temporal multiplies differs between releases: the interface's speed (taken here), "
    "or the queue's own transmit rate"
)
_CONTROL = 5  # percent of rate and buffer in the factory's default map
_KEPT = note(
    "a map of one's own replaces the default one: network-control keeps its 5 % of rate and buffer"
)
_EXACT = note("exact: the queue may not borrow from a shared buffer")
_INACTIVE = trap("inactive: it is in the text and not in force")
_DELAYED = trap("a delay-buffer-rate decides this size, and how is not known here")
_EARLY = trap("a drop-profile drops before the buffer is full: no drop-tail queue of this size")
_HARDWARE = uncertain(
    f"rounding: an MX MPC has {_POINTS} sizes from 4 KB (1568 B since 17.2R1) to 256 MB and takes "
    f"one of them; evenly spaced in the logarithm they would be {_STEP_PERCENT:.1f} % apart"
)


def _whole_buffer(port: Port) -> Fraction:
    """Return the seconds of delay buffer of a port of an MX MIC or MPC."""
    return Fraction(1, 10) if port.line >= _GIGABIT else Fraction(1, 2)


def _write(order: Order) -> Written:
    port, size = order.port, order.wanted.bytes
    if order.form == "percent":
        total = Fraction(port.rate_bps) * _whole_buffer(port) / 8
        percent = ceil(100 * Fraction(size) / total)
        if percent > 100 - _CONTROL:
            wrong = (
                f"{size} B is more than the {100 - _CONTROL} % of an MX port's delay buffer that "
                "network-control leaves"
            )
            raise PlatformError(
                "too-large", wrong, f"write {option('form', 'time')}, or ask for less"
            )
        if percent == 1 and total > 200 * size:
            wrong = (
                f"1 %, the least there is, gives {floor(total / 100)} B, "
                f"{float(total / 100 / size):.3g} times what is wanted"
            )
            raise PlatformError("too-coarse", wrong, f"write {option('form', 'time')}")
        return _lines(order, f"percent {percent}", ceil(total / 100))
    microseconds = port.microseconds(size)
    if microseconds > _MOST_US:
        wrong = (
            f"{microseconds} us is above {_MOST_US} us, the largest temporal assumed to be valid"
        )
        raise PlatformError(
            "too-large", wrong, f"ask for less, or write {option('form', 'percent')}"
        )
    return _lines(order, f"temporal {microseconds}", _microsecond(port))


def _microsecond(port: Port) -> int:
    return ceil(port.rate_bps / 8_000_000) + 1


def _lines(order: Order, value: str, rounding: int) -> Written:
    port, cos = order.port, "set class-of-service"
    name, kept = order.name, f"{order.name}-NETWORK-CONTROL"
    own, control = f"{cos} schedulers {name}", f"{cos} schedulers {kept}"
    fits = f"{cos} scheduler-maps {name} forwarding-class"
    attached = f"{cos} interfaces {order.interface}"
    ends: tuple[str, ...] = (f"{attached} scheduler-map {name}",)
    if port.burst_bytes:  # only a profile's shaping-rate has a burst
        profile = f"{cos} traffic-control-profiles {name}"
        ends = (
            f"{profile} scheduler-map {name}",
            f"{profile} shaping-rate {port.rate_in()} burst-size {port.burst_bytes}",
            f"{attached} output-traffic-control-profile {name}",
        )
    elif port.is_shaped:
        ends += (f"{attached} shaping-rate {port.rate_in()}",)
    lines = (
        f"{own} buffer-size {value}",
        f"{own} transmit-rate percent {100 - _CONTROL}",
        f"{control} buffer-size percent {_CONTROL}",
        f"{control} transmit-rate percent {_CONTROL}",
        f"{fits} best-effort scheduler {name}",
        f"{fits} network-control scheduler {kept}",
        *ends,
    )
    return Written(lines, rounding, (_KEPT,))


def _read(snippet: Snippet, port: Port, model: str) -> Iterator[ConfiguredQueue]:
    config = Schedulers.of(snippet)
    for scheduler in config.every.values():
        notes = (_EARLY,) * bool(scheduler.early) + (_EXACT,) * bool(scheduler.exact)
        also = (*scheduler.early, *scheduler.exact, *config.switches)
        for (line, words, active), (shape, where) in product(
            scheduler.sizes, config.shaped(scheduler.name, port)
        ):
            name, written = short(f"scheduler {scheduler.name}"), short(" ".join(words))
            place = Place(line, name + where, f"buffer-size {written}")
            if not active:
                yield place.unknown(_INACTIVE).serving(None, also=config.switches)
                break
            seen = inside(port, shape)
            reading = _size(place, words, seen, config.ruled_out).counted_at(shape)
            if config.is_delayed(scheduler.name):
                reading = place.unknown(_DELAYED)
            yield reading.serving(scheduler.own(seen) or shape, *notes, also=also)


def _size(place: Place, words: tuple[str, ...], port: Port, ruled_out: str) -> ConfiguredQueue:
    exact = (_EXACT,) if "exact" in words else ()
    value = tuple(word for word in words if word != "exact")
    if value[:1] == ("temporal",) and len(value) == 2:
        return _temporal(place, value[1], port).serving(None, *exact)
    if value[:1] == ("percent",) and len(value) == 2:
        if ruled_out:
            why = f"percent of a buffer that is not an MX port's, as {ruled_out} is in the text"
            return place.unknown(trap(f"{why}: its size is not here"), *exact)
        return _percent(place, value[1], port).serving(None, *exact)
    if value[:1] in (("remainder",), ("shared",)):
        said = trap(f"{value[0]} is what other queues leave: no size of its own")
        return place.unknown(said)
    return place.unknown(uncertain("this form of buffer-size is not understood"))


def _temporal(place: Place, text: str, port: Port) -> ConfiguredQueue:
    microseconds = suffixed(text, 10**9)
    if not microseconds:
        return place.unknown(trap("temporal takes whole microseconds above 0, such as 5000 or 5k"))
    size = port.bytes_in(Fraction(microseconds, 10**6))
    notes = (*_limits(microseconds, size, port), _RELEASES, _HARDWARE)
    return place.of_bytes(size, port, notes, _microsecond(port))


def _percent(place: Place, text: str, port: Port) -> ConfiguredQueue:
    percent = decimal(text, 100)
    if percent is None:
        return place.unknown(trap("percent goes from 0 to 100"))
    total = _whole_buffer(port)
    size = port.bytes_in(total * percent / 100)
    ms = int(total * 1000)
    said = trap(f"percent of the port's delay buffer, taken as {ms} ms at line rate (MX MIC/MPC)")
    one = port.bytes_in(total / 100) + 1
    return place.of_bytes(size, port, (said, _HARDWARE), one)


def _limits(microseconds: int, size: int, port: Port) -> tuple[Note, ...]:
    total = _whole_buffer(port)
    if microseconds > total * 10**6:
        ms = int(total * 1000)
        return (trap(f"longer than the {ms} ms that an MX MIC or MPC gives a port this fast"),)
    if size < _LEAST:
        return (trap("less than the smallest size in hardware (4 KB; 1568 B since 17.2R1)"),)
    if size > _MOST:
        return (trap("more than the largest size in hardware (256 MB)"),)
    return ()


PLATFORM = Platform(
    name="junos",
    title="Juniper Junos",
    comment="#",
    forms=("time", "percent"),
    models=("mx",),
    interface="et-0/0/0",
    tells=(
        r"\bbuffer-size\b.*\b(temporal|percent|remainder|shared)\b",
        r"\bclass-of-service\b",
        r"^\s*schedulers\s*\{",
        r"\bscheduler-maps\b",
    ),
    source="Junos class of service: buffer-size, delay-buffer-rate; MX MIC/MPC delay buffers",
    rounds=_HARDWARE,
    write=_write,
    read=_read,
    unread=matching(
        r"\b(buffer-size|drop-profile-map|drop-profiles|delay-buffer-rate|shared-buffer"
        r"|buffer-partition|buffer-dynamic-threshold|q-pic-large-buffer)\b",
        Snippet.statements,
    ),
    ports=_PORTS,
)
