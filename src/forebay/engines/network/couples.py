"""Where the Jacobian has entries: found once, and used as long as the same links matter.

A link that is far from full has a column of nothing but its own diagonal: its loss and its queue
stay at nothing. Only the links that others feel need a matrix. Each two of them that are on one
path make an entry, and many paths add to the same entry. Where an entry is depends on the paths
alone, so a Newton step only adds up new values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.engines.network.slopes import Slopes
from forebay.network.graph import Floats, Ints

MOST_DENSE = 1000
"""Largest number of coupled links for which every entry of the matrix is stored."""
_MOST_TABLE = 150_000_000
"""Entries of a table of 4 bytes each with a place for every two links."""
UNFELT = 1e-12
"""Of a link's own slope; less than this on all paths together is not felt."""


@dataclass(frozen=True, slots=True, eq=False)
class Couples:
    """The felt links of every path, two by two; paths with most felt links first.

    Attributes
    ----------
    felt : shape (felt,), the links that the matrix is about.
    entry : for each place along a path, felt links only: indices into arrays of shape
        (hops, paths), of the paths that have so many.
    place : for each such place, of what goes through that link, by the link that changes it: the
        index of the matrix's value, for all places of the other link in turn.
    rows, starts : of a sparse matrix, by columns; empty for a dense one.
    diagonal : shape (felt,), which values are on the diagonal.
    """

    felt: Ints
    entry: list[Ints]
    place: list[Ints]
    rows: Ints
    starts: Ints
    diagonal: Ints

    @property
    def is_dense(self) -> bool:
        """Whether the values are those of the whole matrix, column by column."""
        return not len(self.starts)

    def brought(self, slopes: Slopes) -> Floats:
        """Return the values of the matrix of what connections bring: J without links' own."""
        answers, thinned = slopes.by_link
        passing = slopes.passing.ravel()
        alone = [answers.ravel()[at] for at in self.entry]
        total = np.zeros(len(self.felt) ** 2 if self.is_dense else len(self.rows))
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


def felt_links(slopes: Slopes) -> NDArray[np.bool_]:
    """Return which links change what another link gets, shape (links,)."""
    n = len(slopes.own)
    answers, thinned = slopes.by_link
    strength = np.zeros(n + 1)
    for hop, row in enumerate(slopes.paths):
        size = np.abs(answers[hop])
        if thinned is not None:
            size += thinned[hop]
        strength += np.bincount(row, weights=size, minlength=n + 1)
    return np.asarray(strength[:n] > UNFELT * np.abs(slopes.own))


def make_couples(paths: Ints, felt: NDArray[np.bool_]) -> Couples:
    """Return the entries for paths of shape (hops, paths) and these links, shape (links,)."""
    links = np.flatnonzero(felt)
    number = np.full(len(felt) + 1, -1, dtype=np.int64)
    number[links] = np.arange(len(links))
    entry = _by_place(number[paths] >= 0)
    at = [number[paths.ravel()[each]] for each in entry]
    m = len(links)
    keys = [_keys(row, at, m) for row in at]
    if m <= MOST_DENSE:
        none = np.zeros(0, dtype=np.int64)
        return Couples(links, entry, keys, none, none, np.arange(m) * (m + 1))
    ends, every_key = np.cumsum([len(each) for each in keys])[:-1], np.concatenate(keys)
    del keys  # as long as all the rest
    every, place = _numbered(every_key, m * m)
    starts = np.searchsorted(every, np.arange(m + 1) * m)
    diagonal = np.searchsorted(every, np.arange(m) * (m + 1))
    return Couples(links, entry, np.split(place, ends), every % m, starts, diagonal)


def _numbered(keys: Ints, end: int) -> tuple[Ints, Ints]:
    """Return the distinct keys below `end` in order, and the number of each key among them."""
    if end > _MOST_TABLE:
        every, number = np.unique(keys, return_inverse=True)
        return every, number
    table = np.zeros(end, dtype=np.int32)  # many times quicker than sorting
    table[keys] = 1
    every = np.flatnonzero(table)
    table[every] = np.arange(len(every))
    return every, table[keys].astype(np.int64)


def _keys(row: Ints, at: list[Ints], links: int) -> Ints:
    """Return row plus column times links, of a place and every place, for paths that have both.

    Paths are sorted by their number of places, so that the shorter list is the start of the longer.
    """
    n = [min(len(row), len(each)) for each in at]
    return np.concatenate([row[:m] + each[:m] * links for m, each in zip(n, at, strict=True)])


def _by_place(felt: NDArray[np.bool_]) -> list[Ints]:
    """Return indices into (hops, paths) of the first, second, ... felt link of each path."""
    count = felt.sum(axis=0)
    order = np.argsort(-count, kind="stable")
    rank = np.cumsum(felt, axis=0, dtype=np.int16)
    paths = felt.shape[1]
    hops, path = np.nonzero(felt)
    rank = rank[hops, path] - 1
    found = []
    for place in range(int(count.max(initial=0))):
        mine = rank == place
        hop_of = np.zeros(paths, dtype=np.int64)
        hop_of[path[mine]] = hops[mine]
        having = order[: int(np.count_nonzero(count > place))]
        found.append(hop_of[having] * paths + having)
    return found
