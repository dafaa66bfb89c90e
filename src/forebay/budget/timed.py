"""An engine whose runs correct what the next one is expected to take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from forebay.budget.cost import Speed, cost_s

if TYPE_CHECKING:
    from forebay.engines.protocol import Engine
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_KNOWN = 0.05
"""Of what a run should take: one that takes less was known already, and tells nothing."""
_TOO_SHORT_S = 0.2
"""Of a run that was stopped: less of it tells nothing."""
_START_S = 1.0
"""A first run that should take less tells nothing: modules are read in it."""


class OutOfTime(KeyboardInterrupt):
    """The time is spent in the middle of a run; an engine stops for it as for Ctrl-C."""


class Timed:
    """An engine that counts what its runs take by the clock, those that are stopped as well."""

    def __init__(self, engine: Engine, speed: Speed, clock: Callable[[], float]) -> None:
        self._engine, self._speed, self._clock = engine, speed, clock
        self._played: dict[str, set[int]] = {}
        self._started = False

    @property
    def name(self) -> str:
        """Name of the engine behind."""
        return self._engine.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the engine behind; see there."""
        begun = self._clock()
        first = last = (begun, 0.0)

        def told(fraction: float) -> None:
            nonlocal first, last
            last = (self._clock(), fraction)
            first = first if first[1] else last
            if progress is not None:
                progress(fraction)

        fresh = self._fresh(scenario, seeds)
        try:
            outcome = self._engine.run(scenario, seeds, jobs=jobs, progress=told)
        except KeyboardInterrupt:
            self._count_stopped(fresh, last[1] - first[1], last[0] - first[0])
            raise
        self._count(fresh, self._clock() - begun)
        self._played.setdefault(scenario.sha256(), set()).update(seeds)
        return outcome

    def _fresh(self, scenario: Scenario, seeds: Sequence[int]) -> float:
        """Return the seconds that the replications should take; those played before take none."""
        fresh = len(set(seeds) - self._played.get(scenario.sha256(), set()))
        simulated = float(scenario.measure.warmup + scenario.measure.duration)
        return math.ceil(fresh / self._speed.jobs) * cost_s(scenario, simulated)

    def _count(self, predicted_s: float, passed_s: float) -> None:
        """Let what a run took correct the speed."""
        reads, self._started = not self._started, True
        if reads and predicted_s < _START_S:
            return
        if passed_s > _KNOWN * predicted_s > 0.0:
            self._speed.add(predicted_s, passed_s)

    def _count_stopped(self, predicted_s: float, done: float, passed_s: float) -> None:
        """Let the part of a stopped run correct it that it told of, without what it began with."""
        if done > 0.0 and passed_s > _TOO_SHORT_S:
            self._speed.add(done * predicted_s, passed_s)
