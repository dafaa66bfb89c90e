"""Whether the equations determine the steady state, from their Jacobian there.

Suppose that every connection crosses one full link of a first set and one of a second. Both sets
then carry the same total, so one equation follows from the others: loss or queue may move from one
set to the other, and several steady states exist. The Jacobian is singular, or so close to it that
different states have residuals that the solver accepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forebay.engines.fixed_point.solver import Solution

MOST_LINKS = 600
"""Largest number of coupled links for this test: its cost is the cube of their number."""
_SINGULAR = 1e-6
"""Relative. With a smaller singular value a residual of 1e-9 allows a step of 1e-3 or more."""
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """The directions in which the equations do not determine the state.

    Attributes
    ----------
    open_directions : number of independent directions in which the residuals hardly change;
        0 if no other steady state is near.
    links : names of the links that change most in these directions.
    """

    open_directions: int
    links: tuple[str, ...]


def uniqueness(solution: Solution) -> Uniqueness | None:
    """Return the directions that are not determined; None for too many links."""
    balance = solution.balance
    slopes = balance.slopes(solution.s, solution.state, solution.flow)
    found = balance.linear.jacobian(slopes, MOST_LINKS)
    if found is None:
        return None
    coupled, matrix = found
    if not len(coupled):
        return Uniqueness(0, ())
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    squares, directions = np.linalg.eigh(matrix.T @ matrix)
    small = squares < _SINGULAR**2
    moved = np.abs(directions[:, small]).max(axis=1, initial=0.0)
    most = np.argsort(-moved, kind="stable")[: _NAMED if small.any() else 0]
    names = balance.problem.graph.link_names
    return Uniqueness(int(small.sum()), tuple(names[balance.used[coupled[link]]] for link in most))
