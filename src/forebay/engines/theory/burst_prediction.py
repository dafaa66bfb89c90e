"""What a scenario's bursts do, where nothing else queues (paper A, §4, solved exactly).

The queue is that of an endless buffer, cut off at B: a bound, since what is lost would have made
others wait. P(Q > B) stands for the loss, as in §4, and what is not lost for the utilization: a
lower bound, for TCP sends again what was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.theory.spread import Prediction, Spread
from forebay.laws import burst_law, burst_wait, completion_time, short_flows
from forebay.laws.quantities import capacity
from forebay.outcome import DELAY_MAXIMUM, FCT_INCREASE, Metric, delay_quantile_name

if TYPE_CHECKING:
    from forebay.laws.burst_traffic import BurstTraffic
    from forebay.laws.exact_bursts import ExactQueue
    from forebay.scenario import Scenario

_PROBABILITIES = (0.50, 0.95, 0.99)


def predict_bursts(scenario: Scenario) -> Prediction:
    """Prediction for a scenario that `forebay.laws.burst_law.governs`."""
    traffic, queue = _solved(scenario)
    size, second = scenario.buffer_packets, 1.0 / capacity(scenario)
    lost = _over(queue, size)
    p50, p95, p99 = (_quantile(queue, p, size) for p in _PROBABILITIES)
    d50, d95, d99 = (burst_wait.quantile(queue, traffic.bursts, p, size) for p in _PROBABILITIES)
    seen = burst_wait.mean(queue, traffic.bursts, size)
    return Prediction(
        utilization=traffic.load * (1.0 - lost),
        loss_rate=lost,
        queue_packets=Spread(_mean(queue, size), p50, p95, p99),
        queue_delay_s=Spread(seen * second, d50 * second, d95 * second, d99 * second),
        laws=(burst_law.LAW,),
        in_step=False,
        asked=_asked(scenario, traffic, queue),
    )


def _solved(scenario: Scenario) -> tuple[BurstTraffic, ExactQueue]:
    traffic = short_flows.stable_traffic(scenario)
    queue = None if traffic is None else burst_law.queue_of(traffic)
    if traffic is None or queue is None:
        raise ValueError("no law of bursts governs this scenario")
    return traffic, queue


def _over(queue: ExactQueue, size: int) -> float:
    """P(Q > B)."""
    return float(queue.tail(size + 1))


def _mean(queue: ExactQueue, size: int) -> float:
    waiting = queue.waiting
    return float(np.dot(np.minimum(np.arange(waiting.size), size), waiting))


def _quantile(queue: ExactQueue, probability: float, size: int) -> float:
    below = np.cumsum(queue.waiting)
    return float(min(int(np.searchsorted(below, min(probability, below[-1]))), size))


def _asked(scenario: Scenario, traffic: BurstTraffic, queue: ExactQueue) -> dict[str, Metric]:
    """Delays and completion times; of single round trips a law of bursts says nothing."""
    found = _delays(scenario, traffic, queue)
    if scenario.goals.fct_increase == completion_time.AFCT_INCREASE:  # the one that paper A gives
        lost = _over(queue, scenario.buffer_packets)
        found[FCT_INCREASE] = float(completion_time.increase(lost))
    return {name: Metric(value=v, low=None, high=None, n=0) for name, v in found.items()}


def _delays(scenario: Scenario, traffic: BurstTraffic, queue: ExactQueue) -> dict[str, float]:
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
