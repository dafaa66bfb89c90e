"""A Newton step: solved for the coupled links; the other links follow from their load.

A link is coupled if its state affects the rates of paths; one far from full is not. See "The
solver" in docs/explanation/network.md.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.linalg import LinearOperator, gmres, spilu, splu

from forebay.topology.graph import Floats, Ints, sums


def sparse_paths(paths: Ints, values: Floats, links: int) -> Any:
    """Return values of shape (hops, paths) as a sparse matrix, shape (links, paths)."""
    crossed = (paths < links).T
    ends = np.concatenate([[0], np.cumsum(crossed.sum(axis=1))])
    return csc_array(
        (values.T[crossed], paths.T[crossed], ends), shape=(links, paths.shape[1])
    ).tocsr()


@dataclass(frozen=True, eq=False)
class Crossings:
    """Which links paths cross, and how exposed they are to losses there.

    Attributes
    ----------
    paths : shape (hops, paths), links, the number of links beyond the last.
    incidence : sparse, shape (links, paths), 1 where a path crosses a link.
    heard : same shape, the loss events there over the link's loss; ``events`` is the same by hop.
    events, packets : shape (hops, paths), loss events and lost packets over the link's loss;
        ``packets`` is None if losses do not reduce the load of later links.
    """

    paths: Ints
    incidence: Any
    heard: Any
    events: Floats
    packets: Floats | None


@dataclass(frozen=True, eq=False)
class Slopes(Crossings):
    """The Jacobian of the residual, as a product with vectors and as a matrix.

    Attributes
    ----------
    passing : shape (hops, paths), a path's share of the load of each of its links.
    elastic : shape (paths,), share of the path's rate that responds to loss and delay.
    by_hazard, by_wait : shape (paths,), d log rate of a path / d hazard, d wait.
    hazard, wait : shape (links,), d hazard, d wait of a link / d s.
    own : shape (links,), d log load / d s of the link's own state.
    """

    passing: Floats
    elastic: Floats
    by_hazard: Floats
    by_wait: Floats
    hazard: Floats
    wait: Floats
    own: Floats

    def times(self, v: Floats) -> Floats:
        """Return the matrix times a vector, without forming the matrix."""
        n, hazard = len(self.own), self.hazard * v
        change = self.by_hazard * (self.heard.T @ hazard)
        change += self.by_wait * (self.incidence.T @ (self.wait * v))
        change *= self.elastic
        felt, total = np.append(hazard, 0.0), np.zeros(n + 1)
        for hop, row in enumerate(self.paths):
            if self.packets is not None:
                change = change - self.packets[hop] * felt[row]
            total += np.bincount(row, weights=self.passing[hop] * change, minlength=n + 1)
        return total[:n] - self.own * v

    @cached_property
    def by_link(self) -> tuple[Floats, Floats | None]:
        """Return d log(sent rate) / d s and -d log(kept share) / d s, for each link on each path.

        Shapes (hops, paths); 0 beyond the last link. The second is None if no traffic is thinned.
        """
        hazard, wait = np.append(self.hazard, 0.0), np.append(self.wait, 0.0)
        felt = hazard[self.paths]
        answers = self.elastic * (
            self.by_hazard * self.events * felt + self.by_wait * wait[self.paths]
        )
        return answers, None if self.packets is None else self.packets * felt

    def diagonal(self) -> Floats:
        """Return the matrix's diagonal."""
        n, (answers, thinned) = len(self.own), self.by_link
        change = answers if thinned is None else answers - thinned
        return sums(self.paths, self.passing * change, n + 1)[:n] - self.own

    def dense(self) -> Floats:
        """Return the matrix, shape (links, links)."""
        n = len(self.own)
        brought = sparse_paths(self.paths, self.passing, n)
        matrix = (brought @ (self.heard * (self.elastic * self.by_hazard)).T).toarray()
        matrix *= self.hazard
        waiting = self.incidence * (self.elastic * self.by_wait)
        matrix += (brought @ waiting.T).toarray() * self.wait
        if self.packets is not None:  # a link's loss lessens its own load and that of later links
            keys, weights = [], []
            for later, row in enumerate(self.paths):
                for hop in range(later + 1):
                    keys.append(row * np.int64(n + 1) + self.paths[hop])
                    weights.append(self.passing[later] * self.packets[hop])
            lessened = np.bincount(np.concatenate(keys), np.concatenate(weights), (n + 1) ** 2)
            matrix -= lessened.reshape(n + 1, n + 1)[:n, :n] * self.hazard
        matrix[np.diag_indices(n)] -= self.own
        return np.asarray(matrix)


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
            changes = both[: later + 1] + alone[later + 1 :]
            parts = [through[: len(change)] * change[: len(at)] for change in changes]
            total += np.bincount(place, weights=np.concatenate(parts), minlength=len(total))
        return total


