"""Prediction for a link whose traffic is only bursts (paper A, §4, solved exactly).

The queue has the buffer of the scenario (`forebay.laws.finite_queue`). If all traffic is TCP, the
link carries the offered data, and lost packets are sent again. The loss rate has a range: the lower
end holds for flows that send smaller bursts after a loss; the upper end is P(Q > B) of an unlimited
buffer, which paper A's law uses as the loss rate.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.theory.loss import Between
from forebay.engines.theory.prediction import Prediction, Spread
from forebay.laws import burst_law, burst_wait, completion_time, finite_queue, short_flows
from forebay.laws.bursts import Bursts
from forebay.laws.finite_queue import FiniteQueue
from forebay.laws.quantities import capacity
from forebay.outcome import DELAY_MAXIMUM, FCT_INCREASE, Metric, delay_quantile_name
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.laws.burst_traffic import BurstTraffic
    from forebay.scenario import Scenario

LEAST_OF_LOSS = 0.25
"""Smallest loss rate in simulations over this prediction, for bursts that fit the buffer."""
_PROBABILITIES = (0.50, 0.95, 0.99)


def predict_bursts(scenario: Scenario) -> Prediction | None:
    """Return the prediction for a scenario that `forebay.laws.burst_law.governs`.

    None if TCP would have to send so many packets again that flows are no longer bursts.
    """
    traffic = short_flows.stable_traffic(scenario)
    if traffic is None:
        raise ValueError("no law of bursts governs this scenario")
    repeated = all(isinstance(group, Tcp) for group in scenario.crossing)
    size = min(scenario.buffer_packets, ceil(burst_law.tail_end(traffic)) + 1)
    queue = _queue(traffic.load, traffic.bursts, size, repeated)
    if queue is None:
        return None
    over = _over(traffic, scenario.buffer_packets)
    lost = queue.loss_rate
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (_quantile(queue, p) for p in _PROBABILITIES)
    d50, d95, d99 = (burst_wait.quantile(queue, traffic.bursts, p, size) for p in _PROBABILITIES)
    seen = burst_wait.mean(queue, traffic.bursts, size)
    return Prediction(
        utilization=min(traffic.load, queue.utilization) if repeated else queue.utilization,
        loss_rate=Between(lost, LEAST_OF_LOSS * lost if repeated else lost, max(lost, over)),
        queue_packets=Spread(_mean(queue), p50, p95, p99),
        queue_delay_s=Spread(seen * second, d50 * second, d95 * second, d99 * second),
        laws=(burst_law.LAW,),
        goal_metrics=_goal_metrics(scenario, traffic, queue, over),
    )


def _queue(load: float, bursts: Bursts, size: int, repeated: bool) -> FiniteQueue | None:
    sizes, shares = tuple(bursts.sizes.tolist()), tuple(bursts.probabilities.tolist())
    return _solved(load, sizes, shares, size, repeated)


@lru_cache(maxsize=64)
def _solved(
    load: float, sizes: tuple[int, ...], shares: tuple[float, ...], size: int, repeated: bool
) -> FiniteQueue | None:
    solve = finite_queue.with_repeats if repeated else finite_queue.finite_queue
    return solve(load, Bursts.given(sizes, shares), size)


def _over(traffic: BurstTraffic, size: int) -> float:
    """P(Q > B) of an unlimited buffer."""
    endless = burst_law.queue_of(traffic)
    return 1.0 if endless is None else min(float(endless.tail(size + 1)), 1.0)


def _mean(queue: FiniteQueue) -> float:
    return float(np.dot(np.arange(queue.waiting.size), queue.waiting))


def _quantile(queue: FiniteQueue, probability: float) -> float:
    below = np.cumsum(queue.waiting)
    return float(np.searchsorted(below, min(probability, below[-1])))


def _goal_metrics(
    scenario: Scenario, traffic: BurstTraffic, queue: FiniteQueue, over: float
) -> dict[str, Metric]:
    """Delays and completion times; the law of bursts does not cover single round trips."""
    found = _delays(scenario, traffic, queue)
    if scenario.goals.fct_increase == completion_time.AFCT_INCREASE:  # the only one in paper A
        found[FCT_INCREASE] = float(completion_time.increase(over))
    return {name: Metric(value=v, low=None, high=None, n=0) for name, v in found.items()}


def _delays(scenario: Scenario, traffic: BurstTraffic, queue: FiniteQueue) -> dict[str, float]:
    wanted, size = scenario.goals.queue_delay, scenario.buffer_packets
    if wanted is None:
        return {}
    waits = {}
    if wanted.maximum is not None:
        waits[DELAY_MAXIMUM] = float(size)
    if wanted.quantile is not None:
        wait = burst_wait.quantile(queue, traffic.bursts, wanted.quantile, size)
        waits[delay_quantile_name(wanted.quantile)] = wait
    second = 1.0 / capacity(scenario)
    return {name: wait * second for name, wait in waits.items()}
