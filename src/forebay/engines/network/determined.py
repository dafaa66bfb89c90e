"""Whether the equations determine the steady state, from their Jacobian there.

If every connection crosses one full link of a first set and one of a second, both sets carry the
same total, so one equation follows from the others: loss or queue may move from one set to the
other, and several steady states exist. The Jacobian is then singular, or so nearly that states
apart have residuals that the solver accepts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forebay.engines.network.solver import Solution

MOST_LINKS = 600
"""Links that others feel, up to which this is looked at: its cost is the cube of their number."""
_SINGULAR = 1e-6
"""A residual of 1e-9 then leaves 1e-3 of a step that changes some link's load by its whole."""
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Determined:
    """What the equations leave open.

    Attributes
    ----------
    open_directions : number of independent ways to move along which the equations hardly change;
        0 if this is the only steady state near.
    links : names of the links that move most.
    """

    open_directions: int
    links: tuple[str, ...]


def determined(solution: Solution) -> Determined | None:
    """Return what the equations leave open; None for too many links."""
    balance = solution.balance
    slopes = balance.slopes(solution.s, solution.state, solution.flow)
    found = balance.linear.jacobian(slopes, MOST_LINKS)
    if found is None:
        return None
    felt, matrix = found
    if not len(felt):
        return Determined(0, ())
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    squares, directions = np.linalg.eigh(matrix.T @ matrix)
    small = squares < _SINGULAR**2
    moved = np.abs(directions[:, small]).max(axis=1, initial=0.0)
    most = np.argsort(-moved, kind="stable")[: _NAMED if small.any() else 0]
    names = balance.problem.graph.link_names
    return Determined(int(small.sum()), tuple(names[balance.used[felt[link]]] for link in most))
