"""Published laws as an engine: one value without replications, so no interval and n = 0.

Metrics that no law covers are None; with several classes these include their shares of the link,
except where `throughputs` gives them. The provenance says that eq. 6 is a lower bound.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from forebay import laws
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine, exact, mean_alone
from forebay.engines.errors import NoLaw, refuse_features
from forebay.engines.theory.prediction import Prediction, predict_bursts, predict_long_flows
from forebay.errors import entry
from forebay.laws import governing_law, regime_of
from forebay.laws.quantities import bursts_only, short_share
from forebay.laws.regime_words import SIMULATE
from forebay.outcome import (
    ClassOutcome,
    LinkOutcome,
    Outcome,
    checked,
)
from forebay.scenario import Scenario, Standing, Tcp

_NOT_COVERED = (
    "topology", "shaper", "policer", "loss", "rate_trace", "down", "jitter", "class queues",
)  # fmt: skip


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
            raise NoLaw(_uncovered(scenario), _small_change(scenario))
        outcome = checked(_outcome(scenario, prediction, list(seeds), started))
        effort.tell(1.0)
        return outcome


def _uncovered(scenario: Scenario) -> str:
    """Return why no law applies."""
    regime = regime_of(scenario)
    if regime.law is not None:
        return f"with {scenario.buffer_packets} packets flows slow down and are no longer bursts"
    return f"{regime.regime}: {regime.why}".removesuffix(SIMULATE).strip().rstrip(".")


def _small_change(scenario: Scenario) -> str:
    """Return a change with which a law applies: RTTs with a spread, if all are alike."""
    if regime_of(scenario).regime != "round trips alike":
        return ""
    low, high = (f"{factor * 1e3 * float(scenario.mean_rtt):.3g} ms" for factor in (0.8, 1.2))
    return f"give the round trips a spread: {entry('rtt', {'uniform': [low, high]})}"


def _outcome(
    scenario: Scenario, prediction: Prediction, seeds: list[int], started: float
) -> Outcome:
    broken = (line for law in prediction.laws for line in law.broken(scenario))
    link = LinkOutcome(
        utilization=exact(prediction.utilization),
        loss_rate=prediction.loss_rate,
        queue_packets=prediction.queue_packets,
        queue_delay_s=prediction.queue_delay_s,
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
        capacity_bps=float(scenario.link.capacity),
        goal_metrics=prediction.goal_metrics,
    )
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
    end, found = begin + float(scenario.measure.duration), []
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
        found.append(
            ClassOutcome(
                kind=traffic.kind,
                name=name,
                flows=traffic.flows,
                flows_active=active,
                link=BOTTLENECK if ends_here else "",
                throughput_bps=None if bps is None else exact(bps),
                goodput_bps=None,
                jain=None,
                rtt_s=rtt_s,
                loss_rate=prediction.loss_rate if crosses and alone else None,
                timeouts=None,
                fct_s=None,
            )
        )
    return found


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
    elif laws.mix.LAW in prediction.laws and prediction.utilization > short_share(scenario):
        delivered = 1.0
    rates = [t.offered(scenario.link.capacity) if id(t) in here else None for t in scenario.traffic]
    return [None if delivered is None or rate is None else delivered * rate for rate in rates]
