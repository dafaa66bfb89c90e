"""Junos: which rates serve a scheduler's queue."""

from __future__ import annotations

from dataclasses import dataclass, field

from forebay.platforms.port import Port
from forebay.platforms.reading import Note, Served, uncertain
from forebay.platforms.snippet import Snippet, Statement, whole

_SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9}
_SHAPING = "shaping-rate"
_INACTIVE, _SWITCHES = "inactive:", ("deactivate", "activate")


def suffixed(text: str, most: int) -> int | None:
    """Return a whole number that may end in k, m or g; None if it is none, or above ``most``."""
    factor = _SUFFIXES.get(text[-1:].lower(), 1)
    number = whole(text[:-1] if factor > 1 else text, most)
    return number * factor if number is not None and number * factor <= most else None


def scheduler_of(statement: Statement) -> str:
    """Return the name of the scheduler that a statement is about; "" without one."""
    return _after(statement, "schedulers")


def _after(statement: Statement, key: str) -> str:
    words = statement.words
    return words[words.index(key) + 1] if key in words[:-1] else ""


def _rate(words: tuple[str, ...], port: Port) -> float | None:
    """Return the rate of "200m" or "percent 20"."""
    if words[:1] == ("percent",) and len(words) > 1:
        share = whole(words[1], 100)
        return port.rate_bps * share / 100 if share else None
    rate = suffixed(words[0], 10**13) if words else None
    return float(rate) if rate else None


def _deactivated(statements: list[Statement]) -> set[tuple[str, ...]]:
    """Return the paths that "deactivate" switches off and no later "activate" on again."""
    off: set[tuple[str, ...]] = set()
    for words in (each.words for each in statements):
        if words[0] == "deactivate":
            off.add(words[1:])
        elif words[0] == "activate":
            off.discard(words[1:])
    return off


def _in_force(statement: Statement, off: set[tuple[str, ...]]) -> tuple[Statement, bool]:
    """Return a statement without the mark "inactive:", and whether it and all above are active."""
    words = tuple(word for word in statement.words if word != _INACTIVE)
    path = words[1:] if words[:1] == ("set",) else words
    lengths = {len(each) for each in off if len(each) <= len(path)}
    active = len(words) == len(statement.words) and all(path[:n] not in off for n in lengths)
    return Statement(statement.line, words), active


@dataclass(slots=True)
class Schedulers:
    """The statements of class-of-service that decide size and rate of a queue.

    Attributes
    ----------
    sizes : statements of buffer-size.
    early : lines of drop-profile-map, by scheduler.
    exact : lines of a buffer-size that is exact alone, by scheduler.
    own : words after shaping-rate (or a transmit-rate that is exact), by scheduler.
    maps : scheduler-maps that contain a scheduler.
    holders : interfaces and traffic-control-profiles with a scheduler-map.
    shapes : words after the shaping-rate of a holder.
    inactive : statements of buffer-size that are not in force.
    switches : lines of deactivate and activate.
    """

    sizes: list[Statement] = field(default_factory=list)
    early: dict[str, list[int]] = field(default_factory=dict)
    exact: dict[str, list[int]] = field(default_factory=dict)
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)
    maps: dict[str, set[str]] = field(default_factory=dict)
    holders: dict[str, set[str]] = field(default_factory=dict)
    shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    inactive: list[Statement] = field(default_factory=list)
    switches: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, snippet: Snippet) -> Schedulers:
        """Return the statements of a snippet."""
        every = list(snippet.statements())
        made, off = cls(), _deactivated(every)
        for written in every:
            if written.words[0] in _SWITCHES:
                made.switches.append(written.line)
                continue
            statement, active = _in_force(written, off)
            if not active:
                if "schedulers" in statement.words[:-1] and "buffer-size" in statement.words:
                    made.inactive.append(statement)
            elif "schedulers" in statement.words[:-1]:
                made._of_scheduler(statement)
            elif "scheduler" in statement.words[:-1] and "scheduler-maps" in statement.words[:-1]:
                maps = made.maps.setdefault(_after(statement, "scheduler"), set())
                maps.add(_after(statement, "scheduler-maps"))
            else:
                made._of_holder(statement)
        return made

    def _of_scheduler(self, statement: Statement) -> None:
        words, name = statement.words, scheduler_of(statement)
        if words[-2:] == ("buffer-size", "exact"):
            self.exact.setdefault(name, []).append(statement.line)
        elif "buffer-size" in words:
            self.sizes.append(statement)
        elif "drop-profile-map" in words:
            self.early.setdefault(name, []).append(statement.line)
        elif _SHAPING in words:
            self.own[name] = words[words.index(_SHAPING) + 1 :]
        elif "transmit-rate" in words and words[-1] == "exact":
            self.own.setdefault(name, words[words.index("transmit-rate") + 1 : -1])

    def _of_holder(self, statement: Statement) -> None:
        name = _after(statement, "traffic-control-profiles") or _after(statement, "interfaces")
        if not name:
            return
        if "scheduler-map" in statement.words:
            self.holders.setdefault(_after(statement, "scheduler-map"), set()).add(name)
        elif _SHAPING in statement.words:
            self.shapes[name] = statement.words[statement.words.index(_SHAPING) + 1 :]

    def own_shape(self, name: str, port: Port) -> Served | None:
        """Return the scheduler's own shaping-rate; None without one."""
        rate = _rate(self.own.get(name, ()), port)
        return None if rate is None else Served(rate, "the scheduler's shaping-rate")

    def port_shape(self, name: str, port: Port) -> Served | None:
        """Return the lowest shaping-rate of the ports and profiles that have the scheduler."""
        rates = self._rates(name, port)
        return Served(min(rates), "the port's shaping-rate") if rates else None

    def doubts(self, name: str, port: Port) -> tuple[Note, ...]:
        """Return the remark on a scheduler of ports that are shaped to different rates."""
        if len(self._rates(name, port)) < 2:
            return ()
        return (
            uncertain("ports of several shaping-rates have this scheduler: taken at the lowest"),
        )

    def _rates(self, name: str, port: Port) -> set[float]:
        held = (self.holders.get(each, set()) for each in self.maps.get(name, set()))
        holders = {holder for some in held for holder in some}
        rates = (_rate(self.shapes.get(holder, ()), port) for holder in holders)
        return {rate for rate in rates if rate is not None}
