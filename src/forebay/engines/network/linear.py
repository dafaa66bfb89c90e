"""The linear system of a Newton step: dense for small networks, reduced and sparse for large ones.

A link is coupled if its state affects the rates of paths. A link that is far from full is not: its
loss and queue stay zero, and its column has only the diagonal entry. The system is solved for the
coupled links, directly if they are few, else by GMRES. GMRES is preconditioned with the diagonal,
and if it does not converge, with an incomplete factorization of the large entries (both SciPy's).
The other links follow from their load. Cost and memory grow at most with the number of paths times
the square of the coupled links of a path. If a small network's `Couples` fit into memory, its whole
matrix is solved by LAPACK; the places of the entries are then computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from forebay.engines.network.slopes import Slopes
from forebay.network.graph import Floats, Ints

DIRECT = 1200
"""Largest number of coupled links for which the system is solved directly."""
_UNFELT = 1e-12  # of a link's own slope
_LARGE = 3e-3  # of the largest entry in a column
_KEPT = 10  # entries a link; with more, their ordering takes longer than all other steps
_DROP, _FILL = 1e-2, 8.0
_PRECISE, _RESTART, _ROUNDS = 1e-6, 50, 2


def newton_step(slopes: Slopes, left: Floats, damping: Floats) -> Floats:
    """Solve (damping - J) step = left, all of shape (links,)."""
    if slopes.couples is not None and len(left) <= DIRECT:
        matrix = -slopes.couples.matrix(slopes)
        matrix[np.diag_indices(len(left))] += damping
        return _dense_solved(matrix, left)
    felt, matrix = reduced(slopes)
    step = np.zeros(len(left))
    if len(felt):
        step[felt] = _solved(matrix, damping[felt], left[felt])
    rest = (left + slopes.times(step)) / (damping + slopes.own)
    rest[felt] = step[felt]
    return rest


def reduced(slopes: Slopes) -> tuple[Ints, Any]:
    """Return the coupled links, and -J restricted to them, sparse."""
    from scipy.sparse import coo_array, diags_array

    n = len(slopes.own)
    answers, thinned = slopes.by_link()
    strength = np.zeros(n + 1)
    for row, each in zip(slopes.paths, np.abs(answers) + np.abs(thinned), strict=True):
        strength += np.bincount(row, weights=each, minlength=n + 1)
    felt = np.flatnonzero(strength[:n] > _UNFELT * np.abs(slopes.own))
    number = np.full(n + 1, -1, dtype=np.int32)
    number[felt] = np.arange(len(felt))
    at, passing, answers, thinned = _packed(number[slopes.paths], slopes.passing, answers, thinned)
    entries = [(np.zeros(0), felt[:0], felt[:0])]
    for later, row in enumerate(at):
        for hop, column in enumerate(at):
            both = np.flatnonzero((row if later > hop else column) >= 0)  # packed: then both are
            change = answers[hop, both]
            if hop <= later:
                change = change - thinned[hop, both]
            entries.append((passing[later, both] * change, row[both], column[both]))
    data, rows, columns = (np.concatenate(each) for each in zip(*entries, strict=True))
    brought = coo_array((data, (rows, columns)), shape=(len(felt), len(felt))).tocsc()
    return felt, (diags_array(slopes.own[felt]) - brought).tocsc()


def _packed(at: Any, *values: Floats) -> tuple[Any, ...]:
    """Move the entries of each column up over links that are not coupled (-1)."""
    real = at >= 0
    place = np.cumsum(real, axis=0) - 1
    rows, columns = np.nonzero(real)
    to = place[rows, columns]
    shape = (int(to.max(initial=-1)) + 1, at.shape[1])
    made = [np.full(shape, -1, dtype=at.dtype), *(np.zeros(shape) for _ in values)]
    for new, old in zip(made, (at, *values), strict=True):
        new[to, columns] = old[rows, columns]
    return tuple(made)


def _dense_solved(matrix: Floats, left: Floats) -> Floats:
    """Columns are scaled, for links differ widely."""
    scale = 1.0 / np.maximum(np.abs(matrix).max(axis=0, initial=0.0), 1e-300)
    try:
        return np.asarray(scale * np.linalg.solve(matrix * scale, left))
    except np.linalg.LinAlgError:  # exactly singular: as in `_solved`
        return np.asarray(scale * np.linalg.lstsq(matrix * scale, left, rcond=1e-12)[0])


def _solved(matrix: Any, damping: Floats, left: Floats) -> Floats:
    """Solve (damping + matrix) step = left; columns are scaled, because links differ widely."""
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import spilu, splu

    whole = (matrix + diags_array(damping)).tocsc()
    scale = 1.0 / np.maximum(abs(whole).max(axis=0).toarray().ravel(), 1e-300)
    whole = (whole @ diags_array(scale)).tocsc()
    if len(left) <= DIRECT:
        try:
            return np.asarray(scale * splu(whole).solve(left))
        except RuntimeError:  # exactly singular: far beyond full, a link's state has no effect
            return np.asarray(scale * np.linalg.lstsq(whole.toarray(), left, rcond=1e-12)[0])
    found, failed = _krylov(whole, left, _divided_by(whole.diagonal()))
    if failed:  # the diagonal suffices only if links hardly share connections
        large, size = whole.copy(), np.abs(whole.data)
        if len(size) > (kept := _KEPT * len(left)):
            size[size < np.partition(size, -kept)[-kept]] = 0.0
        large.data[size < _LARGE] = 0.0
        large.eliminate_zeros()
        try:
            near = spilu(large, permc_spec="MMD_AT_PLUS_A", drop_tol=_DROP, fill_factor=_FILL)
        except RuntimeError:  # exactly singular: use the step of the diagonal preconditioner
            return np.asarray(scale * found)
        found, _ = _krylov(whole, left, near.solve)
    return np.asarray(scale * found)


def _divided_by(diagonal: Floats) -> Callable[[Floats], Floats]:
    kept = np.where(np.abs(diagonal) > 1e-12, diagonal, 1.0)
    return lambda v: v / kept


def _krylov(matrix: Any, left: Floats, near: Callable[[Floats], Floats]) -> tuple[Floats, int]:
    """Return the solution, and 0 if it reached the precision."""
    from scipy.sparse.linalg import LinearOperator, gmres

    given = LinearOperator(matrix.shape, matvec=near, dtype=np.float64)
    found, failed = gmres(matrix, left, M=given, rtol=_PRECISE, restart=_RESTART, maxiter=_ROUNDS)
    return np.asarray(found), int(failed)
