"""The one method that every engine has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from forebay.outcome import Outcome
from forebay.scenario import Scenario

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1; raising KeyboardInterrupt in it stops the run."""


class Engine(Protocol):
    """Answers a scenario; replications (one per seed) become intervals in the Outcome."""

    @property
    def name(self) -> str: ...

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome: ...
