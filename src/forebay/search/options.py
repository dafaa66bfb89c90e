"""How a search may run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.progress import Progress

Clock = Callable[[], float]
"""Returns seconds."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a search may run.

    Attributes
    ----------
    seeds : seeds of each first run; every buffer runs with the same ones.
    max_seeds : the most seeds that a buffer may use in total if its 95 % interval does not clear a
        target (no effect below ``len(seeds)``).
    jobs : passed on to the engine; 0 is one for each core.
    budget_s : elapsed seconds; None lets the search take its time.
    progress : called with the fraction done, an estimate that never decreases.
    expect : with a budget called once, before anything runs, with the predicted seconds.
    clock : tests replace it.
    started_at : when the time began, by the clock; None is when the search begins.
    """

    seeds: Sequence[int]
    max_seeds: int
    jobs: int = 0
    budget_s: float | None = None
    progress: Progress | None = None
    expect: Callable[[float], None] | None = None
    clock: Clock = time.monotonic
    started_at: float | None = None

    @property
    def threads(self) -> int:
        """Replications that run in parallel."""
        return self.jobs or os.cpu_count() or 1

    def with_progress(self, progress: Progress | None) -> Options:
        """Return the same options with another callback."""
        return replace(self, progress=progress)

    def with_seeds(self, seeds: Sequence[int]) -> Options:
        """Return the same options with these seeds alone."""
        return replace(self, seeds=seeds, max_seeds=len(seeds))
