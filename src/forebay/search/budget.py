"""The time of a search: its clock, what runs cost on this machine, and what ends it.

Warm-up and window of the runs of a search: long enough for sawtooths, or shorter for the time.

A few flows with large windows and long round trips take minutes from one loss to the next. A
shorter window measures a part of one sawtooth: its mean depends on where the window begins. Flows
whose slow start ended with losses climb for as long, and until then a link needs a larger buffer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Decorator, Engine
from forebay.laws.assumptions import SawtoothsOf
from forebay.outcome import Outcome, SizeResult
from forebay.outcome.settling import models_settle_s
from forebay.progress import Progress, with_stages
from forebay.scenario import Duration, Long, Measure, Scenario, Standing
from forebay.scenario.distribution import Distribution
from forebay.search.cost import Speed

Clock = Callable[[], float]
"""Returns seconds."""

END = 0.97
"""Share of the time after which the last run is stopped; the rest is for the result."""
RESERVE = 0.9
"""Share of the remaining time that may be planned, because predictions have errors."""
_CACHED = 0.05
"""A run that took less than this share of its prediction was cached, and corrects nothing."""
_TOO_SHORT_S = 0.02
"""A run that lasted less corrects nothing: modules are imported during the first."""


class OutOfTime(KeyboardInterrupt):
    """The time ends in the middle of a run; an engine stops for it as for Ctrl-C."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a sizing; ``result`` has what stands."""

    def __init__(self, result: SizeResult) -> None:
        super().__init__(result.reason)
        self.result = result


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Seconds that began at ``started_at`` of the clock."""

    seconds: float
    clock: Clock
    started_at: float

    @classmethod
    def begin(cls, seconds: float, clock: Clock = time.monotonic) -> TimeLimit:
        """Return a limit that begins now."""
        return cls(seconds, clock, clock())

    @property
    def spent_s(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started_at

    @property
    def left_s(self) -> float:
        """Seconds until the end."""
        return self.seconds - self.spent_s

    def ending(self, progress: Progress | None, after_s: float = 0.0) -> Progress:
        """Return a callback that raises OutOfTime at the end, and else reports to ``progress``.

        ``after_s`` are the seconds that what comes after the last report takes.
        """
        last_s = END * self.seconds - after_s

        def tick(fraction: float) -> None:
            if self.spent_s > last_s:
                raise OutOfTime
            if progress is not None:
                progress(fraction)

        return with_stages(tick, progress)


class Timed(Decorator):
    """An engine whose runs, stopped ones included, correct the predicted time of the next."""

    def __init__(self, engine: Engine, speed: Speed, clock: Clock) -> None:
        super().__init__(engine)
        self._speed, self._clock = speed, clock
        self._done: dict[str, set[int]] = {}

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run the engine."""
        # Replications that were run before are cached.
        fresh = len(set(seeds) - self._done.get(scenario.sha256(), set()))
        predicted_s = math.ceil(fresh / self._speed.jobs) * self._speed.replication_s(scenario)
        began, done = self._clock(), 0.0

        def report(fraction: float) -> None:
            nonlocal done
            done = fraction
            effort.tell(fraction)

        tick = with_stages(report, effort.progress)
        try:
            outcome = self.engine.run(scenario, seeds, effort.telling(tick))
            done = 1.0
        finally:
            passed_s = self._clock() - began
            if passed_s > max(_TOO_SHORT_S, _CACHED * done * predicted_s) and done > 0.0:
                self._speed.add(done * predicted_s, passed_s)
        self._done.setdefault(scenario.sha256(), set()).update(seeds)
        return outcome


class PredictedTime(Decorator):
    """An engine with a clock that goes on by the predicted seconds of each new replication.

    A search with this clock gives the same answer on any machine, under any load.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._speed = Speed(1)
        self._passed_s = 0.0
        self._done: dict[str, set[int]] = {}

    def clock(self) -> float:
        """Return the predicted seconds of all runs so far."""
        return self._passed_s

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Run the engine; replications that it has made before take no time."""
        outcome = self.engine.run(scenario, seeds, effort)
        done = self._done.setdefault(scenario.sha256(), set())
        self._passed_s += len(set(seeds) - done) * self._speed.replication_s(scenario)
        done.update(seeds)
        return outcome


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
    return max([max(starts, default=0.0) + _ROUND_TRIPS * float(scenario.mean_rtt), *models])


def wanted(scenario: Scenario, packets: int, sawtooths: SawtoothsOf | None) -> Measure:
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
    traffic = (
        group.starting(start)
        if isinstance(group, Standing)
        and "start" not in group.model_fields_set
        and group.start.high > latest
        else group
        for group in scenario.traffic
    )
    return scenario.with_measure(measure).with_traffic(traffic)
