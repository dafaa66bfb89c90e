"""Juniper Junos: buffer-size of a class-of-service scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, floor

from forebay.platforms.notes import note, trap, uncertain
from forebay.platforms.reading import ConfiguredQueue, Place, Port, Served, at_rates, lowest
from forebay.platforms.registry import Order, Platform, Written, matching
from forebay.platforms.snippet import (
    PlatformError,
    Snippet,
    Statement,
    decimal,
    short,
    suffixed,
    whole,
)

_INACTIVE, _SWITCHES = "inactive:", ("deactivate", "activate")
_FRAGMENTS = ("schedulers", "scheduler-maps", "traffic-control-profiles")
_OF_SWITCHES = ("shared-buffer", "forwarding-class-sets", "system-defaults")
_LARGE, _DYNAMIC = "q-pic-large-buffer", "buffer-dynamic-threshold"
_Path = tuple[str, ...]


def _rate(words: _Path, port: Port, by: str) -> Served | None:
    """Return the rate of "200m" or "percent 20"; None without words."""
    if not words:
        return None
    if words[:1] == ("percent",) and len(words) > 1:
        share = whole(words[1], 100)
        rate = port.rate_bps * share / 100 if share else None
    else:
        rate = suffixed(words[0], 10**13)
    return Served(float(rate), by) if rate else Served.untold(" ".join(words))


def _deactivated(statements: list[Statement]) -> set[_Path]:
    """Return the paths that "deactivate" switches off and no later "activate" on again."""
    off: set[_Path] = set()
    for words in (statement.path for statement in statements):
        if words[0] == "deactivate":
            off.add(words[1:])
        elif words[0] == "activate":
            off.discard(words[1:])
    return off


def _in_force(statement: Statement, off: set[_Path]) -> tuple[_Path, bool]:
    """Return a path without "set" and "inactive:", and whether it and all above are active."""
    written = statement.path
    path = tuple(word for word in written if word != _INACTIVE)
    active = len(path) == len(written)
    path = path[1:] if path[:1] == ("set",) else path
    lengths = {len(prefix) for prefix in off if len(prefix) <= len(path)}
    return path, active and all(path[:n] not in off for n in lengths)


def _below(path: _Path) -> _Path:
    """Return a path from below class-of-service on, also of a group; () for another part."""
    path = path[2:] if path[:1] == ("groups",) else path
    if path[:1] == ("class-of-service",):
        return path[1:]
    return path if path[:1] and path[0] in _FRAGMENTS else ()


@dataclass(slots=True)
class Scheduler:
    """What a text says of one scheduler: the words after each key, and the lines of each.

    ``sizes`` are the statements of buffer-size as line, words, and whether they are in force.
    """

    sizes: list[tuple[int, _Path, bool]] = field(default_factory=list)
    early: list[int] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)
    transmit: _Path = ()
    shaping: _Path = ()

    def add(self, line: int, words: _Path) -> None:
        """Add a statement that is in force."""
        key, rest = words[0], words[1:]
        if key == "buffer-size" and rest == ("exact",):
            self.exact.append(line)
        elif key == "buffer-size":
            self.sizes.append((line, rest, True))
        elif key == "drop-profile-map":
            self.early.append(line)
        elif key == "shaping-rate":
            self.shaping = rest
        elif key == "transmit-rate":
            self.transmit += rest

    def own(self, port: Port) -> Served | None:
        """Return its shaping-rate, or a transmit-rate that is exact; None without one."""
        exact = self.transmit if "exact" in self.transmit else ()
        words = self.shaping or tuple(word for word in exact if word != "exact")
        return _rate(words, port, "the scheduler's shaping-rate")


@dataclass(slots=True)
class Schedulers:
    """The statements of class-of-service that decide size and rate of a queue.

    Attributes
    ----------
    every : the schedulers by name.
    maps : scheduler-maps that contain a scheduler.
    holders : interfaces, units and traffic-control-profiles with a scheduler-map, as paths.
    shapes : words after the shaping-rate of a path.
    delayed : paths with a delay-buffer-rate.
    switches : lines of deactivate and activate.
    ruled_out : a statement beside which percent is not of an MX port's delay buffer; "" without.
    """

    every: dict[str, Scheduler] = field(default_factory=dict)
    maps: dict[str, set[str]] = field(default_factory=dict)
    holders: dict[str, set[_Path]] = field(default_factory=dict)
    shapes: dict[_Path, _Path] = field(default_factory=dict)
    delayed: set[_Path] = field(default_factory=set)
    switches: list[int] = field(default_factory=list)
    ruled_out: str = ""

    @classmethod
    def of(cls, snippet: Snippet) -> Schedulers:
        """Return the statements of a snippet."""
        statements = list(snippet.statements())
        schedulers, off = cls(), _deactivated(statements)
        for statement in statements:
            if statement.path[0] in _SWITCHES:
                schedulers.switches.append(statement.line)
                continue
            path, active = _in_force(statement, off)
            schedulers._add(statement.line, _below(path), active=active)
            if active and path[:1] == ("chassis",) and _LARGE in path:
                schedulers.ruled_out = _LARGE
        return schedulers

    def _add(self, line: int, path: _Path, *, active: bool) -> None:
        if path[:1] == ("schedulers",) and len(path) > 2:
            scheduler = self.every.setdefault(path[1], Scheduler())
            if active:
                scheduler.add(line, path[2:])
                self.ruled_out = path[2] if path[2] == _DYNAMIC else self.ruled_out
            elif path[2] == "buffer-size":
                scheduler.sizes.append((line, path[3:], False))
        elif active and path[:1] == ("scheduler-maps",) and path[4:5] == ("scheduler",):
            self.maps.setdefault("".join(path[5:6]), set()).add(path[1])
        elif active and path[:1] and path[0] in ("interfaces", "traffic-control-profiles"):
            end = 4 if path[2:3] == ("unit",) else 2
            holder, key, rest = path[:end], path[end : end + 1], path[end + 1 :]
            if key == ("scheduler-map",):
                self.holders.setdefault("".join(rest[:1]), set()).add(holder)
            elif key == ("shaping-rate",):
                self.shapes[holder] = rest
            elif key == ("delay-buffer-rate",):
                self.delayed.add(holder)
        elif active and path[:1] and path[0] in _OF_SWITCHES:
            self.ruled_out = path[0]

    def _held(self, name: str) -> Iterator[_Path]:
        """Yield the interfaces, units and profiles that have a scheduler."""
        for scheduler_map in sorted(self.maps.get(name, ())):
            yield from sorted(self.holders.get(scheduler_map, ()))

    def is_delayed(self, name: str) -> bool:
        """Whether a delay-buffer-rate decides the buffer of a scheduler."""
        return any(holder in self.delayed for holder in self._held(name))

    def shaped(self, name: str, port: Port) -> Iterator[tuple[Served | None, str]]:
        """Yield each rate to which ports and profiles that have a scheduler are shaped."""
        places: dict[Served | None, list[str]] = {}
        for holder in self._held(name):
            shapes = (self.shapes.get(path, ()) for path in (holder[:2], holder))
            slowest = lowest(_rate(words, port, "the port's shaping-rate") for words in shapes)
            places.setdefault(slowest, []).append(" ".join(holder))
        yield from at_rates(places)


_GIGABIT = 10**9
_POINTS = 256
_LEAST, _MOST = 4096, 256 * 2**20
_STEP_PERCENT = ((_MOST / _LEAST) ** (1 / (_POINTS - 1)) - 1) * 100
_MOST_US = 10**7
_RELEASES = uncertain(
    "what temporal multiplies differs between releases: the interface's speed (taken here), "
    "or the queue's own transmit rate"
)
_CONTROL = 5  # percent of rate and buffer in the factory's default map
_KEPT = note(
    "a map of one's own replaces the default one: network-control keeps its 5 % of rate and buffer"
)
_EXACT = note("exact: the queue may not borrow from a shared buffer")
_NOT_IN_FORCE = trap("inactive: it is in the text and not in force")
_DELAYED = trap("a delay-buffer-rate decides this size, and how is not known here")
_EARLY = trap("a drop-profile drops before the buffer is full: no drop-tail queue of this size")
_HARDWARE = uncertain(
    f"rounding: an MX MPC has {_POINTS} sizes from 4 KB (1568 B since 17.2R1) to 256 MB and takes "
    f"one of them; evenly spaced in the logarithm they would be {_STEP_PERCENT:.1f} % apart"
)


def _buffer_ms(port: Port) -> int:
    """Return the ms of delay buffer of a port of an MX MIC or MPC."""
    return 100 if port.line >= _GIGABIT else 500


def _value(order: Order) -> tuple[str, int]:
    """Return the words of a buffer-size, and its largest rounding in bytes."""
    port, size = order.port, order.wanted.bytes
    if order.form == "percent":
        total = Fraction(port.rate_bps) * _buffer_ms(port) / 8000
        percent = ceil(100 * Fraction(size) / total)
        if percent > 100 - _CONTROL:
            raise PlatformError("too-large.junos-percent", value=size, most=100 - _CONTROL)
        if percent == 1 and total > 200 * size:
            times = float(total / 100 / size)
            raise PlatformError("too-coarse.percent", gives=floor(total / 100), times=times)
        return f"percent {percent}", ceil(total / 100)
    microseconds = port.microseconds(size)
    if microseconds > _MOST_US:
        raise PlatformError("too-large.junos-temporal", value=microseconds, most=_MOST_US)
    return f"temporal {microseconds}", port.microsecond_bytes


def _write(order: Order) -> Written:
    value, rounding = _value(order)
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
    for name, scheduler in config.every.items():
        notes = (_EARLY,) * bool(scheduler.early) + (_EXACT,) * bool(scheduler.exact)
        also = (*scheduler.early, *scheduler.exact, *config.switches)
        for (line, words, active), (shape, where) in product(
            scheduler.sizes, config.shaped(name, port)
        ):
            seen, written = port.inside(shape), f"buffer-size {short(' '.join(words))}"
            place = Place(line, short(f"scheduler {name}") + where, written, seen)
            if not active:
                yield place.unknown(_NOT_IN_FORCE).with_notes(also=config.switches)
                break
            reading = _size(place, words, config.ruled_out).counted_at(shape)
            if config.is_delayed(name):
                reading = place.unknown(_DELAYED)
            yield reading.serving(scheduler.own(seen) or shape, *notes, also=also)


def _size(place: Place, words: _Path, ruled_out: str) -> ConfiguredQueue:
    exact = (_EXACT,) if "exact" in words else ()
    match [word for word in words if word != "exact"]:
        case ["temporal", text]:
            return _temporal(place, text).with_notes(*exact)
        case ["percent", _] if ruled_out:
            why = f"percent of a buffer that is not an MX port's, as {ruled_out} is in the text"
            return place.unknown(trap(f"{why}: its size is not here"), *exact)
        case ["percent", text]:
            return _percent(place, text).with_notes(*exact)
        case ["remainder" | "shared" as key, *_]:
            return place.unknown(trap(f"{key} is what other queues leave: no size of its own"))
    return place.unclear("buffer-size")


def _temporal(place: Place, text: str) -> ConfiguredQueue:
    microseconds, port = suffixed(text, 10**9), place.port
    if not microseconds:
        return place.unknown(trap("temporal takes whole microseconds above 0, such as 5000 or 5k"))
    size, ms = port.bytes_in(Fraction(microseconds, 10**6)), _buffer_ms(port)
    limits = []
    if microseconds > 1000 * ms:
        said = f"longer than the {ms} ms that an MX MIC or MPC gives a port this fast"
        limits.append(trap(said))
    elif size < _LEAST:
        limits.append(trap("less than the smallest size in hardware (4 KB; 1568 B since 17.2R1)"))
    elif size > _MOST:
        limits.append(trap("more than the largest size in hardware (256 MB)"))
    return place.of_bytes(size, *limits, _RELEASES, _HARDWARE, rounding=port.microsecond_bytes)


def _percent(place: Place, text: str) -> ConfiguredQueue:
    percent, port = decimal(text, 100), place.port
    if percent is None:
        return place.unknown(trap("percent goes from 0 to 100"))
    ms = _buffer_ms(port)
    said = trap(f"percent of the port's delay buffer, taken as {ms} ms at line rate (MX MIC/MPC)")
    one = Fraction(ms, 100_000)
    rounding = port.bytes_in(one) + 1
    return place.of_bytes(port.bytes_in(one * percent), said, _HARDWARE, rounding=rounding)


JUNOS = Platform(
    name="junos",
    title="Juniper Junos",
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
    ports=(
        (1e9, "ge-0/0/0"),
        (1e10, "xe-0/0/0"),
        *((rate, "et-0/0/0") for rate in (2.5e10, 4e10, 5e10, 1e11, 2e11, 4e11, 8e11)),
    ),
)
