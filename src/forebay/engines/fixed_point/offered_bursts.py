"""Loss by the bursts of short flows, which the steady state takes for a steady load.

A short flow sends the bursts of slow start. Bursts that arrive independently exceed a buffer with
the probability of `effective_bandwidth.tail` (Appenzeller et al. 2004, section 4 and appendix C).
Packets that crossed an equally slow link before are spaced more evenly, so behind such a link the
estimate is high.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.laws import effective_bandwidth
from forebay.laws.burst_traffic import slow_start_bursts
from forebay.laws.effective_bandwidth import Order
from forebay.laws.quantities import FULL

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.scenario import Scenario
    from forebay.topology.graph import Floats


def burst_loss(scenario: Scenario, solution: Solution) -> Floats:
    """Return the probability that bursts exceed the buffer, shape (links,) as ``balance.used``.

    It is 0 without short flows, and where the rate or more is offered: the steady state has the
    loss of overload.
    """
    balance = solution.balance
    problem, used = balance.problem, balance.used
    bps = [0.0] * len(scenario.traffic)
    for kind in problem.kinds:
        bps[kind.traffic] += kind.offered_bps
    bursts = slow_start_bursts(scenario, bps)
    exceeded = np.zeros(len(used))
    if bursts is None:
        return exceeded
    load = problem.offered_bps[used] / balance.rate_bps
    below = (load > 0.0) & (load < FULL)
    buffer = problem.buffer_packets[used][below]
    exceeded[below] = np.minimum(
        effective_bandwidth.tail(buffer, load[below], bursts, Order.FULL), 1.0
    )
    return exceeded


def offered_burst_note(scenario: Scenario, solution: Solution) -> str | None:
    """Return what a link's loss counts beside the steady state's; None if nothing."""
    exceeded = burst_loss(scenario, solution)
    lost = np.exp(solution.state.log_loss)
    more = exceeded > np.maximum(2.0 * lost, 1e-6)
    if not more.any():
        return None
    worst = int(np.argmax(np.where(more, exceeded, 0.0)))
    balance = solution.balance
    name = balance.problem.graph.link_names[balance.used[worst]]
    return (
        "bursts of short flows: a link's loss is the probability that they exceed its buffer, "
        f"{exceeded[worst]:.2g} at {name} (Appenzeller et al. 2004, section 4); the loss of paths "
        "and classes leaves it out; simulation has bursts"
    )
