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
_TOO_SHORT = 0.02
"""Of a run that was stopped: less of it tells nothing."""


class OutOfTime(KeyboardInterrupt):
    """The time is spent in the middle of a run; an engine stops for it as for Ctrl-C."""


class Timed:
    """An engine that counts what its runs take by the clock, those that are stopped as well."""

    def __init__(self, engine: Engine, speed: Speed, clock: Callable[[], float]) -> None:
        self._engine, self._speed, self._clock = engine, speed, clock
        self._played: dict[str, set[int]] = {}

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
        begun, done = self._clock(), 0.0

        def told(fraction: float) -> None:
            nonlocal done
            done = fraction
            if progress is not None:
                progress(fraction)

        try:
            outcome = self._engine.run(scenario, seeds, jobs=jobs, progress=told)
            done = 1.0
            return outcome
        finally:
            self._count(scenario, seeds, done, self._clock() - begun)

    def _count(
        self, scenario: Scenario, seeds: Sequence[int], done: float, passed_s: float
    ) -> None:
        """Let what a run took correct the speed; replications that it has played take nothing."""
        played = self._played.setdefault(scenario.sha256(), set())
        fresh = len(set(seeds) - played)
        simulated = float(scenario.measure.warmup + scenario.measure.duration)
        rounds = math.ceil(fresh / self._speed.jobs)
        predicted_s = done * rounds * cost_s(scenario, simulated)
        if done == 1.0:
            played.update(seeds)
        if done > _TOO_SHORT and passed_s > _KNOWN * predicted_s > 0.0:
            self._speed.add(predicted_s, passed_s)
