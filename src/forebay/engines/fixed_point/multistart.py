"""Tests whether a network has one steady state, by solving it again from random states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.fixed_point.errors import NoSteadyState
from forebay.engines.fixed_point.solver import Solution, solve

if TYPE_CHECKING:
    pass


_ALIKE = 1e-6


_SEED = 1


@dataclass(frozen=True, slots=True)
class FixedPoints:
    """Steady states found from random starts.

    Attributes
    ----------
    starts : number of random starts.
    not_converged : number of starts from which the solver did not converge.
    points : number of distinct steady states, including the first solution. Two are distinct if
        a path's rate (relative) or a link's loss rate (absolute) differs by more than 1e-6.
    rate_difference : largest difference of a path's rate, relative to the smaller.
    loss_difference : largest difference of a link's loss rate.
    residual : largest residual of all solutions.
    """

    starts: int
    not_converged: int
    points: int
    rate_difference: float
    loss_difference: float
    residual: float


def fixed_points(first: Solution, starts: int) -> FixedPoints:
    """Solve again from `starts` random states: queues up to the buffer, links from idle to full."""
    random = np.random.default_rng(_SEED)
    balance, found, lost = first.balance, [first], 0
    rate = loss = 0.0
    residual = first.residual
    for _ in range(starts):
        start = balance.queueing.start() * random.uniform(-0.2, 2.0, len(first.s))
        try:
            again = solve(balance, start)
        except NoSteadyState:
            lost += 1
            continue
        apart = [_apart(again, other) for other in found]
        rate = max(rate, *(each[0] for each in apart))
        loss = max(loss, *(each[1] for each in apart))
        residual = max(residual, again.residual)
        if min(max(each) for each in apart) > _ALIKE:
            found.append(again)
    return FixedPoints(starts, lost, len(found), rate, loss, residual)


def _apart(one: Solution, other: Solution) -> tuple[float, float]:
    """Return the largest differences of rates, relative to the smaller, and of links' losses."""
    rates = np.log(one.flow.sent_bps) - np.log(other.flow.sent_bps)
    losses = np.exp(one.state.log_loss) - np.exp(other.state.log_loss)
    return float(np.expm1(np.abs(rates).max(initial=0.0))), float(np.abs(losses).max(initial=0.0))
