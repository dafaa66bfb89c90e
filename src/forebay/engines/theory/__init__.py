"""Published laws as an engine: one value without replications, so no interval and n = 0.

Metrics that no law covers are None; with several classes these include their shares of the link,
except where `throughputs` gives them. The provenance says that eq. 6 is a lower bound.

Loss rates have the band of the simulations' (`forebay.laws.response.BAND`, `FEW_BAND`). Of a link
whose traffic is only bursts (paper A, section 4) the lower end holds for flows that send smaller
bursts after a loss, the upper one is P(Q > B) of an unlimited buffer, paper A's own loss rate.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import SupportsFloat

import numpy as np

from forebay import laws
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine, exact, mean_alone
from forebay.engines.errors import NoLaw, refuse_features
from forebay.laws import Law, governing_law, regime_of
from forebay.laws.bursts import Bursts
from forebay.laws.finite_queue import FiniteQueue
from forebay.laws.quantities import bursts_only, capacity, growth, growth_of, halves, share
from forebay.laws.regime import MIX
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles, checked, model
from forebay.scenario import Distribution, Scenario, Standing, Tcp
from forebay.scenario.goals import COMPLETING_KINDS, OPEN_LOOP_KINDS
from forebay.words import Fact, entry
from forebay.workload.streams import picoseconds

_NOT_COVERED = (
    "topology", "shaper", "policer", "loss", "rate_trace", "down", "jitter", "class queues",
)  # fmt: skip
FEW_BAND = (0.35, 3.6)
"""Simulated over predicted loss rate: range in 34 random links with one to nine halving flows."""
LEAST_BUFFER = 0.5
"""Smallest buffer of the links of `forebay.laws.response.BAND`, in bdp/sqrt(n). In a buffer of one
packet 20 flows lost 17 %, where the law has 1.3 % and the band ends at 4.2 %; five lost 16 %, where
it is 0.15 % and ends at 0.55 %."""
_MIN_RTO_S = 0.2
_POINTS = 8
_MANY_KINDS = 200


def of_many(scenario: Scenario) -> Metric | None:
    """Return the loss rate at which the flows just fill the rest of the link, at a half-full queue.

    None if a control has no response function, or if windows are outside the range of all. The
    band has no upper end in buffers smaller than those it is from: there bursts decide the loss.
    """
    left = 1.0 - share(scenario, COMPLETING_KINDS | OPEN_LOOP_KINDS)
    flows = list(_flows(scenario))
    if len(flows) > _MANY_KINDS:
        flows = _together(flows)
    if left <= 0.0 or any(flow.control not in laws.response.CONTROLS for flow in flows):
        return None
    loss = laws.response.loss_rate(flows, left * capacity(scenario))
    return None if loss is None else _within(loss, laws.response.BAND, scenario)


def of_few(scenario: Scenario) -> Metric | None:
    """Return the loss rate of one drop for each flow and sawtooth cycle; None without halving.

    Its band, too, has no upper end in small buffers.
    """
    if not halves(scenario):
        return None
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    loss = float(laws.sawtooth.loss_rate(size, bdp, scenario.n_flows, growth(scenario)))
    return _within(loss, FEW_BAND, scenario) if loss < 1.0 else None


def _within(value: float, band: tuple[float, float], scenario: Scenario) -> Metric | None:
    least = LEAST_BUFFER * scenario.bdp_packets / math.sqrt(scenario.n_flows)
    above = band[1] * value if scenario.buffer_packets >= least else 1.0
    return _between(value, band[0] * value, min(above, 1.0))


def _between(value: float, low: float, high: float) -> Metric | None:
    """Return a value that is known only within a band; None if it exceeds 1."""
    return Metric(value=value, low=low, high=high, n=0) if value <= 1.0 else None


def _flows(scenario: Scenario) -> Iterator[laws.response.Flows]:
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
                yield laws.response.Flows(count, control, rtt, timeout, growth_of(group), window)


def _together(flows: Iterable[laws.response.Flows]) -> list[laws.response.Flows]:
    """Merge flows with almost equal RTT and timeout, so that thousands of classes stay fast."""
    counts: dict[laws.response.Flows, float] = {}
    for flow in flows:
        rtt, timeout = (float(f"{value:.3g}") for value in (flow.rtt, flow.timeout))
        kind = replace(flow, count=0.0, rtt=rtt, timeout=timeout)
        counts[kind] = counts.get(kind, 0.0) + flow.count
    return [replace(kind, count=count) for kind, count in counts.items()]


def _representative(law: Distribution) -> list[float]:
    """Return RTTs in seconds, each of which represents an equal part of the flows."""
    if law.low == law.high:
        return [float(law.low)]
    middles = (np.arange(_POINTS) + 0.5) / _POINTS
    return [max(float(picosecond) / 1e12, 1e-9) for picosecond in picoseconds(law, middles)]


_PROBABILITIES = (0.50, 0.95, 0.99)


def _spread(
    mean: SupportsFloat, quantiles: Iterable[SupportsFloat], unit: float = 1.0
) -> Quantiles:
    """Return a mean and the quantiles of ``_PROBABILITIES``, in so many units."""
    of_mean, p50, p95, p99 = (exact(float(value) * unit) for value in (mean, *quantiles))
    return Quantiles(mean=of_mean, p50=p50, p95=p95, p99=p99)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction for one link, in packets and seconds. None means that no law gives the value.

    ``laws`` are the sources; ``goal_metrics`` has the metrics of goals beyond the other fields.
    """

    utilization: float
    loss_rate: Metric | None
    queue_packets: Quantiles | None
    queue_delay_s: Quantiles | None
    laws: tuple[Law, ...]
    goal_metrics: dict[str, Metric]

    @property
    def is_bound(self) -> bool:
        """Whether the utilization is a lower bound (eq. 6), and no prediction."""
        return any(map(_bounds, self.laws))


