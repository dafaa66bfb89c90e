"""Routers, links and hosts as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import BufferSize, ScenarioError

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
    notes: list[str] = field(default_factory=list)

    @property
    def ends(self) -> list[tuple[int, int]]:
        """Source and target of each link."""
        return list(zip(self.source, self.target, strict=True))

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


FIELD = "topology"


def refuse(wrong: str, hint: str, field: str = "") -> ScenarioError:
    """Return the error for a network; ``field`` is below topology."""
    return ScenarioError("topology", wrong, hint, field=".".join(filter(None, (FIELD, field))))
