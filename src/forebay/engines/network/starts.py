"""Whether a network has one steady state: the solver again, from random states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forebay.engines.network.errors import NoSteadyState
from forebay.engines.network.solver import Solution, solve

_ALIKE = 1e-6
_SEED = 1


@dataclass(frozen=True, slots=True)
class FixedPoints:
    """What random starts came to.

    Attributes
    ----------
    starts : how many there were. not_at_rest : those from which the solver found no rest.
    points : distinct steady states, the first solution among them: paths' rates (relative) or
        links' loss rates (absolute) differ by more than 1e-6.
    rate_difference : largest, of a path's rate, relative to the smaller.
    loss_difference : largest, of a link's loss rate.
    residual : the largest of all.
    """

    starts: int
    not_at_rest: int
    points: int
    rate_difference: float
    loss_difference: float
    residual: float


def fixed_points(first: Solution, starts: int) -> FixedPoints:
    """Solve again from random states: queues up to the buffer, links from idle to full."""
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
    """Return by how much rates of paths (relative to the smaller) and losses of links differ."""
    rates = np.log(one.flow.sent_bps) - np.log(other.flow.sent_bps)
    losses = np.exp(one.state.log_loss) - np.exp(other.state.log_loss)
    return float(np.expm1(np.abs(rates).max(initial=0.0))), float(np.abs(losses).max(initial=0.0))
