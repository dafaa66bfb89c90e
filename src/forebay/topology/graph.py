"""Routers, links and hosts as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import BufferSize

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
    made, seen = [], dict[str, int]()
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return made


def _link_names(graph: Graph) -> list[str]:
    """Return ``from->to`` for each link; equal names are `numbered`."""
    names = []
    rates = _several_rates(graph)
    for index, kind in enumerate(graph.kind.tolist()):
        here = graph.names[graph.source[index]]
        hosts = f"{here}/hosts"
        if rates and kind != BETWEEN:
            hosts += f" at {graph.rate_bps[index] / 1e6:g} Mbit/s"
        there = graph.names[graph.target[index]]
        names.append((f"{here}->{there}", f"{hosts}->{here}", f"{here}->{hosts}")[kind])
    return numbered(names)


def _several_rates(graph: Graph) -> bool:
    up = graph.kind == UP
    return len(np.unique(graph.source[up])) < int(np.count_nonzero(up))
