"""Published laws as an engine.

A law's value is exact for what it says and nothing was repeated to get it, so its metrics
carry no interval and a count of zero replications: ``Metric(value, None, None, n=0)``. That
eq. 6 is a lower bound stands in the provenance. What no law speaks of is None: with several
classes nothing of how they share the link; with one, its throughput and round trip follow
from the link's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from forebay.engines.errors import CannotPlay
from forebay.engines.theory.asked import asked
from forebay.engines.theory.prediction import Prediction, Spread, predict
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Provenance, Quantiles
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.engines.protocol import Progress
    from forebay.scenario import Scenario, Traffic


class TheoryEngine:
    """Answers a scenario by the law that governs it (`forebay.laws.governing_law`)."""

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "theory"

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Predict `scenario`; `seeds` are recorded, and change nothing."""
        started = time.perf_counter()
        if not scenario.n_flows:
            raise CannotPlay(self.name, "traffic without long flows or users", "traffic")
        prediction = predict(scenario)
        outcome = _outcome(scenario, prediction, list(seeds), started)
        if progress is not None:
            progress(1.0)
        return outcome


def _outcome(
    scenario: Scenario, prediction: Prediction, seeds: list[int], started: float
) -> Outcome:
    broken = (line for law in prediction.laws for line in law.broken(scenario))
    return Outcome(
        scenario=scenario.to_dict(),
        engine="theory",
        links={"bottleneck": _link(scenario, prediction)},
        classes=[_class(scenario, prediction, traffic) for traffic in scenario.traffic],
        broken_assumptions=list(dict.fromkeys(broken)),
        provenance=_provenance(scenario, prediction, seeds, started),
    )


def _link(scenario: Scenario, prediction: Prediction) -> LinkOutcome:
    return LinkOutcome(
        utilization=_exact(prediction.utilization),
        loss_rate=_loss(prediction),
        queue_packets=_spread(prediction.queue_packets),
        queue_delay_s=_spread(prediction.queue_delay_s),
        buffer_packets=scenario.buffer_packets,
        bdp_packets=scenario.bdp_packets,
        asked=asked(scenario, in_step=prediction.in_step),
    )


def _class(scenario: Scenario, prediction: Prediction, traffic: Traffic) -> ClassOutcome:
    """A class alone gets what the link carries; a round trip is propagation and queueing."""
    alone = len(scenario.traffic) == 1
    delay = prediction.queue_delay_s.mean
    rtt = _exact(traffic.rtt.mean + delay) if isinstance(traffic, Tcp) else None
    carried = prediction.utilization * scenario.link.rate
    return ClassOutcome(
        kind=traffic.kind,
        flows=traffic.flows,
        throughput_bps=_exact(carried) if alone else None,
        goodput_bps=None,
        jain=None,
        rtt_s=None if rtt is None else Quantiles(mean=rtt, p50=None, p95=None, p99=None),
        loss_rate=_loss(prediction) if alone else None,
        timeouts=None,
        fct_s=None,
    )


def _loss(prediction: Prediction) -> Metric | None:
    """None where windows are so small that the law's rate is no fraction any more."""
    return _exact(prediction.loss_rate) if prediction.loss_rate < 1.0 else None


def _exact(value: float) -> Metric:
    return Metric(value=float(value), low=None, high=None, n=0)


def _spread(spread: Spread) -> Quantiles:
    return Quantiles(
        mean=_exact(spread.mean),
        p50=_exact(spread.p50),
        p95=_exact(spread.p95),
        p99=_exact(spread.p99),
    )


def _provenance(
    scenario: Scenario, prediction: Prediction, seeds: list[int], started: float
) -> Provenance:
    return Provenance.model_validate(
        {
            "version": _version(),
            "seeds": seeds,
            "scenario_sha256": scenario.sha256(),
            "wall_s": time.perf_counter() - started,
            "laws": {law.name: law.source for law in prediction.laws},
        }
    )


@cache
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("forebay")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
