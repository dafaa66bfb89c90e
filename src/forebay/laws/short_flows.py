"""Buffer for short flows by effective bandwidth (paper A, §4, appendix C, Figure 12).

`LAW` uses the second order, as §4 does, and `FULL_LAW` solves the complete alpha(kappa) = C. The
loss rate is approximated by the probability that an unlimited queue reaches the buffer. The goals
of these laws are read here, for `burst_law` too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forebay.laws import completion_time, effective_bandwidth
from forebay.laws.burst_assumptions import BURSTS
from forebay.laws.bursts import BurstTraffic, burst_traffic
from forebay.laws.effective_bandwidth import Order
from forebay.laws.law import Law
from forebay.laws.quantities import FULL

if TYPE_CHECKING:
    from forebay.scenario import Scenario

Buffer = Callable[[float, BurstTraffic], float | None]
"""Returns the packets that the queue exceeds with at most a probability; None if unknown."""


def stable_traffic(scenario: Scenario) -> BurstTraffic | None:
    """Bursts of a scenario that the link can carry; None for other traffic and loads >= 1."""
    traffic = burst_traffic(scenario)
    return traffic if traffic is not None and 0.0 < traffic.load < FULL else None


def probability(scenario: Scenario) -> float | None:
    """P(Q > B) that the goals allow; None without such a goal, or if no law covers it.

    A loss goal is that probability. An `fct_increase` of 12.5 % is Figure 12's 0.025; for other
    increases the paper gives no rule.
    """
    bounds = []
    goals = scenario.goals
    if goals.loss_rate is not None and goals.loss_rate.probability is None:
        bounds.append(float(goals.loss_rate))
    if goals.fct_increase == completion_time.AFCT_INCREASE:
        bounds.append(completion_time.DROP_PROBABILITY)
    least = min(bounds, default=0.0)
    return least if least > 0.0 else None


def packets_by(buffer: Buffer) -> Callable[[Scenario], float | None]:
    """Return a function that computes the buffer for a scenario's goals."""

    def packets(scenario: Scenario) -> float | None:
        traffic, allowed = stable_traffic(scenario), probability(scenario)
        if traffic is None or allowed is None:
            return None
        return 0.0 if allowed >= 1.0 else buffer(allowed, traffic)

    return packets


def of_order(order: Order) -> Buffer:
    """Buffer by effective bandwidth to an order of its series."""
    return lambda allowed, traffic: float(
        effective_bandwidth.buffer_for(allowed, traffic.load, traffic.bursts, order)
    )


def carried(scenario: Scenario) -> float | None:
    """Utilization: the offered load, as long as losses are negligible."""
    traffic = stable_traffic(scenario)
    return None if traffic is None else traffic.load


LAW = Law(
    name="appenzeller-2004/short-flows",
    source="Appenzeller et al. 2004, §4: effective bandwidth to second order",
    packets=packets_by(of_order(Order.SECOND)),
    utilization=carried,
    checks=BURSTS,
)
FULL_LAW = Law(
    name="appenzeller-2004/short-flows-full",
    source="Appenzeller et al. 2004, appendix C, eq. 11 to 13, alpha(kappa) = C solved whole",
    packets=packets_by(of_order(Order.FULL)),
    utilization=carried,
    checks=BURSTS,
)
