"""What a scenario's governing law predicts, before it becomes an Outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engines.theory import lost
from forebay.engines.theory.goal_metrics import goal_metrics, longest_delay
from forebay.engines.theory.spread import Prediction, Spread
from forebay.laws import (
    Law,
    desynchronized,
    general_decrease,
    governing_law,
    mix,
    response,
    sawtooth,
    single_flow,
    synchronized,
    utilization,
)
from forebay.laws.controls import halves
from forebay.laws.quantities import capacity

if TYPE_CHECKING:
    from forebay.scenario import Scenario

_PROBABILITIES = (0.50, 0.95, 0.99)


def predict(scenario: Scenario) -> Prediction | None:
    """Prediction of the law that governs `scenario`, None where none does."""
    law = governing_law(scenario)
    if law is None:
        return None
    if law in (utilization.LAW, mix.LAW):
        return _desynchronized(scenario, law)
    if law is general_decrease.LAW:
        return _general(scenario)
    if law in (single_flow.LAW, synchronized.LAW):
        return _sawtooth(scenario, law)
    from forebay.engines.theory.burst_prediction import predict_bursts

    return predict_bursts(scenario)


def _sawtooth(scenario: Scenario, law: Law) -> Prediction:
    """One window, or the sum of windows in lockstep: appendix B for every part."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(sawtooth.queue_quantile(p, size, bdp)) for p in _PROBABILITIES)
    d50, d95, d99 = (float(sawtooth.queue_seen_quantile(p, size, bdp)) for p in _PROBABILITIES)
    seen = float(sawtooth.queue_seen_mean(size, bdp))
    return Prediction(
        utilization=float(sawtooth.utilization(size, bdp)),
        loss_rate=lost.of_few(scenario),
        queue_packets=Spread(float(sawtooth.queue_mean(size, bdp)), p50, p95, p99),
        queue_delay_s=Spread(seen * second, d50 * second, d95 * second, d99 * second),
        laws=(law,),
        goal_metrics=goal_metrics(scenario, in_step=True)
        if halves(scenario)
        else longest_delay(scenario),
    )


def _general(scenario: Scenario) -> Prediction:
    """One flow, or few as one, whose control does not halve: how full the link gets."""
    used = general_decrease.mean_utilization(scenario)
    assert used is not None
    law = general_decrease.LAW
    return Prediction(used, None, None, None, (law,), longest_delay(scenario))


def _desynchronized(scenario: Scenario, law: Law) -> Prediction:
    """Windows out of step: eq. 4 to 6; the delay is Q/C."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(desynchronized.queue_quantile(p, size, bdp, n)) for p in _PROBABILITIES)
    mean = float(desynchronized.queue_mean(size))
    return Prediction(
        utilization=float(utilization.utilization(size, bdp, n)),
        loss_rate=lost.of_many(scenario),
        queue_packets=Spread(mean, p50, p95, p99),
        queue_delay_s=Spread(mean * second, p50 * second, p95 * second, p99 * second),
        laws=(law, response.LAW),
        goal_metrics=goal_metrics(scenario, in_step=False),
    )