def coupled_links(slopes: Slopes) -> NDArray[np.bool_]:
    """Return which links affect the load of another link, shape (links,)."""
    n = len(slopes.own)
    answers, thinned = slopes.by_link
    size = np.abs(answers) if thinned is None else np.abs(answers) + thinned
    return np.asarray(sums(slopes.paths, size, n + 1)[:n] > UNCOUPLED * np.abs(slopes.own))


def make_pattern(paths: Ints, coupled: NDArray[np.bool_]) -> Pattern:
    """Return the pattern for paths of shape (hops, paths) and these links, shape (links,)."""
    links = np.flatnonzero(coupled)
    number = np.full(len(coupled) + 1, -1, dtype=np.int64)
    number[links] = np.arange(len(links))
    entry = _by_place(number[paths] >= 0)
    at = [number[paths.ravel()[indices]] for indices in entry]
    m = len(links)
    # Paths are sorted by their number of places, so of two lists the shorter starts the longer.
    keys = [
        np.concatenate([row[: len(other)] + other[: len(row)] * m for other in at]) for row in at
    ]
    if m <= MOST_DENSE:
        none = np.zeros(0, dtype=np.int64)
        return Pattern(links, entry, keys, none, none, np.arange(m) * (m + 1))
    ends, every_key = np.cumsum([len(key) for key in keys])[:-1], np.concatenate(keys)
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


def _by_place(coupled: NDArray[np.bool_]) -> list[Ints]:
    """Return indices into (hops, paths) of the first, second, ... coupled link of each path."""
    count = coupled.sum(axis=0)
    order = np.argsort(-count, kind="stable")
    rank = np.cumsum(coupled, axis=0, dtype=np.int16)
    paths = coupled.shape[1]
    hops, path = np.nonzero(coupled)
    rank = rank[hops, path] - 1
    indices = []
    for place in range(int(count.max(initial=0))):
        mine = rank == place
        hop_of = np.zeros(paths, dtype=np.int64)
        hop_of[path[mine]] = hops[mine]
        having = order[: int(np.count_nonzero(count > place))]
        indices.append(hop_of[having] * paths + having)
    return indices


DIRECT = 1200
"""Largest number of coupled links for which the system is solved directly."""
_LARGE = 3e-3  # of the largest entry in a column
_KEPT = 10  # entries a link; with more, their ordering takes longer than all other steps
_DROP, _FILL = 1e-2, 8.0
_PRECISE, _RESTART, _ROUNDS = 1e-6, 50, 2
_FEWER = 0.8  # of the coupled links: for so much smaller a matrix, the pattern is computed again


