"""The solver of the steady state. It returns a state only if its residual is small enough.

`approach` finds a state near it, and `descent` converges to it. If that fails, `continuation` is
tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from forebay.engines.fixed_point.approach import approach
from forebay.engines.fixed_point.balance import Balance, Flow
from forebay.engines.fixed_point.continuation import continue_from_wide
from forebay.engines.fixed_point.descent import Point, descend, point
from forebay.engines.fixed_point.errors import NoSteadyState
from forebay.engines.fixed_point.queueing import State
from forebay.topology.graph import Floats

TOLERANCE = 1e-10
"""Relative residual at which the solver stops."""
ACCEPTED = 1e-9
"""Relative residual above which the solver raises NoSteadyState."""

_APPROACH = 30
_MOST_STEPS = 160
_WORST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A steady state, over the links that are used, and its residual.

    Attributes
    ----------
    residual : largest relative difference between a link's load by its connections and the load of
        its state.
    conservation : largest |rate of the connections - rate of the link's state| over the capacity.
    """

    balance: Balance
    s: Floats
    state: State
    flow: Flow
    residual: float
    conservation: float
    steps: int
    cpu_s: float


def solve(
    balance: Balance,
    start: Floats | None = None,
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Find the steady state.

    Parameters
    ----------
    start : shape (links used,), a state to start from; by default each link's fair share.

    Raises
    ------
    NoSteadyState
        The solver did not converge; the error names the links with the largest residuals.
    """
    begun = time.process_time()
    # Far from the steady state a link may overflow; a NaN counts as an infinite residual.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        near = approach(balance, start, _APPROACH, progress)
        found, steps = descend(balance, near, TOLERANCE, _MOST_STEPS, progress)
        if not found.largest < ACCEPTED:
            s, more = continue_from_wide(balance, TOLERANCE, start, progress)
            balance = replace(balance, queueing=balance.queueing.widened(0.0))
            found = point(balance, s)
            steps += more
    return _certified(balance, found, steps, time.process_time() - begun)


def _certified(balance: Balance, found: Point, steps: int, cpu_s: float) -> Solution:
    s, state, flow, left = found.s, found.state, found.flow, found.left
    residual = float(np.max(np.abs(np.expm1(left)), initial=0.0))
    if not residual < ACCEPTED:
        worst = np.argsort(-np.abs(np.nan_to_num(left, nan=np.inf)))[:_WORST]
        names = balance.problem.graph.link_names
        raise NoSteadyState(residual, [names[balance.used[each]] for each in worst])
    apart = np.abs(flow.carried_bps / balance.rate_bps - np.exp(state.log_load))
    return Solution(balance, s, state, flow, residual, float(apart.max(initial=0.0)), steps, cpu_s)
