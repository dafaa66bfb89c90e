"""Routers, links and hosts as arrays; and values of a network's file: checked, with the link or
router in the message.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import BufferSize, ScenarioError
from forebay.words import Fact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BETWEEN, UP, DOWN = 0, 1, 2
"""Kinds of links: between routers, from hosts to their router, and back."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """A network without traffic. All links are unidirectional.

    Hosts of one router with equal link rates are equal: their ``count`` links are one entry, and
    each carries the same share of the traffic.

    Attributes
    ----------
    names : list of str, one for each router.
    hosts : shape (routers,).
    place : shape (routers, 2), x and y for a drawing; NaN if unknown.
    source, target : shape (links,), routers; for a link of hosts both are their router.
    kind : shape (links,), BETWEEN, UP or DOWN.
    count : shape (links,), number of links of the entry.
    rate_bps, delay_s : shape (links,), of each of them.
    link_class, buffer : shape (links,), indices into ``classes`` and ``buffers``.
    demands : (source, target, weight) if the file has demands; else None.
    offered_bps : sum of the demands; None if only their ratios are known.
    """

    names: list[str]
    hosts: Ints
    place: Floats
    source: Ints
    target: Ints
    kind: Ints
    count: Ints
    rate_bps: Floats
    delay_s: Floats
    link_class: Ints
    buffer: Ints
    classes: list[str]
    buffers: list[BufferSize]
    demands: tuple[Ints, Ints, Floats] | None = None
    offered_bps: float | None = None
    link_names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.link_names.extend(_link_names(self))

    @property
    def links(self) -> int:
        """Number of entries of links."""
        return len(self.source)


def sums(place: Ints, weight: Floats, length: int) -> Floats:
    """Add up the weights by place, row by row; both have the shape (hops, paths)."""
    total = np.zeros(length)
    for row, own in zip(place, np.broadcast_to(weight, place.shape), strict=True):
        total += np.bincount(row, weights=own, minlength=length)
    return total


def numbered(names: Iterable[str]) -> list[str]:
    """Return the names, equal ones with a number from the second on."""
    unlike, seen = [], dict[str, int]()
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unlike.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return unlike


def _link_names(graph: Graph) -> list[str]:
    """Return ``from->to`` for each link; equal names are `numbered`."""
    names = []
    up = graph.kind == UP
    several_rates = len(np.unique(graph.source[up])) < int(np.count_nonzero(up))
    for index, kind in enumerate(graph.kind.tolist()):
        here = graph.names[graph.source[index]]
        hosts = f"{here}/hosts"
        if several_rates and kind != BETWEEN:
            hosts += f" at {graph.rate_bps[index] / 1e6:g} Mbit/s"
        there = graph.names[graph.target[index]]
        names.append((f"{here}->{there}", f"{hosts}->{here}", f"{here}->{hosts}")[kind])
    return numbered(names)


@dataclass(slots=True)
class Adjacency:
    """Routers and links. Links are bidirectional unless in ``one_way``.

    ``rate_bps``, ``delay_s`` and ``buffer`` of a link are None if its class gives them.
    ``demand_unit_bps`` is what 1 of the file's demands is, None if it does not say; ``notes`` are
    what a reader of the answer has to know of the file.
    """

    names: list[str] = field(default_factory=list)
    hosts: list[int] = field(default_factory=list)
    place: list[tuple[float, float]] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    link_class: list[str] = field(default_factory=list)
    rate_bps: list[float | None] = field(default_factory=list)
    delay_s: list[float | None] = field(default_factory=list)
    buffer: list[BufferSize | None] = field(default_factory=list)
    one_way: set[int] = field(default_factory=set)
    demands: list[tuple[int, int, float]] = field(default_factory=list)
    demand_unit_bps: float | None = None
    notes: list[Fact] = field(default_factory=list)

    @property
    def ends(self) -> list[tuple[int, int]]:
        """Source and target of each link."""
        return list(zip(self.source, self.target, strict=True))

    def wires(self) -> dict[str, int]:
        """Return the place of each link by its name in answers, which has a direction."""
        ends = self.ends
        back = [place for place in range(len(ends)) if place not in self.one_way]
        pairs = [*ends, *(ends[place][::-1] for place in back)]
        names = numbered(f"{self.names[a]}->{self.names[b]}" for a, b in pairs)
        return dict(zip(names, [*range(len(ends)), *back], strict=True))

    def matrix(self) -> tuple[Ints, Ints, Floats] | None:
        """Return the demands above 0 between two routers. Raises ScenarioError without one."""
        if not self.demands:
            return None
        kept = [demand for demand in self.demands if demand[2] > 0.0 and demand[0] != demand[1]]
        if not kept:
            raise ScenarioError("topology.no-demand", field="topology.demands")
        source, target, weight = zip(*kept, strict=True)
        return np.array(source), np.array(target), np.array(weight, dtype=np.float64)

    def router(
        self, name: str, hosts: int = 0, place: tuple[float, float] = (float("nan"), float("nan"))
    ) -> int:
        """Add a router and return its number."""
        self.names.append(name)
        self.hosts.append(hosts)
        self.place.append(place)
        return len(self.names) - 1

    def link(
        self,
        source: int,
        target: int,
        link_class: str,
        rate_bps: float | None = None,
        delay_s: float | None = None,
        buffer: BufferSize | None = None,
        *,
        one_way: bool = False,
    ) -> None:
        """Connect two routers."""
        if one_way:
            self.one_way.add(len(self.source))
        self.source.append(source)
        self.target.append(target)
        self.link_class.append(link_class)
        self.rate_bps.append(rate_bps)
        self.delay_s.append(delay_s)
        self.buffer.append(buffer)

    def keep_links(self, kept: list[int]) -> None:
        """Keep the links at these places alone, in this order."""
        new = {place: number for number, place in enumerate(kept)}
        self.one_way = {new[place] for place in self.one_way if place in new}
        columns: tuple[list[Any], ...] = (
            self.source, self.target, self.link_class, self.rate_bps, self.delay_s, self.buffer,
        )  # fmt: skip
        for column in columns:
            column[:] = [column[place] for place in kept]


RATES, DELAYS = (1e3, 1e13), (0.0, 60.0)  # bit/s and seconds, as in a scenario's own links
HOSTS, DEMANDS = (0, 10_000_000), (0.0, 1e18)
LONGEST = 64  # characters of a router's name, as in a scenario's own links
CORE = "core"
"""The class of a file's links."""
_LONGITUDE, _LATITUDE = 360.0, 90.0  # degrees; some count the longitude from 0 to 360
_EARTH_KM = 6371.0
KM_PER_S = 2.0e5  # light in fibre: two thirds of the speed in vacuum


