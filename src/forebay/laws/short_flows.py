"""Buffer for short flows by effective bandwidth (paper A, §4, appendix C, Figure 12).

`LAW` uses the second order, as §4 does, and `FULL_LAW` solves the complete alpha(kappa) = C. The
loss rate is approximated by the probability that an unlimited queue reaches the buffer. The goals
of these laws are read here, for `burst_law` too, and so are the assumptions of all laws of bursts
(paper A, §4): each check returns how a scenario breaks it.
"""

from collections.abc import Callable

import numpy as np

from forebay.catalogue import KINDS
from forebay.laws import completion_time, effective_bandwidth
from forebay.laws.assumptions import drop_tail, one_way
from forebay.laws.bursts import BurstTraffic, burst_traffic, flow_lengths
from forebay.laws.effective_bandwidth import Order
from forebay.laws.law import Law
from forebay.laws.quantities import FULL, paced
from forebay.scenario import Scenario, Short, Transfers
from forebay.words import Fact

SLOW_START_ENDS = 90
"""Shorter flows never leave slow start (§4), with the receiver windows of that time."""
_MATTERS = 0.1
_FAST_ACCESS = 10.0
_DRAWN = 10_000


def _short(scenario: Scenario) -> list[Short]:
    return [group for group in scenario.crossing if isinstance(group, Short)]


def only_bursts(scenario: Scenario) -> Fact | None:
    """All traffic is flows in slow start, datagrams, or flows that cannot fill the link."""
    return None if burst_traffic(scenario) is not None else Fact("broken.only-bursts")


def stable_load(scenario: Scenario) -> Fact | None:
    """The offered load is below the capacity."""
    traffic = burst_traffic(scenario)
    if traffic is None or traffic.load < FULL:
        return None
    return Fact("broken.stable-load", load=traffic.load)


def in_slow_start(scenario: Scenario) -> Fact | None:
    """The flows end before they leave slow start."""
    for group in _short(scenario):
        lengths, weights = flow_lengths(group.length, int(group.packet))
        packets = lengths * weights
        share = float(np.sum(packets[lengths >= SLOW_START_ENDS]) / np.sum(packets))
        if share > _MATTERS:
            return Fact("broken.in-slow-start", packets=SLOW_START_ENDS, percent=100 * share)
    return None


def small_transfers(scenario: Scenario) -> bool:
    """Whether transfers (kind "transfers"), if there are any, end before they leave slow start."""
    for group in scenario.crossing:
        if isinstance(group, Transfers):
            if group.size is None:
                assert group.table is not None, "transfers have a table or a distribution"
                size = group.table.size_bytes.astype(np.float64)
            else:
                sizes, shares = map(np.array, zip(*group.size.points, strict=True))
                size = np.interp((np.arange(_DRAWN) + 0.5) / _DRAWN, shares, sizes)
            packets = np.ceil(size / group.payload)
            long = packets >= SLOW_START_ENDS
            if np.sum(packets[long]) > _MATTERS * np.sum(packets):
                return False
    return True


def window_not_reached(scenario: Scenario) -> Fact | None:
    """No receiver's window stops slow start's doubling."""
    for group in _short(scenario):
        limit, most = group.max_window, group.length.most_packets(int(group.packet))
        if limit is not None and most > 2 * limit:
            return Fact("broken.window-reached", packets=limit)
    return None


def whole_bursts(scenario: Scenario) -> Fact | None:
    """Access links are so fast that the packets of a burst arrive together."""
    slowest = min((t.access(scenario.link.capacity) for t in _short(scenario)), default=None)
    if slowest is None or slowest >= _FAST_ACCESS * scenario.link.capacity:
        return None
    if slowest <= scenario.link.capacity:
        return Fact("broken.spread-bursts")
    return Fact("broken.whole-bursts", times=slowest / scenario.link.capacity)


def doubling(scenario: Scenario) -> Fact | None:
    """The window doubles in every RTT; with ns-2 and delayed ACKs it grows only by half."""
    if not any(t.sender == "ns2" and t.delayed_ack for t in _short(scenario)):
        return None
    return Fact("broken.doubling")


def one_packet_size(scenario: Scenario) -> Fact | None:
    """All packets take the same time on the wire."""
    sizes = {int(t.packet) for t in scenario.crossing}
    return Fact("broken.packet-sizes") if len(sizes) > 1 else None


def unpaced(scenario: Scenario) -> Fact | None:
    """No congestion control paces its packets."""
    names = ", ".join(paced(scenario))
    return Fact("broken.unpaced", controls=names) if names else None


def poisson(scenario: Scenario) -> Fact | None:
    """Bursts arrive as a Poisson process."""
    if any(getattr(t, "arrivals", None) == "constant" for t in scenario.crossing):
        return Fact("broken.constant-rate")
    if any(KINDS[t.kind].lasts for t in scenario.crossing):
        return Fact("broken.poisson")
    return None


def load_of_figure_12(scenario: Scenario) -> Fact | None:
    """P(Q > B) = 2.5 % gives an AFCT higher by 12.5 %: shown for short flows at load 0.8."""
    traffic = burst_traffic(scenario)
    if scenario.goals.fct_increase is None or traffic is None:
        return None
    if abs(traffic.load - completion_time.LOAD) < 0.005:
        return None
    return Fact("broken.load-of-figure-12", load=traffic.load, known=completion_time.LOAD)


BURSTS = (
    only_bursts, stable_load, in_slow_start, window_not_reached, whole_bursts, doubling,
    one_packet_size, unpaced, poisson, load_of_figure_12, one_way, drop_tail,
)  # fmt: skip
"""Assumptions of every law of bursts."""

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