def _bounds(law: Law) -> bool:
    return law is laws.utilization.LAW or law.name == MIX


def predict_long_flows(scenario: Scenario, law: Law) -> Prediction | None:
    """Return the prediction of `law`, which governs `scenario` and is one of long flows."""
    if _bounds(law):
        return _desynchronized(scenario, law)
    if law is laws.general_decrease.LAW:  # few flows in step whose control does not halve
        used = laws.general_decrease.mean_utilization(scenario)
        assert used is not None
        return Prediction(used, None, None, None, (law,), longest_delay(scenario))
    if law in (laws.single_flow.LAW, laws.synchronized.LAW):
        return _sawtooth(scenario, law)
    raise ValueError(f"{law.name} is not a law of long flows")


def _sawtooth(scenario: Scenario, law: Law) -> Prediction:
    """Prediction for one window, or for synchronized windows (paper A, appendix B)."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    second = 1.0 / capacity(scenario)
    waiting = [laws.sawtooth.queue_quantile(p, size, bdp) for p in _PROBABILITIES]
    seen = [laws.sawtooth.queue_seen_quantile(p, size, bdp) for p in _PROBABILITIES]
    metrics = goal_metrics(scenario, in_step=True) if halves(scenario) else longest_delay(scenario)
    return Prediction(
        utilization=float(laws.sawtooth.utilization(size, bdp)),
        loss_rate=of_few(scenario),
        queue_packets=_spread(laws.sawtooth.queue_mean(size, bdp), waiting),
        queue_delay_s=_spread(laws.sawtooth.queue_seen_mean(size, bdp), seen, second),
        laws=(law,),
        goal_metrics=metrics,
    )


def _desynchronized(scenario: Scenario, law: Law) -> Prediction:
    """Prediction for desynchronized windows (eq. 4 to 6); the delay is Q/C."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    second = 1.0 / capacity(scenario)
    quantiles = [laws.desynchronized.queue_quantile(p, size, bdp, n) for p in _PROBABILITIES]
    mean = laws.desynchronized.queue_mean(size)
    return Prediction(
        utilization=float(laws.utilization.utilization(size, bdp, n)),
        loss_rate=of_many(scenario),
        queue_packets=_spread(mean, quantiles),
        queue_delay_s=_spread(mean, quantiles, second),
        laws=(law, laws.response.LAW),
        goal_metrics=goal_metrics(scenario, in_step=False),
    )


