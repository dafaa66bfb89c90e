"""The sparsity pattern of the Jacobian, computed once for many Newton steps.

Only coupled links need a matrix (`linear`): the column of a link that is far from full has only the
diagonal entry. Two coupled links on one path have an entry, to which all their common paths
contribute. The pattern depends only on the paths and on which links are coupled. A Newton step
therefore computes new values only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.engines.fixed_point.slopes import Slopes
from forebay.topology.graph import Floats, Ints

MOST_DENSE = 1000
"""Largest number of coupled links for which every entry of the matrix is stored."""
_MOST_TABLE = 150_000_000
"""Largest number of entries of a table for all pairs of links, 4 bytes each."""
UNCOUPLED = 1e-12
"""A link is coupled if its slopes on all paths sum to more than this share of its own slope."""


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The pairs of coupled links of every path. Paths with most coupled links come first.

    Attributes
    ----------
    links : shape (coupled,), the links of the matrix.
    entry : for the first, second, ... coupled link of a path: indices into arrays of shape
        (hops, paths), for the paths that have so many.
    place : for each of these, as the link whose load changes: indices of the matrix's values, for
        each coupled link of the path in turn as the link that changes it.
    rows, starts : row indices and column starts of a sparse matrix; empty for a dense one.
    diagonal : shape (coupled,), indices of the values on the diagonal.
    """

    links: Ints
    entry: list[Ints]
    place: list[Ints]
    rows: Ints
    starts: Ints
    diagonal: Ints

    @property
    def is_dense(self) -> bool:
        """Whether the values are those of a dense matrix, column by column."""
        return not len(self.starts)

    def values(self, slopes: Slopes) -> Floats:
        """Return the values of the Jacobian without the links' own slopes."""
        answers, thinned = slopes.by_link
        passing = slopes.passing.ravel()
        alone = [answers.ravel()[at] for at in self.entry]
        total = np.zeros(len(self.links) ** 2 if self.is_dense else len(self.rows))
        both = alone if thinned is None else list(alone)
        for later, (at, place) in enumerate(zip(self.entry, self.place, strict=True)):
            if thinned is not None:
                both[later] = alone[later] - thinned.ravel()[at]
            through = passing[at]
            n = [min(len(at), len(other)) for other in self.entry]
            parts = [
                through[:m] * change[:m]
                for m, change in zip(n, both[: later + 1] + alone[later + 1 :], strict=True)
            ]
            total += np.bincount(place, weights=np.concatenate(parts), minlength=len(total))
        return total


def coupled_links(slopes: Slopes) -> NDArray[np.bool_]:
    """Return which links affect the load of another link, shape (links,)."""
    n = len(slopes.own)
    answers, thinned = slopes.by_link
    strength = np.zeros(n + 1)
    for hop, row in enumerate(slopes.paths):
        size = np.abs(answers[hop])
        if thinned is not None:
            size += thinned[hop]
        strength += np.bincount(row, weights=size, minlength=n + 1)
    return np.asarray(strength[:n] > UNCOUPLED * np.abs(slopes.own))


def make_pattern(paths: Ints, coupled: NDArray[np.bool_]) -> Pattern:
    """Return the pattern for paths of shape (hops, paths) and these links, shape (links,)."""
    links = np.flatnonzero(coupled)
    number = np.full(len(coupled) + 1, -1, dtype=np.int64)
    number[links] = np.arange(len(links))
    entry = _by_place(number[paths] >= 0)
    at = [number[paths.ravel()[each]] for each in entry]
    m = len(links)
    keys = [_keys(row, at, m) for row in at]
    if m <= MOST_DENSE:
        none = np.zeros(0, dtype=np.int64)
        return Pattern(links, entry, keys, none, none, np.arange(m) * (m + 1))
    ends, every_key = np.cumsum([len(each) for each in keys])[:-1], np.concatenate(keys)
    del keys  # as large as everything else together
    every, place = _numbered(every_key, m * m)
    starts = np.searchsorted(every, np.arange(m + 1) * m)
    diagonal = np.searchsorted(every, np.arange(m) * (m + 1))
    return Pattern(links, entry, np.split(place, ends), every % m, starts, diagonal)


def _numbered(keys: Ints, end: int) -> tuple[Ints, Ints]:
    """Return the distinct keys below `end` in order, and the number of each key among them."""
    if end > _MOST_TABLE:
        every, number = np.unique(keys, return_inverse=True)
        return every, number
    table = np.zeros(end, dtype=np.int32)  # much faster than sorting
    table[keys] = 1
    every = np.flatnonzero(table)
    table[every] = np.arange(len(every))
    return every, table[keys].astype(np.int64)


def _keys(row: Ints, at: list[Ints], links: int) -> Ints:
    """Return row + column * links for one place and every place, for paths that have both.

    Paths are sorted by their number of places, so the shorter list is the start of the longer.
    """
    n = [min(len(row), len(each)) for each in at]
    return np.concatenate([row[:m] + each[:m] * links for m, each in zip(n, at, strict=True)])


def _by_place(coupled: NDArray[np.bool_]) -> list[Ints]:
    """Return indices into (hops, paths) of the first, second, ... coupled link of each path."""
    count = coupled.sum(axis=0)
    order = np.argsort(-count, kind="stable")
    rank = np.cumsum(coupled, axis=0, dtype=np.int16)
    paths = coupled.shape[1]
    hops, path = np.nonzero(coupled)
    rank = rank[hops, path] - 1
    found = []
    for place in range(int(count.max(initial=0))):
        mine = rank == place
        hop_of = np.zeros(paths, dtype=np.int64)
        hop_of[path[mine]] = hops[mine]
        having = order[: int(np.count_nonzero(count > place))]
        found.append(hop_of[having] * paths + having)
    return found
