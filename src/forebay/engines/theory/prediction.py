"""What a scenario's governing law predicts, before it becomes an Outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.engines.theory.asked import asked
from forebay.engines.theory.burst_prediction import predict_bursts
from forebay.engines.theory.spread import Prediction, Spread
from forebay.laws import (
    Law,
    burst_law,
    desynchronized,
    governing_law,
    loss,
    mix,
    sawtooth,
    utilization,
)
from forebay.laws.quantities import capacity, growth

if TYPE_CHECKING:
    from forebay.scenario import Scenario

_PROBABILITIES = (0.50, 0.95, 0.99)


def predict(scenario: Scenario) -> Prediction | None:
    """Prediction of the law that governs `scenario`, None where none does."""
    law = governing_law(scenario)
    if law is None:
        return None
    if law is burst_law.LAW:
        return predict_bursts(scenario)
    if law in (utilization.LAW, mix.LAW):
        return _desynchronized(scenario, law)
    return _sawtooth(scenario, law)


def _sawtooth(scenario: Scenario, law: Law) -> Prediction:
    """One window, or the sum of windows in lockstep: appendix B for every part."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(sawtooth.queue_quantile(p, size, bdp)) for p in _PROBABILITIES)
    d50, d95, d99 = (float(sawtooth.queue_seen_quantile(p, size, bdp)) for p in _PROBABILITIES)
    seen = float(sawtooth.queue_seen_mean(size, bdp))
    return Prediction(
        utilization=float(sawtooth.utilization(size, bdp)),
        loss_rate=float(sawtooth.loss_rate(size, bdp, scenario.n_flows, growth(scenario))),
        queue_packets=Spread(float(sawtooth.queue_mean(size, bdp)), p50, p95, p99),
        queue_delay_s=Spread(seen * second, d50 * second, d95 * second, d99 * second),
        laws=(law,),
        in_step=True,
        asked=asked(scenario, in_step=True),
    )


def _desynchronized(scenario: Scenario, law: Law) -> Prediction:
    """Windows out of step: eq. 4 to 6 and 0.76/w^2; the delay is Q/C.

    Beside short flows the windows are those of what these leave of the path (§5.1.3).
    """
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(desynchronized.queue_quantile(p, size, bdp, n)) for p in _PROBABILITIES)
    mean = float(desynchronized.queue_mean(size))
    left = 1.0 - mix.short_share(scenario) if law is mix.LAW else 1.0
    return Prediction(
        utilization=float(utilization.utilization(size, bdp, n)),
        loss_rate=float(loss.loss_rate(loss.window(size, max(left, 0.0) * bdp, n))),
        queue_packets=Spread(mean, p50, p95, p99),
        queue_delay_s=Spread(mean * second, p50 * second, p95 * second, p99 * second),
        laws=(law, loss.LAW),
        in_step=False,
        asked=asked(scenario, in_step=False),
    )
