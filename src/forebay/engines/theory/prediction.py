"""The prediction of the law that governs a scenario, before it becomes an Outcome.

Loss rates have the band of the simulations' (`forebay.laws.response.BAND`, `FEW_BAND`). Of a link
whose traffic is only bursts (paper A, section 4) the lower end holds for flows that send smaller
bursts after a loss, the upper one is P(Q > B) of an unlimited buffer, paper A's own loss rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

import numpy as np

from forebay.engines.base import exact
from forebay.laws import (
    Law,
    burst_law,
    bursts,
    completion_time,
    desynchronized,
    finite_queue,
    general_decrease,
    response,
    sawtooth,
    short_flows,
    single_flow,
    synchronized,
    utilization,
)
from forebay.laws.bursts import Bursts, BurstTraffic
from forebay.laws.finite_queue import FiniteQueue
from forebay.laws.quantities import capacity, growth, growth_of, halves, share
from forebay.laws.regime import MIX, SAWTOOTHS_ADD
from forebay.outcome import (
    DELAY_MAXIMUM,
    FCT_INCREASE,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    Metric,
    delay_quantile_name,
)
from forebay.scenario import COMPLETING_KINDS, OPEN_LOOP_KINDS, Distribution, Scenario, Tcp
from forebay.workload.streams import picoseconds

FEW_BAND = (0.35, 3.6)
"""Simulated over predicted loss rate: range in 34 random links with one to nine halving flows."""
LEAST_BUFFER = 0.5
"""Smallest buffer of the links of `forebay.laws.response.BAND`, in bdp/sqrt(n). In a buffer of one
packet 20 flows lost 17 %, where the law has 1.3 % and the band ends at 4.2 %; five lost 16 %, where
it is 0.15 % and ends at 0.55 %."""
_MIN_RTO_S = 0.2
_POINTS = 8
_MANY_KINDS = 200


@dataclass(frozen=True, slots=True)
class Between:
    """A value that is known only within a band."""

    value: float
    low: float
    high: float


def of_scenario(scenario: Scenario) -> Between | None:
    """Return the loss rate of the law that covers a scenario's flows; None if none does."""
    if not scenario.n_flows > 0 or response.wide_windows(scenario) is not None:
        return None
    many = scenario.n_flows >= SAWTOOTHS_ADD
    return of_many(scenario) if many else of_few(scenario)


def of_many(scenario: Scenario) -> Between | None:
    """Return the loss rate at which the flows just fill the rest of the link, at a half-full queue.

    None if a control has no response function, or if windows are outside the range of all. The
    band has no upper end in buffers smaller than those it is from: there bursts decide the loss.
    """
    left = 1.0 - share(scenario, COMPLETING_KINDS | OPEN_LOOP_KINDS)
    flows = list(_flows(scenario))
    if len(flows) > _MANY_KINDS:
        flows = _together(flows)
    if left <= 0.0 or any(each.control not in response.CONTROLS for each in flows):
        return None
    found = response.loss_rate(flows, left * capacity(scenario))
    return None if found is None else _within(found, response.BAND, scenario)


def of_few(scenario: Scenario) -> Between | None:
    """Return the loss rate of one drop for each flow and sawtooth cycle; None without halving.

    Its band, too, has no upper end in small buffers.
    """
    if not halves(scenario):
        return None
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    found = float(sawtooth.loss_rate(size, bdp, scenario.n_flows, growth(scenario)))
    return _within(found, FEW_BAND, scenario) if found < 1.0 else None


def _within(value: float, band: tuple[float, float], scenario: Scenario) -> Between:
    least = LEAST_BUFFER * scenario.bdp_packets / math.sqrt(scenario.n_flows)
    above = band[1] * value if scenario.buffer_packets >= least else 1.0
    return Between(value, band[0] * value, min(above, 1.0))