def goal_metrics(scenario: Scenario, *, in_step: bool) -> dict[str, Metric]:
    """Return the goals' metrics; `in_step` is whether the windows are synchronized."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets

    def waiting(quantile: float) -> float:
        if in_step:
            return float(laws.sawtooth.queue_seen_quantile(quantile, size, bdp))
        return float(laws.desynchronized.queue_quantile(quantile, size, bdp, scenario.n_flows))

    values = _probabilities(scenario, in_step) | _delays(scenario, waiting)
    return {name: exact(value) for name, value in values.items()}


def longest_delay(scenario: Scenario) -> dict[str, Metric]:
    """Return only the maximum delay, which does not depend on the windows."""
    wanted = scenario.goals.queue_delay
    if wanted is None or wanted.maximum is None:
        return {}
    return {model.DELAY_MAXIMUM: exact(scenario.buffer_packets / capacity(scenario))}


def _probabilities(scenario: Scenario, in_step: bool) -> dict[str, float]:
    used, lost = scenario.goals.utilization, scenario.goals.loss_rate
    probabilities = {}
    if used is not None and used.probability is not None:
        # P(W >= BDP) for any target: a lower bound, for the law has no utilization of less.
        busy = 1.0 - _below(scenario, scenario.bdp_packets)
        busy = _busy_in_step(scenario, float(used)) if in_step else busy
        probabilities[model.UTILIZATION_PROBABILITY] = busy
    if lost is not None and lost.probability is not None:
        share, room = float(lost), scenario.bdp_packets + scenario.buffer_packets
        spared = 1.0 if share >= 1.0 else _below(scenario, room / (1.0 - share))
        spared = _spared_in_step(scenario, share) if in_step else spared
        probabilities[model.LOSS_PROBABILITY] = spared
    return probabilities


def _below(scenario: Scenario, windows: float) -> float:
    """P(W <= windows) of the normal W."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    sigma = float(laws.desynchronized.sigma(size, bdp, scenario.n_flows))
    return math.erfc((bdp + size / 2.0 - windows) / (sigma * math.sqrt(2.0))) / 2.0


def _busy_in_step(scenario: Scenario, used: float) -> float:
    """Share of a cycle with W >= used * BDP; below BDP every round trip takes 2 Tp."""
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    climb = max(used * bdp - (bdp + size) / 2.0, 0.0)
    return 1.0 - bdp * climb / float(laws.sawtooth.period(size, 1.0, bdp))


def _spared_in_step(scenario: Scenario, lost: float) -> float:
    """Share of a cycle before its last RTT, in which each flow loses 1 of (BDP + B) / n packets."""
    size, bdp, n = scenario.buffer_packets, scenario.bdp_packets, scenario.n_flows
    if n <= lost * (bdp + size):
        return 1.0
    cycle = float(laws.sawtooth.period(size, 1.0, bdp, n * growth(scenario)))
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
        delays[model.DELAY_MAXIMUM] = scenario.buffer_packets * second
    if wanted.quantile is not None:
        delays[model.delay_quantile_name(wanted.quantile)] = waiting(wanted.quantile) * second
    return delays


LEAST_OF_LOSS = 0.25
"""Smallest loss rate in simulations over this prediction, for bursts that fit the buffer."""


