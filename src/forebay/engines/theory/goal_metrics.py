"""What goals ask of the laws beyond their means: probabilities, the maximum, odd quantiles.

A round trip is a value of W, the sum of the windows, as in Yang, Zhang, Xu 2013, §III: it fills
the link where W >= BDP, and drops at most phi where W <= BDP + B + phi W. W itself is as in the
rest of the prediction (`forebay.laws.desynchronized`, `sawtooth`): centred in the buffer, so that
the answers hold together, where theirs has the mean at BDP + B (eq. 9) and asks for less.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from forebay.laws import desynchronized, sawtooth
from forebay.laws.quantities import capacity, growth
from forebay.outcome import (
    DELAY_MAXIMUM,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    Metric,
    delay_quantile_name,
)

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def goal_metrics(scenario: Scenario, *, in_step: bool) -> dict[str, Metric]:
    """Answer the goals of `scenario`; `in_step` is whether its windows march as one."""
    values = _probabilities(scenario, in_step) | _delays(scenario, in_step)
    return {name: Metric(value=v, low=None, high=None, n=0) for name, v in values.items()}


def longest_delay(scenario: Scenario) -> dict[str, Metric]:
    """The maximum delay alone, which asks nothing of the windows."""
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
    """P(W >= BDP), whatever share of the link is asked for: a lower bound, like eq. 6.

    Where the normal W leaves the buffer's range the law does not say how deep it falls.
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
    """Share of a cycle in which W >= used BDP; below BDP a round trip always takes 2 Tp."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    climb = max(used * bdp - (bdp + size) / 2.0, 0.0)
    return 1.0 - bdp * climb / float(sawtooth.period(size, 1.0, bdp))


def _spared_in_step(scenario: Scenario, lost: float) -> float:
    """All but one round trip of a cycle, where every flow loses a packet of (BDP + B) / n."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    if n <= lost * (bdp + size):
        return 1.0
    cycle = float(sawtooth.period(size, 1.0, bdp, n * growth(scenario)))
    return max(1.0 - (bdp + size) / cycle, 0.0)


def _delays(scenario: Scenario, in_step: bool) -> dict[str, float]:
    """Drop-tail's longest wait is behind a full buffer: lambda = B / C (§VI)."""
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