def number_of(name: str, names: dict[str, int], field: str) -> int:
    """Return a router's number. Raises ScenarioError for an unknown one."""
    if name not in names:
        some = next(iter(names), Fact("network.one-of-links"))
        raise ScenarioError("topology.no-router", field=field, name=name[:60], some=some)
    return names[name]


def named(text: object) -> str:
    """Return a name with single spaces between its words; empty where there is none."""
    name = " ".join(str("" if text is None else text).split())
    if not name.isprintable():
        raise ScenarioError("topology.unprintable", field="topology.file", name=name[:60])
    return name


def unused(name: str, own: str, taken: set[str]) -> str:
    """Return a name that no other router has, and take it; `own` is the router's id."""
    while name in taken:
        name = f"{name} {own}"
    taken.add(name)
    return name


def in_range(
    value: object, limits: tuple[float, float], what: Fact, *, whole: bool = False
) -> float | None:
    """Return a number of a file; None where there is none. Raises ScenarioError."""
    if value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not limits[0] <= number <= limits[1] or (whole and number % 1.0):
        said = " ".join(str(value).split())[:40]
        raise ScenarioError(
            "topology.whole" if whole else "topology.number", field="topology.file", what=what,
            said=said, least=limits[0], most=limits[1],
        )  # fmt: skip
    return number


def place(x: object, y: object, name: str) -> tuple[float, float]:
    """Return a position on a map or a drawing; NaN where there is none."""
    return _number(x, name), _number(y, name)


def _number(value: object, name: str) -> float:
    """Return a coordinate; NaN where there is none. Raises ScenarioError."""
    text = "" if value is None else str(value).strip()
    try:
        number = float(text or "nan")
    except ValueError:
        number = math.inf
    if math.isinf(number):
        said = text[:40]
        raise ScenarioError("topology.coordinate", field="topology.file", name=name, said=said)
    return number


def light(made: Adjacency, here: int, there: int) -> float | None:
    """Return the delay in seconds along the great circle in fibre; None without both positions."""
    if any(math.isnan(degree) for router in (here, there) for degree in made.place[router]):
        return None
    for router in (here, there):
        x, y = made.place[router]
        if abs(x) > _LONGITUDE or abs(y) > _LATITUDE:
            name = made.names[router]
            raise ScenarioError("topology.place", field="topology.file", name=name, x=x, y=y)
    (a, b), (c, d) = (tuple(map(math.radians, made.place[router])) for router in (here, there))
    half = math.sin((d - b) / 2) ** 2 + math.cos(b) * math.cos(d) * math.sin((c - a) / 2) ** 2
    return 2 * _EARTH_KM * math.asin(min(math.sqrt(half), 1.0)) / KM_PER_S