class Linear:
    """Solves the Newton steps of one network."""

    def __init__(self, paths: Ints) -> None:
        self.paths = paths
        self._pattern: Pattern | None = None
        self._factors: _Factors | None = None

    def step(self, slopes: Slopes, left: Floats, damping: Floats) -> Floats:
        """Solve (damping - J) step = left, all of shape (links,)."""
        pattern = self._found(slopes)
        coupled, step = pattern.links, np.zeros(len(left))
        own = slopes.own[coupled] + damping[coupled]
        if len(coupled):
            step[coupled] = self._solved(pattern, pattern.values(slopes), own, left[coupled])
        rest = (left + slopes.times(step)) / (damping + slopes.own)
        rest[coupled] = step[coupled]
        return rest

    def jacobian(self, slopes: Slopes, most: int) -> tuple[Ints, Floats] | None:
        """Return the coupled links, and J among them; None for more than `most`."""
        pattern = self._found(slopes)
        n = len(pattern.links)
        if n > min(most, MOST_DENSE):
            return None
        matrix = pattern.values(slopes).reshape(n, n).T.copy()
        matrix[np.diag_indices(n)] -= slopes.own[pattern.links]
        return pattern.links, matrix

    def _found(self, slopes: Slopes) -> Pattern:
        """Return the pattern; that of an earlier step if it has all coupled links."""
        coupled = coupled_links(slopes)
        known = np.zeros(len(coupled), dtype=bool)
        if self._pattern is not None:
            known[self._pattern.links] = True
        enough = coupled.sum() >= _FEWER * known.sum()
        if self._pattern is None or (coupled & ~known).any() or not enough:
            self._pattern = make_pattern(self.paths, coupled | known if enough else coupled)
            self._factors = None
        return self._pattern

    def _solved(self, pattern: Pattern, values: Floats, own: Floats, left: Floats) -> Floats:
        if pattern.is_dense:
            matrix = -values.reshape(len(own), len(own)).T
            matrix[np.diag_indices(len(own))] += own
            scale = 1.0 / np.maximum(np.abs(matrix).max(axis=0, initial=0.0), 1e-300)
            return np.asarray(scale * _lu_solved(matrix * scale, left))  # links differ widely
        values = -values
        values[pattern.diagonal] += own
        scale = 1.0 / np.maximum(np.maximum.reduceat(np.abs(values), pattern.starts[:-1]), 1e-300)
        values *= np.repeat(scale, np.diff(pattern.starts))
        whole = csc_array((values, pattern.rows, pattern.starts), shape=(len(own), len(own)))
        if len(left) <= DIRECT:
            return np.asarray(scale * _lu_solved(whole, left))
        return np.asarray(scale * self._krylov_solved(whole, scale, left))

    def _krylov_solved(self, whole: Any, scale: Floats, left: Floats) -> Floats:
        if self._factors is not None:
            near = self._factors.near(scale)
        else:  # converges if links hardly share connections
            near = _divided_by(whole.diagonal())
        answer, failed = _krylov(whole, left, near)
        if failed:
            self._factors = _factors(whole, scale)
            if self._factors is not None:
                answer, _ = _krylov(whole, left, self._factors.near(scale))
        return answer


class _Factors(NamedTuple):
    """An incomplete factorization of a matrix with scaled columns."""

    solve: Callable[[Floats], Floats]
    scale: Floats

    def near(self, scale: Floats) -> Callable[[Floats], Floats]:
        """Return the solution operator for columns with another scale."""
        ratio = self.scale / scale
        return lambda v: np.asarray(ratio * self.solve(v))


def _factors(whole: Any, scale: Floats) -> _Factors | None:
    """Return the factors of the large entries, None if they are exactly singular."""
    large, size = whole.copy(), np.abs(whole.data)
    if len(size) > (kept := _KEPT * len(scale)):
        size[size < np.partition(size, -kept)[-kept]] = 0.0
    large.data[size < _LARGE] = 0.0
    large.eliminate_zeros()
    try:
        near = spilu(large, permc_spec="MMD_AT_PLUS_A", drop_tol=_DROP, fill_factor=_FILL)
    except RuntimeError:  # the caller keeps the step of the diagonal preconditioner
        return None
    return _Factors(near.solve, scale)


def _lu_solved(whole: Any, left: Floats) -> Floats:
    """Solve directly. Exactly singular: far beyond full, a link's state has no effect."""
    with suppress(RuntimeError, np.linalg.LinAlgError):
        if isinstance(whole, np.ndarray):
            return np.asarray(np.linalg.solve(whole, left))
        return np.asarray(splu(whole).solve(left))
    dense = whole if isinstance(whole, np.ndarray) else whole.toarray()
    return np.asarray(np.linalg.lstsq(dense, left, rcond=1e-12)[0])


def _divided_by(diagonal: Floats) -> Callable[[Floats], Floats]:
    kept = np.where(np.abs(diagonal) > 1e-12, diagonal, 1.0)
    return lambda v: v / kept


def _krylov(matrix: Any, left: Floats, near: Callable[[Floats], Floats]) -> tuple[Floats, int]:
    """Return the solution, and 0 if it reached the precision."""
    given = LinearOperator(matrix.shape, matvec=near, dtype=np.float64)
    answer, failed = gmres(matrix, left, M=given, rtol=_PRECISE, restart=_RESTART, maxiter=_ROUNDS)
    return np.asarray(answer), int(failed)
