"""The law of a scenario's bursts by the exact queue M^[X]/D/1; paper A uses approximations."""

from functools import lru_cache
from math import inf, log

from forebay.laws.bursts import Bursts, BurstTraffic
from forebay.laws.effective_bandwidth import kappa
from forebay.laws.finite_queue import MASS, ExactQueue, exact_queue
from forebay.laws.law import Law
from forebay.laws.short_flows import BURSTS, carried, packets_by, stable_traffic
from forebay.scenario import Scenario

LONGEST_TAIL = 20_000
"""In packets. Longer queues hardly come from bursts, and take long to compute."""


def queue_of(traffic: BurstTraffic) -> ExactQueue | None:
    """Distribution of the queue; None if its tail is too long to compute."""
    bursts = traffic.bursts
    if not tail_end(traffic) < LONGEST_TAIL:
        return None
    return _queue(traffic.load, tuple(bursts.sizes.tolist()), tuple(bursts.probabilities.tolist()))


def tail_end(traffic: BurstTraffic) -> float:
    """Packets that the queue exceeds with probability `MASS` at most; may be infinite."""
    exponent = float(kappa(traffic.load, traffic.bursts))
    return -log(MASS) / exponent if exponent > 0.0 else inf


def governs(scenario: Scenario) -> bool:
    """Whether bursts are the only traffic that queues at this link, at a load below 1."""
    traffic = stable_traffic(scenario)
    return traffic is not None and queue_of(traffic) is not None


@lru_cache(maxsize=8)
def _queue(load: float, sizes: tuple[int, ...], shares: tuple[float, ...]) -> ExactQueue:
    return exact_queue(load, Bursts.given(sizes, shares))


def _packets(allowed: float, traffic: BurstTraffic) -> float | None:
    """Smallest B with P(Q > B) at most `allowed`."""
    queue = queue_of(traffic)
    if queue is None or allowed < MASS:
        return None
    return float(max(int(queue.buffer_for(allowed)) - 1, 0))


LAW = Law(
    name="appenzeller-2004/exact-bursts",
    source="The model of Appenzeller et al. 2004, §4, solved exactly: M^[X]/D/1 (Crommelin 1932); "
    "P(Q > B) for the loss, an upper bound",
    packets=packets_by(_packets),
    utilization=carried,
    checks=BURSTS,
)
