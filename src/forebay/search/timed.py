"""Time the runs of an engine: each corrects the predicted time of the next."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forebay.engines.base import Decorator, Engine
from forebay.progress import with_stages
from forebay.search.cost import Speed

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.search.options import Clock

_CACHED = 0.05
"""A run that took less than this share of its prediction was cached, and corrects nothing."""
_TOO_SHORT_S = 0.2
"""A stopped run that lasted less corrects nothing."""
_START_S = 1.0
"""A first run with a shorter prediction corrects nothing: modules are imported during it."""


class Timed(Decorator):
    """An engine whose runs, stopped ones included, correct the predicted time of the next.

    Parameters
    ----------
    before_run : called with the expected seconds of each run; it may raise.
    """

    def __init__(
        self,
        engine: Engine,
        speed: Speed,
        clock: Clock,
        *,
        before_run: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(engine)
        self._speed, self._clock = speed, clock
        self._before_run = before_run
        self._done: dict[str, set[int]] = {}
        self._started = False

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the engine."""
        predicted_s = self._predicted_s(scenario, seeds)
        if self._before_run is not None:
            self._before_run(self._speed.factor * predicted_s)
        started_at = self._clock()
        first = last = (started_at, 0.0)

        def report(fraction: float) -> None:
            nonlocal first, last
            last = (self._clock(), fraction)
            first = first if first[1] else last
            if progress is not None:
                progress(fraction)

        try:
            tick = with_stages(report, progress)
            outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=tick)
        except KeyboardInterrupt:
            self._correct_by_part(predicted_s, last[1] - first[1], last[0] - first[0])
            raise
        self._correct(predicted_s, self._clock() - started_at)
        self._done.setdefault(scenario.sha256(), set()).update(seeds)
        return outcome

    def _predicted_s(self, scenario: Scenario, seeds: Sequence[int]) -> float:
        """Return the predicted seconds of a run; replications run before are cached."""
        fresh = len(set(seeds) - self._done.get(scenario.sha256(), set()))
        return math.ceil(fresh / self._speed.jobs) * self._speed.replication_s(scenario)

    def _correct(self, predicted_s: float, passed_s: float) -> None:
        """Correct the speed by a whole run."""
        is_first, self._started = not self._started, True
        if is_first and predicted_s < _START_S:
            return
        if passed_s > _CACHED * predicted_s > 0.0:
            self._speed.add(predicted_s, passed_s)

    def _correct_by_part(self, predicted_s: float, done: float, passed_s: float) -> None:
        """Correct the speed by the part of a stopped run between its first and last report."""
        if done > 0.0 and passed_s > _TOO_SHORT_S:
            self._speed.add(done * predicted_s, passed_s)


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

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the engine; replications that it has made before take no time."""
        outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=progress)
        done = self._done.setdefault(scenario.sha256(), set())
        self._passed_s += len(set(seeds) - done) * self._speed.replication_s(scenario)
        done.update(seeds)
        return outcome
