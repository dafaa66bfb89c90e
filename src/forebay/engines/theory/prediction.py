"""The prediction of the law that governs a scenario, before it becomes an Outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.engines.theory import loss
from forebay.laws import (
    Law,
    desynchronized,
    general_decrease,
    response,
    sawtooth,
    single_flow,
    synchronized,
    utilization,
)
from forebay.laws.quantities import capacity, growth, halves
from forebay.laws.regime import MIX
from forebay.outcome import (
    DELAY_MAXIMUM,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    Metric,
    delay_quantile_name,
)

if TYPE_CHECKING:
    from forebay.engines.theory.loss import Between
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
    """Prediction for one link, in packets and seconds. None means that no law gives the value.

    ``laws`` are the sources; ``goal_metrics`` has the metrics of goals beyond the other fields.
    """

    utilization: float
    loss_rate: Between | None
    queue_packets: Spread | None
    queue_delay_s: Spread | None
    laws: tuple[Law, ...]
    goal_metrics: dict[str, Metric]

    @property
    def is_bound(self) -> bool:
        """Whether the utilization is a lower bound (eq. 6), and no prediction."""
        return any(law is utilization.LAW or law.name == MIX for law in self.laws)


def predict_long_flows(scenario: Scenario, law: Law) -> Prediction | None:
    """Return the prediction of `law`, which governs `scenario` and is one of long flows."""
    if law is utilization.LAW or law.name == MIX:
        return _desynchronized(scenario, law)
    if law is general_decrease.LAW:
        return _general(scenario)
    if law in (single_flow.LAW, synchronized.LAW):
        return _sawtooth(scenario, law)
    raise ValueError(f"{law.name} is not a law of long flows")


def _sawtooth(scenario: Scenario, law: Law) -> Prediction:
    """Prediction for one window, or for synchronized windows (paper A, appendix B)."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(sawtooth.queue_quantile(p, size, bdp)) for p in _PROBABILITIES)
    d50, d95, d99 = (float(sawtooth.queue_seen_quantile(p, size, bdp)) for p in _PROBABILITIES)
    seen = float(sawtooth.queue_seen_mean(size, bdp))
    return Prediction(
        utilization=float(sawtooth.utilization(size, bdp)),
        loss_rate=loss.of_few(scenario),
        queue_packets=Spread(float(sawtooth.queue_mean(size, bdp)), p50, p95, p99),
        queue_delay_s=Spread(seen * second, d50 * second, d95 * second, d99 * second),
        laws=(law,),
        goal_metrics=goal_metrics(scenario, in_step=True)
        if halves(scenario)
        else longest_delay(scenario),
    )


def _general(scenario: Scenario) -> Prediction:
    """Utilization with one flow, or few synchronized flows, whose control does not halve."""
    used = general_decrease.mean_utilization(scenario)
    assert used is not None
    law = general_decrease.LAW
    return Prediction(used, None, None, None, (law,), longest_delay(scenario))


def _desynchronized(scenario: Scenario, law: Law) -> Prediction:
    """Prediction for desynchronized windows (eq. 4 to 6); the delay is Q/C."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    second = 1.0 / capacity(scenario)
    p50, p95, p99 = (float(desynchronized.queue_quantile(p, size, bdp, n)) for p in _PROBABILITIES)
    mean = float(desynchronized.queue_mean(size))
    return Prediction(
        utilization=float(utilization.utilization(size, bdp, n)),
        loss_rate=loss.of_many(scenario),
        queue_packets=Spread(mean, p50, p95, p99),
        queue_delay_s=Spread(mean * second, p50 * second, p95 * second, p99 * second),
        laws=(law, response.LAW),
        goal_metrics=goal_metrics(scenario, in_step=False),
    )


def goal_metrics(scenario: Scenario, *, in_step: bool) -> dict[str, Metric]:
    """Return the goals' metrics; `in_step` is whether the windows are synchronized."""
    values = _probabilities(scenario, in_step) | _delays(scenario, in_step)
    return {name: Metric(value=v, low=None, high=None, n=0) for name, v in values.items()}


def longest_delay(scenario: Scenario) -> dict[str, Metric]:
    """Return only the maximum delay, which does not depend on the windows."""
    wanted = scenario.goals.queue_delay
    if wanted is None or wanted.maximum is None:
        return {}
    value = scenario.buffer_packets / capacity(scenario)
    return {DELAY_MAXIMUM: Metric(value=value, low=None, high=None, n=0)}


def _probabilities(scenario: Scenario, in_step: bool) -> dict[str, float]:
    used, lost = scenario.goals.utilization, scenario.goals.loss_rate
    found = {}
    if used is not None and used.probability is not None:
        busy = _busy_in_step if in_step else _busy
        found[UTILIZATION_PROBABILITY] = busy(scenario, float(used))
    if lost is not None and lost.probability is not None:
        spared = _spared_in_step if in_step else _spared
        found[LOSS_PROBABILITY] = spared(scenario, float(lost))
    return found


def _busy(scenario: Scenario, used: float) -> float:
    """P(W >= BDP) for any target utilization: a lower bound, like eq. 6.

    The law does not give the utilization of windows below BDP.
    """
    return 1.0 - _below(scenario, scenario.bdp_packets)


def _spared(scenario: Scenario, lost: float) -> float:
    room = scenario.bdp_packets + scenario.buffer_packets
    return 1.0 if lost >= 1.0 else _below(scenario, room / (1.0 - lost))


def _below(scenario: Scenario, windows: float) -> float:
    """P(W <= windows) of the normal W."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    sigma = float(desynchronized.sigma(size, bdp, scenario.n_flows))
    return math.erfc((bdp + size / 2.0 - windows) / (sigma * math.sqrt(2.0))) / 2.0


def _busy_in_step(scenario: Scenario, used: float) -> float:
    """Share of a cycle with W >= used * BDP; below BDP every round trip takes 2 Tp."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    climb = max(used * bdp - (bdp + size) / 2.0, 0.0)
    return 1.0 - bdp * climb / float(sawtooth.period(size, 1.0, bdp))


def _spared_in_step(scenario: Scenario, lost: float) -> float:
    """Share of a cycle before its last RTT, in which each flow loses 1 of (BDP + B) / n packets."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    if n <= lost * (bdp + size):
        return 1.0
    cycle = float(sawtooth.period(size, 1.0, bdp, n * growth(scenario)))
    return max(1.0 - (bdp + size) / cycle, 0.0)


def _delays(scenario: Scenario, in_step: bool) -> dict[str, float]:
    """Return the delay goals' metrics. The maximum delay of drop-tail is B / C (§VI)."""
    wanted = scenario.goals.queue_delay
    if wanted is None:
        return {}
    found, second = {}, 1.0 / capacity(scenario)
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    if wanted.maximum is not None:
        found[DELAY_MAXIMUM] = size * second
    if wanted.quantile is not None and in_step:
        seen = float(sawtooth.queue_seen_quantile(wanted.quantile, size, bdp))
        found[delay_quantile_name(wanted.quantile)] = seen * second
    elif wanted.quantile is not None:
        queue = desynchronized.queue_quantile(wanted.quantile, size, bdp, scenario.n_flows)
        found[delay_quantile_name(wanted.quantile)] = float(queue) * second
    return found
