"""Links whose buffer is so small that bursts matter, which the steady state does not represent.

Independent bursts of X packets fill a queue of b packets with the
probability exp(-b 2 (1 - rho) / rho E[X] / E[X^2]) at the load rho (Appenzeller et al. 2004,
section 4). Solved for rho, this gives the load at which bursts alone cause the loss of the model.
Packets that cross an equally slow link before are spaced more evenly, so the estimate is low.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.fixed_point.balance import mean_burst
from forebay.engines.fixed_point.solver import Solution
from forebay.laws import effective_bandwidth
from forebay.laws.bursts import slow_start_bursts
from forebay.laws.effective_bandwidth import Order

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.scenario import Scenario
    from forebay.topology import Problem
    from forebay.topology.graph import Floats, Ints


_LEAST_LOSS = 1e-4  # a smaller loss comes from few bursts and determines no load


_APART = 0.02


def burst_load(buffer: Floats, loss: Floats, burst: float) -> Floats:
    """Return the load at which bursts of so many packets overflow a buffer with this loss.

    Parameters
    ----------
    buffer : packets, 1 or more.
    loss : between 0 and 1, without both.
    burst : mean packets of a burst; all are taken as equally long, E[X^2] / E[X].
    """
    return np.asarray(1.0 / (1.0 + burst * np.log(1.0 / loss) / (2.0 * buffer)))


def burst_note(solution: Solution, links: Ints | None = None) -> str | None:
    """Return a note about bursts at these links; None if bursts change little there.

    Parameters
    ----------
    links : indices into ``balance.used``; default: all.
    """
    balance = solution.balance
    loss = np.exp(solution.state.log_loss)
    used = np.minimum(solution.flow.carried_bps / balance.rate_bps, 1.0)
    buffer = balance.problem.buffer_packets[balance.used]
    if not balance.responsive:
        return None
    burst = mean_burst(balance.problem)
    load = burst_load(buffer, np.clip(loss, 1e-300, 1.0 - 1e-12), burst)
    wrong = (loss > _LEAST_LOSS) & (load < used - _APART)
    if links is not None:
        wrong &= np.isin(np.arange(len(wrong)), links)
    if not wrong.any():
        return None
    worst = int(np.argmin(np.where(wrong, load, np.inf)))
    name = balance.problem.graph.link_names[balance.used[worst]]
    n = np.count_nonzero(wrong)
    which = name if n == 1 else f"{n} links, most of all {name}"
    return (
        f"bursts, which the model leaves out, matter at {which}: independent bursts of {burst:.2g} "
        f"packets overflow a buffer of {buffer[worst]:.0f} with this probability "
        f"({loss[worst]:.2%}) at a load of {load[worst]:.0%}, but the model has {used[worst]:.0%}; "
        "simulation has bursts"
    )


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
