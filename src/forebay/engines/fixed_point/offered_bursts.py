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
    from forebay.topology import Problem
    from forebay.topology.graph import Floats

_LOADS = 1000
"""Loads are rounded up to one part of so many: 100,000 links have few different ones then."""


class OfferedBursts:
    """The bursts at every link of a network; they do not depend on its buffers."""

    def __init__(self, scenario: Scenario, problem: Problem) -> None:
        bps = [0.0] * len(scenario.traffic)
        for kind in problem.kinds:
            bps[kind.traffic] += kind.offered_bps
        bursts = slow_start_bursts(scenario, bps)
        load = problem.offered_bps / problem.graph.rate_bps
        # A link that is offered its rate or more loses by overload, which the steady state has.
        self._below = (load > 0.0) & (load < FULL) & (bursts is not None)
        rounded = np.ceil(_LOADS * load[self._below]) / _LOADS
        distinct, place = np.unique(
            np.where(rounded < 1.0, rounded, load[self._below]), return_inverse=True
        )
        self._exponent, self._factor = np.empty((2, len(place)))
        if bursts is not None and len(distinct):
            self._exponent = effective_bandwidth.kappa(distinct, bursts, Order.FULL)[place]
            self._factor = effective_bandwidth.prefactor(distinct, bursts, Order.FULL)[place]

    def loss(self, solution: Solution) -> Floats:
        """Return each link's loss, shape (links,) as ``balance.used``: the larger of the two."""
        lost = np.exp(solution.state.log_loss)
        return np.maximum(lost, self._exceeded(solution))

    def note(self, solution: Solution) -> str | None:
        """Return what a link's loss counts beside the steady state's; None if nothing."""
        exceeded = self._exceeded(solution)
        more = exceeded > np.maximum(2.0 * np.exp(solution.state.log_loss), 1e-6)
        if not more.any():
            return None
        worst = int(np.argmax(np.where(more, exceeded, 0.0)))
        name = solution.balance.problem.graph.link_names[solution.balance.used[worst]]
        return (
            "bursts of short flows: a link's loss is the probability that they exceed its buffer, "
            f"{exceeded[worst]:.2g} at {name} (Appenzeller et al. 2004, appendix C); the loss of "
            "paths and classes leaves it out; simulation has bursts"
        )

    def _exceeded(self, solution: Solution) -> Floats:
        """Return the probability that bursts exceed the buffer; 0 without short flows."""
        problem, used = solution.balance.problem, solution.balance.used
        every = np.zeros(len(self._below))
        buffer = problem.buffer_packets[self._below]
        every[self._below] = np.minimum(self._factor * np.exp(-self._exponent * buffer), 1.0)
        return np.asarray(every[used])