def predict_bursts(scenario: Scenario) -> Prediction | None:
    """Return the prediction for a scenario that `forebay.laws.burst_law.governs`.

    None if TCP would have to send so many packets again that flows are no longer bursts.
    """
    traffic = laws.short_flows.stable_traffic(scenario)
    if traffic is None:
        raise ValueError("no law of bursts governs this scenario")
    repeated = all(isinstance(group, Tcp) for group in scenario.crossing)
    size = min(scenario.buffer_packets, math.ceil(laws.burst_law.tail_end(traffic)) + 1)
    sizes, shares = traffic.bursts.sizes.tolist(), traffic.bursts.probabilities.tolist()
    queue = _solved(traffic.load, tuple(sizes), tuple(shares), size, repeated)
    if queue is None:
        return None
    endless = laws.burst_law.queue_of(traffic)  # P(Q > B) of an unlimited buffer
    over = 1.0
    if endless is not None:
        over = min(float(endless.tail(scenario.buffer_packets + 1)), 1.0)
    lost = queue.loss_rate
    below = np.cumsum(queue.waiting)  # of the packets that wait
    mean = float(np.dot(np.arange(queue.waiting.size), queue.waiting))
    waiting = [np.searchsorted(below, min(p, below[-1])) for p in _PROBABILITIES]
    seen_mean = laws.bursts.mean(queue, traffic.bursts, size)
    seen = [laws.bursts.quantile(queue, traffic.bursts, p, size) for p in _PROBABILITIES]
    own = scenario.buffer_packets
    values = _delays(scenario, lambda p: laws.bursts.quantile(queue, traffic.bursts, p, own))
    if scenario.goals.fct_increase == laws.completion_time.AFCT_INCREASE:  # the only one in paper A
        values[model.FCT_INCREASE] = float(laws.completion_time.increase(over))
    return Prediction(
        utilization=min(traffic.load, queue.utilization) if repeated else queue.utilization,
        loss_rate=_between(lost, LEAST_OF_LOSS * lost if repeated else lost, max(lost, over)),
        queue_packets=_spread(mean, waiting),
        queue_delay_s=_spread(seen_mean, seen, 1.0 / capacity(scenario)),
        laws=(laws.burst_law.LAW,),
        # Completion times beside delays; the law of bursts does not cover single round trips.
        goal_metrics={name: exact(value) for name, value in values.items()},
    )


@lru_cache(maxsize=64)
def _solved(
    load: float, sizes: tuple[int, ...], shares: tuple[float, ...], size: int, repeated: bool
) -> FiniteQueue | None:
    solve = laws.finite_queue.with_repeats if repeated else laws.finite_queue.finite_queue
    return solve(load, Bursts.given(sizes, shares), size)


