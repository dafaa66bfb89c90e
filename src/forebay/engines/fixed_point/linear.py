"""A Newton step: solved for the coupled links; the other links follow from their load.

A link is coupled if its state affects the rates of paths. A link that is far from full is not: its
loss and queue stay zero, and its column has only the diagonal entry. A few links are solved
directly, as a dense matrix by LAPACK or a sparse one by SuperLU. Many are solved by GMRES
(SciPy's), preconditioned with the diagonal, and if it does not converge, with an incomplete
factorization of the large entries. Successive matrices are similar, so one factorization serves
many steps. The sparsity pattern also serves many steps (`sparsity`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from forebay.engines.fixed_point.slopes import Slopes
from forebay.engines.fixed_point.sparsity import MOST_DENSE, Pattern, coupled_links, make_pattern
from forebay.topology.graph import Floats, Ints

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
            return _dense_solved(matrix, left)
        values = -values
        values[pattern.diagonal] += own
        scale = 1.0 / np.maximum(np.maximum.reduceat(np.abs(values), pattern.starts[:-1]), 1e-300)
        values *= np.repeat(scale, np.diff(pattern.starts))
        whole = _columns(values, pattern)
        if len(left) <= DIRECT:
            return np.asarray(scale * _lu_solved(whole, left))
        return np.asarray(scale * self._krylov_solved(whole, scale, left))

    def _krylov_solved(self, whole: Any, scale: Floats, left: Floats) -> Floats:
        if self._factors is not None:
            found, failed = _krylov(whole, left, self._factors.near(scale))
        else:  # converges if links hardly share connections
            found, failed = _krylov(whole, left, _divided_by(whole.diagonal()))
        if failed:
            self._factors = _factors(whole, scale)
            if self._factors is not None:
                found, _ = _krylov(whole, left, self._factors.near(scale))
        return found


class _Factors:
    """An incomplete factorization of a matrix with scaled columns."""

    def __init__(self, solve: Callable[[Floats], Floats], scale: Floats) -> None:
        self.solve, self.scale = solve, scale

    def near(self, scale: Floats) -> Callable[[Floats], Floats]:
        """Return the solution operator for columns with another scale."""
        ratio = self.scale / scale
        return lambda v: np.asarray(ratio * self.solve(v))


def _factors(whole: Any, scale: Floats) -> _Factors | None:
    """Return the factors of the large entries, None if they are exactly singular."""
    from scipy.sparse.linalg import spilu

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


def _columns(values: Floats, pattern: Pattern) -> Any:
    from scipy.sparse import csc_array

    shape = (len(pattern.links), len(pattern.links))
    return csc_array((values, pattern.rows, pattern.starts), shape=shape)


def _lu_solved(whole: Any, left: Floats) -> Floats:
    from scipy.sparse.linalg import splu

    try:
        return np.asarray(splu(whole).solve(left))
    except RuntimeError:  # exactly singular: far beyond full, a link's state has no effect
        return np.asarray(np.linalg.lstsq(whole.toarray(), left, rcond=1e-12)[0])


def _dense_solved(matrix: Floats, left: Floats) -> Floats:
    """Columns are scaled, for links differ widely."""
    scale = 1.0 / np.maximum(np.abs(matrix).max(axis=0, initial=0.0), 1e-300)
    try:
        return np.asarray(scale * np.linalg.solve(matrix * scale, left))
    except np.linalg.LinAlgError:  # exactly singular: as in `_lu_solved`
        return np.asarray(scale * np.linalg.lstsq(matrix * scale, left, rcond=1e-12)[0])


def _divided_by(diagonal: Floats) -> Callable[[Floats], Floats]:
    kept = np.where(np.abs(diagonal) > 1e-12, diagonal, 1.0)
    return lambda v: v / kept


def _krylov(matrix: Any, left: Floats, near: Callable[[Floats], Floats]) -> tuple[Floats, int]:
    """Return the solution, and 0 if it reached the precision."""
    from scipy.sparse.linalg import LinearOperator, gmres

    given = LinearOperator(matrix.shape, matvec=near, dtype=np.float64)
    found, failed = gmres(matrix, left, M=given, rtol=_PRECISE, restart=_RESTART, maxiter=_ROUNDS)
    return np.asarray(found), int(failed)
