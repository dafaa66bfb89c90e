"""Loss by the bursts of short flows, which the steady state takes for a steady load.

A short flow sends the bursts of slow start. Where bursts arrive independently at a load rho, an
unlimited queue exceeds the buffer with a probability P: `effective_bandwidth.tail` (Appenzeller et
al. 2004, appendix C), and rho at most. A limited one loses (1 - rho) P / (1 - rho P): exact for
M/M/1, and within a factor of two of simulation for files that end in slow start (compared in
tests/topology/test_offered_bursts.py). Longer files slow down and lose less, and so do packets
that crossed an equally slow link before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.laws import effective_bandwidth
from forebay.laws.burst_traffic import slow_start_bursts
from forebay.laws.effective_bandwidth import Order

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.scenario import Scenario
    from forebay.topology import Problem
    from forebay.topology.graph import Floats

_LOADS = 1000
"""Loads are rounded up to one part of so many: 100,000 links have few different ones then."""
_MOST_LOAD = 0.999
"""More has no stationary queue; the loss of overload is that of the steady state."""


class OfferedBursts:
    """The bursts at every link of a network; they do not depend on its buffers."""

    def __init__(self, scenario: Scenario, problem: Problem) -> None:
        bps = [0.0] * len(scenario.traffic)
        for kind in problem.kinds:
            bps[kind.traffic] += kind.offered_bps
        bursts = slow_start_bursts(scenario, bps)
        loads = np.ceil(_LOADS * problem.offered_bps / problem.graph.rate_bps) / _LOADS
        self._load = np.minimum(loads, _MOST_LOAD) if bursts else np.zeros_like(loads)
        self._exponent, self._factor = np.zeros((2, loads.size))
        self._crossed = self._load > 0.0
        if bursts and self._crossed.any():
            distinct, place = np.unique(self._load[self._crossed], return_inverse=True)
            exponent = effective_bandwidth.kappa(distinct, bursts, Order.FULL)
            factor = effective_bandwidth.prefactor(distinct, bursts, Order.FULL)
            self._exponent[self._crossed] = exponent[place]
            self._factor[self._crossed] = factor[place]

    def loss(self, solution: Solution) -> Floats:
        """Return each link's loss, shape (links,) as ``balance.used``: the larger of the two."""
        lost = np.exp(solution.state.log_loss)
        return np.maximum(lost, self._of_bursts(solution))

    def note(self, solution: Solution) -> str | None:
        """Return what a link's loss counts beside the steady state's; None if nothing."""
        bursts = self._of_bursts(solution)
        more = bursts > np.maximum(2.0 * np.exp(solution.state.log_loss), 1e-6)
        if not more.any():
            return None
        worst = int(np.argmax(np.where(more, bursts, 0.0)))
        name = solution.balance.problem.graph.link_names[solution.balance.used[worst]]
        return (
            "bursts of short flows: a link's loss is what independent bursts lose, "
            f"{bursts[worst]:.2g} at {name} (Appenzeller et al. 2004, appendix C); the loss of "
            "paths and classes leaves it out; simulation has bursts"
        )

    def _of_bursts(self, solution: Solution) -> Floats:
        """Return what bursts lose at each link of ``balance.used``; 0 without short flows."""
        used = solution.balance.used
        buffer = solution.balance.problem.buffer_packets[used]
        load = self._load[used]
        tail = self._factor[used] * np.exp(-self._exponent[used] * buffer)
        exceeded = np.minimum(tail, load)
        return np.asarray((1.0 - load) * exceeded / (1.0 - load * exceeded))