def _flows(scenario: Scenario) -> Iterator[response.Flows]:
    waiting = scenario.buffer_packets / 2.0 / capacity(scenario)
    for group in scenario.persistent:
        trips = _representative(group.rtt)
        least = _MIN_RTO_S if group.min_rto is None else float(group.min_rto)
        window = math.inf if group.max_window is None else group.max_window
        for control, part in group.shares.items():
            for rtt in (trip + waiting for trip in trips):
                # Linux adds its minimum RTO to srtt, RFC 6298 (2.4) takes the larger of both.
                timeout = rtt + least if group.sender == "linux" else max(rtt, least)
                count = group.flows * part / len(trips)
                yield response.Flows(count, control, rtt, timeout, growth_of(group), window)


def _together(flows: Iterable[response.Flows]) -> list[response.Flows]:
    """Merge flows with almost equal RTT and timeout, so that thousands of classes stay fast."""
    counts: dict[response.Flows, float] = {}
    for each in flows:
        rtt, timeout = (float(f"{value:.3g}") for value in (each.rtt, each.timeout))
        kind = replace(each, count=0.0, rtt=rtt, timeout=timeout)
        counts[kind] = counts.get(kind, 0.0) + each.count
    return [replace(kind, count=count) for kind, count in counts.items()]


def _representative(law: Distribution) -> list[float]:
    """Return RTTs in seconds, each of which represents an equal part of the flows."""
    if law.low == law.high:
        return [float(law.low)]
    middles = (np.arange(_POINTS) + 0.5) / _POINTS
    return [max(float(each) / 1e12, 1e-9) for each in picoseconds(law, middles)]


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
    waiting = [sawtooth.queue_quantile(p, size, bdp) for p in _PROBABILITIES]
    seen = [sawtooth.queue_seen_quantile(p, size, bdp) for p in _PROBABILITIES]
    delays = (sawtooth.queue_seen_mean(size, bdp), *seen)
    metrics = goal_metrics(scenario, in_step=True) if halves(scenario) else longest_delay(scenario)
    return Prediction(
        utilization=float(sawtooth.utilization(size, bdp)),
        loss_rate=of_few(scenario),
        queue_packets=Spread(float(sawtooth.queue_mean(size, bdp)), *map(float, waiting)),
        queue_delay_s=Spread(*(float(delay) * second for delay in delays)),
        laws=(law,),
        goal_metrics=metrics,
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
    quantiles = (desynchronized.queue_quantile(p, size, bdp, n) for p in _PROBABILITIES)
    waiting = (float(desynchronized.queue_mean(size)), *map(float, quantiles))
    return Prediction(
        utilization=float(utilization.utilization(size, bdp, n)),
        loss_rate=of_many(scenario),
        queue_packets=Spread(*waiting),
        queue_delay_s=Spread(*(packets * second for packets in waiting)),
        laws=(law, response.LAW),
        goal_metrics=goal_metrics(scenario, in_step=False),
    )


def goal_metrics(scenario: Scenario, *, in_step: bool) -> dict[str, Metric]:
    """Return the goals' metrics; `in_step` is whether the windows are synchronized."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets

    def waiting(quantile: float) -> float:
        if in_step:
            return float(sawtooth.queue_seen_quantile(quantile, size, bdp))
        return float(desynchronized.queue_quantile(quantile, size, bdp, scenario.n_flows))

    values = _probabilities(scenario, in_step) | _delays(scenario, waiting)
    return {name: exact(value) for name, value in values.items()}


def longest_delay(scenario: Scenario) -> dict[str, Metric]:
    """Return only the maximum delay, which does not depend on the windows."""
    wanted = scenario.goals.queue_delay
    if wanted is None or wanted.maximum is None:
        return {}
    return {DELAY_MAXIMUM: exact(scenario.buffer_packets / capacity(scenario))}


def _probabilities(scenario: Scenario, in_step: bool) -> dict[str, float]:
    used, lost = scenario.goals.utilization, scenario.goals.loss_rate
    probabilities = {}
    if used is not None and used.probability is not None:
        # P(W >= BDP) for any target: a lower bound, for the law has no utilization of less.
        busy = 1.0 - _below(scenario, scenario.bdp_packets)
        busy = _busy_in_step(scenario, float(used)) if in_step else busy
        probabilities[UTILIZATION_PROBABILITY] = busy
    if lost is not None and lost.probability is not None:
        spared = _spared_in_step if in_step else _spared
        probabilities[LOSS_PROBABILITY] = spared(scenario, float(lost))
    return probabilities


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


def _delays(scenario: Scenario, waiting: Callable[[float], float]) -> dict[str, float]:
    """Return the delay goals' metrics; ``waiting`` is a quantile of the packets seen.

    The maximum delay of drop-tail is B / C (paper A, section VI).
    """
    wanted, second = scenario.goals.queue_delay, 1.0 / capacity(scenario)
    if wanted is None:
        return {}
    delays = {}
    if wanted.maximum is not None:
        delays[DELAY_MAXIMUM] = scenario.buffer_packets * second
    if wanted.quantile is not None:
        delays[delay_quantile_name(wanted.quantile)] = waiting(wanted.quantile) * second
    return delays


LEAST_OF_LOSS = 0.25
"""Smallest loss rate in simulations over this prediction, for bursts that fit the buffer."""


def predict_bursts(scenario: Scenario) -> Prediction | None:
    """Return the prediction for a scenario that `forebay.laws.burst_law.governs`.

    None if TCP would have to send so many packets again that flows are no longer bursts.
    """
    traffic = short_flows.stable_traffic(scenario)
    if traffic is None:
        raise ValueError("no law of bursts governs this scenario")
    repeated = all(isinstance(group, Tcp) for group in scenario.crossing)
    size = min(scenario.buffer_packets, ceil(burst_law.tail_end(traffic)) + 1)
    sizes, shares = traffic.bursts.sizes.tolist(), traffic.bursts.probabilities.tolist()
    queue = _solved(traffic.load, tuple(sizes), tuple(shares), size, repeated)
    if queue is None:
        return None
    endless = burst_law.queue_of(traffic)  # P(Q > B) of an unlimited buffer
    over = 1.0
    if endless is not None:
        over = min(float(endless.tail(scenario.buffer_packets + 1)), 1.0)
    lost = queue.loss_rate
    second = 1.0 / capacity(scenario)
    quantiles = (bursts.quantile(queue, traffic.bursts, p, size) for p in _PROBABILITIES)
    delays = (bursts.mean(queue, traffic.bursts, size), *quantiles)
    return Prediction(
        utilization=min(traffic.load, queue.utilization) if repeated else queue.utilization,
        loss_rate=Between(lost, LEAST_OF_LOSS * lost if repeated else lost, max(lost, over)),
        queue_packets=_waiting(queue),
        queue_delay_s=Spread(*(delay * second for delay in delays)),
        laws=(burst_law.LAW,),
        goal_metrics=_goal_metrics(scenario, traffic, queue, over),
    )


@lru_cache(maxsize=64)
def _solved(
    load: float, sizes: tuple[int, ...], shares: tuple[float, ...], size: int, repeated: bool
) -> FiniteQueue | None:
    solve = finite_queue.with_repeats if repeated else finite_queue.finite_queue
    return solve(load, Bursts.given(sizes, shares), size)


def _waiting(queue: FiniteQueue) -> Spread:
    """Return the mean and the quantiles of the packets that wait."""
    below = np.cumsum(queue.waiting)
    mean = float(np.dot(np.arange(queue.waiting.size), queue.waiting))
    return Spread(mean, *(float(np.searchsorted(below, min(p, below[-1]))) for p in _PROBABILITIES))


def _goal_metrics(
    scenario: Scenario, traffic: BurstTraffic, queue: FiniteQueue, over: float
) -> dict[str, Metric]:
    """Delays and completion times; the law of bursts does not cover single round trips."""
    size = scenario.buffer_packets
    values = _delays(scenario, lambda p: bursts.quantile(queue, traffic.bursts, p, size))
    if scenario.goals.fct_increase == completion_time.AFCT_INCREASE:  # the only one in paper A
        values[FCT_INCREASE] = float(completion_time.increase(over))
    return {name: exact(value) for name, value in values.items()}
