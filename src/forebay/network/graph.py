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
    """A network before any traffic. All links go one way.

    Hosts of one router with links of one rate are alike: their ``count`` links are one entry, and
    carry the same share of what goes there each.

    Attributes
    ----------
    names : list of str, one a router.
    hosts : shape (routers,).
    place : shape (routers, 2), x and y for a drawing; NaN where nobody knows.
    source, target : shape (links,), routers; of a link of hosts both are their router.
    kind : shape (links,), BETWEEN, UP or DOWN.
    count : shape (links,), how many links the entry stands for.
    rate_bps, delay_s : shape (links,), of each of them.
    link_class, buffer : shape (links,), into ``classes`` and ``buffers``.
    demands : (source, target, weight) of a file that has them; else None.
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
    link_names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.link_names.extend(_link_names(self))

    @property
    def links(self) -> int:
        """Entries of links."""
        return len(self.source)


def numbered(names: Iterable[str]) -> list[str]:
    """Return the names, equal ones with a number from the second on."""
    made, seen = [], dict[str, int]()
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return made


def _link_names(graph: Graph) -> list[str]:
    """Return ``from->to`` for each; equal ones are `numbered`."""
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
