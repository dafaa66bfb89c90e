"""An engine whose runs are told to the caller of a verb as they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forebay.engines.base import Decorator, Engine

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario

Observe = Callable[["Outcome"], None]


class Observed(Decorator):
    """Forwards to another engine, and calls ``observe`` with the Outcome of every run."""

    def __init__(self, engine: Engine, observe: Observe) -> None:
        super().__init__(engine)
        self._observe = observe

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the wrapped engine, and tell what it found."""
        outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=progress)
        self._observe(outcome)
        return outcome
