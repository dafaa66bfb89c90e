"""Junos: which rates serve a scheduler's queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from forebay.platforms.port import Port
from forebay.platforms.reading import Served, at_rates
from forebay.platforms.snippet import Snippet, Statement, whole

_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}
_INACTIVE, _SWITCHES = "inactive:", ("deactivate", "activate")
_FRAGMENTS = ("schedulers", "scheduler-maps", "traffic-control-profiles")
_OF_SWITCHES = ("shared-buffer", "forwarding-class-sets", "system-defaults")
_LARGE, _DYNAMIC = "q-pic-large-buffer", "buffer-dynamic-threshold"
_Path = tuple[str, ...]


def suffixed(text: str, most: int) -> int | None:
    """Return a whole number that may end in k, m or g; None if it is none, or above ``most``."""
    factor = _SUFFIXES.get(text[-1:].lower(), 1)
    number = whole(text[:-1] if factor > 1 else text, most)
    return number * factor if number is not None and number * factor <= most else None


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
    for words in (each.path for each in statements):
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
    lengths = {len(each) for each in off if len(each) <= len(path)}
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

    name: str
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
        made, off = cls(), _deactivated(statements)
        for statement in statements:
            if statement.path[0] in _SWITCHES:
                made.switches.append(statement.line)
                continue
            path, active = _in_force(statement, off)
            made._add(statement.line, _below(path), active=active)
            if active and path[:1] == ("chassis",) and _LARGE in path:
                made.ruled_out = _LARGE
        return made

    def _add(self, line: int, path: _Path, *, active: bool) -> None:
        if path[:1] == ("schedulers",) and len(path) > 2:
            scheduler = self.every.setdefault(path[1], Scheduler(path[1]))
            if active:
                scheduler.add(line, path[2:])
                self.ruled_out = path[2] if path[2] == _DYNAMIC else self.ruled_out
            elif path[2] == "buffer-size":
                scheduler.sizes.append((line, path[3:], False))
        elif active and path[:1] == ("scheduler-maps",) and path[4:5] == ("scheduler",):
            self.maps.setdefault("".join(path[5:6]), set()).add(path[1])
        elif active and path[:1] and path[0] in ("interfaces", "traffic-control-profiles"):
            self._of_holder(path)
        elif active and path[:1] and path[0] in _OF_SWITCHES:
            self.ruled_out = path[0]

    def _of_holder(self, path: _Path) -> None:
        end = 4 if path[2:3] == ("unit",) else 2
        holder, key, rest = path[:end], path[end : end + 1], path[end + 1 :]
        if key == ("scheduler-map",):
            self.holders.setdefault("".join(rest[:1]), set()).add(holder)
        elif key == ("shaping-rate",):
            self.shapes[holder] = rest
        elif key == ("delay-buffer-rate",):
            self.delayed.add(holder)

    def _held(self, name: str) -> Iterator[_Path]:
        """Yield the interfaces, units and profiles that have a scheduler."""
        for each in sorted(self.maps.get(name, ())):
            yield from sorted(self.holders.get(each, ()))

    def is_delayed(self, name: str) -> bool:
        """Whether a delay-buffer-rate decides the buffer of a scheduler."""
        return any(holder in self.delayed for holder in self._held(name))

    def shaped(self, name: str, port: Port) -> Iterator[tuple[Served | None, str]]:
        """Yield each rate to which ports and profiles that have a scheduler are shaped."""
        found: dict[Served | None, list[str]] = {}
        for holder in self._held(name):
            shapes = (self.shapes.get(each, ()) for each in (holder[:2], holder))
            rates = [_rate(words, port, "the port's shaping-rate") for words in shapes if words]
            known = [each for each in rates if each is not None]
            lowest = min(known, key=lambda each: each.rate_bps or 0.0, default=None)
            found.setdefault(lowest, []).append(" ".join(holder))
        yield from at_rates(found or {None: []})
