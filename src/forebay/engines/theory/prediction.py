"""What a scenario's governing law predicts, before it becomes an Outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.laws import Law, desynchronized, governing_law, loss, sawtooth, utilization
from forebay.laws.quantities import capacity, growth

if TYPE_CHECKING:
    from forebay.scenario import Scenario

_PROBABILITIES = (0.50, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quantiles of one quantity."""

    mean: float
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """One link by its laws; packets and seconds. ``laws`` names the source of each part."""

    utilization: float
    loss_rate: float
    queue_packets: Spread
    queue_delay_s: Spread
    laws: tuple[Law, ...]

    @property
    def in_step(self) -> bool:
        """Whether the windows march as one."""
        return utilization.LAW not in self.laws


def predict(scenario: Scenario) -> Prediction:
    """Prediction of the law that governs `scenario`."""
    law = governing_law(scenario)
    return _desynchronized(scenario) if law is utilization.LAW else _sawtooth(scenario, law)


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
    )


def _desynchronized(scenario: Scenario) -> Prediction:
    """Windows out of step: eq. 4 to 6 and 0.76/w^2; the delay is Q/C."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(desynchronized.queue_quantile(p, size, bdp, n)) for p in _PROBABILITIES)
    mean = float(desynchronized.queue_mean(size))
    return Prediction(
        utilization=float(utilization.utilization(size, bdp, n)),
        loss_rate=float(loss.loss_rate(loss.window(size, bdp, n))),
        queue_packets=Spread(mean, p50, p95, p99),
        queue_delay_s=Spread(mean * second, p50 * second, p95 * second, p99 * second),
        laws=(utilization.LAW, loss.LAW),
    )
