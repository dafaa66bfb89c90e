"""The time of a search: its clock, what runs cost on this machine, and what ends it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.engines.base import Decorator, Engine
from forebay.progress import with_stages
from forebay.search.cost import Speed

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.progress import Progress
    from forebay.scenario import Scenario

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

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the engine."""
        predicted_s, began, done = self._predicted_s(scenario, seeds), self._clock(), 0.0

        def report(fraction: float) -> None:
            nonlocal done
            done = fraction
            if progress is not None:
                progress(fraction)

        tick = with_stages(report, progress)
        try:
            outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=tick)
            done = 1.0
        finally:
            passed_s = self._clock() - began
            if passed_s > max(_TOO_SHORT_S, _CACHED * done * predicted_s) and done > 0.0:
                self._speed.add(done * predicted_s, passed_s)
        self._done.setdefault(scenario.sha256(), set()).update(seeds)
        return outcome

    def _predicted_s(self, scenario: Scenario, seeds: Sequence[int]) -> float:
        """Return the predicted seconds of a run; replications run before are cached."""
        fresh = len(set(seeds) - self._done.get(scenario.sha256(), set()))
        return math.ceil(fresh / self._speed.jobs) * self._speed.replication_s(scenario)


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
