"""Chords of a core: links added to a graph so that no two routers are too far apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SETS = 2_000_000
"""Sets of chords that are looked at, at most: a few seconds."""
_ENTRIES_AT_ONCE = 3_000_000
Pair = tuple[int, int]


def draw_chords(
    routers: int,
    joined: Sequence[Pair],
    links: int,
    diameter: int | None,
    chance: np.random.Generator,
) -> list[Pair]:
    """Draw the links that a graph lacks, each set that fits with the same probability.

    Parameters
    ----------
    joined : the links that it has, both directions or one.
    links : the number that it shall have.
    diameter : the hops between the two routers that are farthest apart; None for any.

    Raises
    ------
    ScenarioError
        It has more links already; no set of chords gives that diameter; too many sets to look at.
    """
    known = {(min(pair), max(pair)) for pair in joined}
    free = [pair for pair in combinations(range(routers), 2) if pair not in known]
    more = links - len(known)
    if not 0 <= more <= len(free):
        wrong = f"{links} links, where the core has {len(known)} and room for {len(free)} more"
        raise refuse(
            wrong, f"write {len(known)} to {len(known) + len(free)}", "two_level.core_links"
        )
    if diameter is None:
        return [free[i] for i in sorted(chance.choice(len(free), more, replace=False))]
    if comb(len(free), more) > _MOST_SETS:
        wrong = f"{comb(len(free), more)} sets of {more} chords are too many to choose from"
        raise refuse(wrong, "leave core_diameter out, or name the chords", "two_level.core_links")
    sets = _of_diameter(routers, sorted(known), free, more, diameter)
    if not sets:
        wrong = f"no {more} chords make a core whose routers are at most {diameter} links apart"
        hint = "write another number, or leave it out"
        raise refuse(wrong, hint, "two_level.core_diameter")
    return list(sets[int(chance.integers(len(sets)))])


def _of_diameter(
    routers: int, known: Sequence[Pair], free: Sequence[Pair], more: int, diameter: int
) -> list[tuple[Pair, ...]]:
    """Return the sets of so many chords with which the graph has exactly that diameter."""
    sets = list(combinations(free, more))
    base = np.eye(routers, dtype=np.int64)
    for a, b in known:
        base[a, b] = base[b, a] = 1
    found = []
    step = max(1, _ENTRIES_AT_ONCE // routers**2)
    for first in range(0, len(sets), step):
        part = sets[first : first + step]
        fits = _spans(base, part, diameter)
        if diameter > 1:
            fits &= ~_spans(base, part, diameter - 1)
        found += [part[i] for i in np.flatnonzero(fits)]
    return found


def _spans(
    base: NDArray[np.int64], sets: Sequence[tuple[Pair, ...]], hops: int
) -> NDArray[np.bool_]:
    """Whether every router reaches every other one in so many hops, shape (sets,)."""
    graphs = np.repeat(base[None], len(sets), axis=0)
    for index, chords in enumerate(sets):
        for a, b in chords:
            graphs[index, a, b] = graphs[index, b, a] = 1
    reached = graphs
    for _ in range(hops - 1):
        reached = np.minimum(reached @ graphs, 1)
    return np.asarray(reached.all(axis=(1, 2)))