class TheoryEngine(Engine):
    """Predicts a scenario with the law that governs it (`forebay.laws.governing_law`)."""

    name = "theory"

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Predict `scenario`; `seeds` are recorded, but do not change the result."""
        started = time.perf_counter()
        refuse_features(self.name, scenario, *_NOT_COVERED)
        law, prediction = governing_law(scenario), None
        if law is not None and bursts_only(scenario):
            prediction = predict_bursts(scenario)
        elif law is not None:
            prediction = predict_long_flows(scenario, law)
        if prediction is None:
            raise _no_law(scenario)
        outcome = checked(_outcome(scenario, prediction, list(seeds), started))
        effort.tell(1.0)
        return outcome


def _no_law(scenario: Scenario) -> NoLaw:
    """Return why no law applies, and with RTTs that are all alike that a spread would help."""
    regime = regime_of(scenario)
    why: str | Fact = f"{regime.regime}: {regime.why}".rstrip(".")
    if regime.law is not None:
        why = Fact("no-law.no-bursts", packets=scenario.buffer_packets)
    if regime.regime != "round trips alike":
        return NoLaw(why)
    ends = [f"{factor * 1e3 * float(scenario.mean_rtt):.3g} ms" for factor in (0.8, 1.2)]
    return NoLaw(why, Fact("no-law.spread", rtt=entry("rtt", {"uniform": ends})))


def _outcome(
    scenario: Scenario, prediction: Prediction, seeds: list[int], started: float
) -> Outcome:
    broken = (line for law in prediction.laws for line in law.broken(scenario))
    link = LinkOutcome(
        utilization=exact(prediction.utilization), loss_rate=prediction.loss_rate,
        queue_packets=prediction.queue_packets, queue_delay_s=prediction.queue_delay_s,
        buffer_packets=scenario.buffer_packets, bdp_packets=scenario.bdp_packets,
        capacity_bps=float(scenario.link.capacity), goal_metrics=prediction.goal_metrics,
    )  # fmt: skip
    classes = _classes(scenario, prediction)
    facts = {
        "seeds": seeds,
        "wall_s": time.perf_counter() - started,
        "laws": {law.name: law.source for law in prediction.laws},
        "lower_bounds": ["utilization"] if prediction.is_bound else [],
    }
    return Outcome.of(
        scenario, "theory", {BOTTLENECK: link}, classes, facts, broken=dict.fromkeys(broken)
    )


def _classes(scenario: Scenario, prediction: Prediction) -> list[ClassOutcome]:
    """Return the predictions for each class; a single class has the link's loss rate."""
    crossing = {id(group) for group in scenario.crossing}
    begin, delay = float(scenario.measure.warmup), prediction.queue_delay_s
    end, outcomes = begin + float(scenario.measure.duration), []
    alone = len(scenario.crossing) == 1
    for traffic, name, bps in zip(
        scenario.traffic, scenario.class_names, throughputs(scenario, prediction), strict=True
    ):
        crosses, rtt_s, active = id(traffic) in crossing, None, None
        if crosses and isinstance(traffic, Tcp) and delay is not None and delay.mean is not None:
            rtt_s = mean_alone(traffic.rtt.mean + delay.mean.value)
        if isinstance(traffic, Standing):  # flows that are expected to send in the window
            active = exact(traffic.flows * traffic.sending_share(begin, end))
        # Laws do not cover classes whose last link is another.
        ends_here = traffic.direction == "forward" and traffic.route[-1:] in ((), (BOTTLENECK,))
        outcomes.append(
            ClassOutcome(
                kind=traffic.kind, name=name, flows=traffic.flows, flows_active=active,
                link=BOTTLENECK if ends_here else "",
                throughput_bps=None if bps is None else exact(bps), goodput_bps=None, jain=None,
                rtt_s=rtt_s, loss_rate=prediction.loss_rate if crosses and alone else None,
                timeouts=None, fct_s=None,
            )
        )  # fmt: skip
    return outcomes


def throughputs(scenario: Scenario, prediction: Prediction) -> list[float | None]:
    """Return the bit/s of each class, None if no law gives it.

    A single class gets all that the link carries, unless the law only bounds that (eq. 6). Bursts
    get their offered rate, reduced by the loss rate unless all of them send lost packets again.
    Next to long flows, short flows get their offered rate, if there is room (paper A, §5.1.3).
    """
    groups = scenario.crossing
    here = {id(group) for group in groups}
    carried = None if prediction.is_bound else prediction.utilization * scenario.link.capacity
    if len(groups) == 1:
        return [carried if id(t) in here else None for t in scenario.traffic]
    delivered: float | None = None  # of what a class offers
    if laws.burst_law.LAW in prediction.laws:
        if all(isinstance(group, Tcp) for group in groups):
            delivered = 1.0
        elif prediction.loss_rate is not None:
            delivered = 1.0 - prediction.loss_rate.value
    elif laws.mix.LAW in prediction.laws:
        short = laws.quantities.short_share(scenario)
        delivered = 1.0 if prediction.utilization > short else None
    rates = [t.offered(scenario.link.capacity) if id(t) in here else None for t in scenario.traffic]
    return [None if delivered is None or rate is None else delivered * rate for rate in rates]
