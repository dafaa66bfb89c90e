"""Warm-up and window of the runs of a search: long enough for sawtooths, or shorter for the time.

A few flows with large windows and long round trips take minutes from one loss to the next. A
shorter window measures a part of one sawtooth: its mean depends on where the window begins. Flows
whose slow start ended with losses climb for as long, and until then a link needs a larger buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome.settling import models_settle_s
from forebay.scenario import Duration, Long, Measure, Standing
from forebay.scenario.distribution import Distribution

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.problem import Sawtooths

USUAL_START_S = 10.0
"""Within which flows start where nobody said when."""
_LONGEST_S = 80_000.0
"""A scenario runs for a day at most."""
_ROUND_TRIPS = 20.0
_LEAST_S, _LEAST_ROUND_TRIPS = 0.2, 30.0
"""The shortest window: a retransmission timeout (TCP_RTO_MIN, linux/tcp.h), some round trips."""


def is_fixed(scenario: Scenario) -> bool:
    """Whether the scenario sets its measured window."""
    return "measure" in scenario.model_fields_set


def measure_of(warmup: float, duration: float, share: float = 1.0) -> Measure:
    """Return a share of a warm-up and a window, to a millisecond."""
    window = max(round(share * duration, 3), 0.001)
    return Measure(warmup=Duration(round(share * warmup, 3)), duration=Duration(window))


def least_warmup(scenario: Scenario) -> float:
    """Return the seconds until every flow has started, completed some round trips, and probed."""
    starts = [float(g.start.high) for g in scenario.traffic if isinstance(g, Standing)]
    models = [models_settle_s(group) for group in scenario.traffic if isinstance(group, Long)]
    return max(max(starts, default=0.0) + _ROUND_TRIPS * float(scenario.mean_rtt), *models, 0.0)


def wanted(scenario: Scenario, packets: int, sawtooths: Sawtooths | None) -> Measure:
    """Return the measurement that the flows of a link need at a buffer; the scenario's if set."""
    measure = scenario.measure
    if is_fixed(scenario) or sawtooths is None or scenario.topology is not None:
        return measure
    times = sawtooths(scenario, max(1, packets))
    warmup = max(float(measure.warmup), times.warmup_s, least_warmup(scenario))
    duration = max(float(measure.duration), times.window_s)
    return measure_of(warmup, duration, min(1.0, _LONGEST_S / (warmup + duration)))


def shorter(measure: Measure, rtt_s: float, share: float) -> Measure:
    """Return about a share of a measurement of flows with a mean round trip.

    The window gives way first, then the warm-up: 30 round trips of window, and as many again of
    warm-up, are the least.
    """
    least_s = max(_LEAST_S, _LEAST_ROUND_TRIPS * rtt_s)
    whole_s = share * float(measure.warmup + measure.duration)
    warmup = min(float(measure.warmup), max(least_s, whole_s / 2.0))
    return measure_of(warmup, min(float(measure.duration), max(least_s, whole_s - warmup)))


def measured(scenario: Scenario, measure: Measure) -> Scenario:
    """Return the scenario with a measurement; flows whose start nobody wrote begin early in it."""
    latest = min(USUAL_START_S, float(measure.warmup) / 2.0)
    start = Distribution.uniform_between(Duration(0), Duration(round(latest, 4)))
    traffic = tuple(
        group.model_copy(update={"start": start})
        if isinstance(group, Standing)
        and "start" not in group.model_fields_set
        and group.start.high > latest
        else group
        for group in scenario.traffic
    )
    return scenario.model_copy(update={"measure": measure, "traffic": traffic})
