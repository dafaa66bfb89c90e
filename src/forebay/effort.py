"""What an answer may take: replications, threads, memory, time; and who is told how far it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from forebay.progress import Progress, part


@dataclass(frozen=True, slots=True)
class Effort:
    """One object for all that is passed on beside a question.

    Attributes
    ----------
    engine : name of an engine.
    seeds : replications, with seeds 1, 2, ….
    jobs : threads; 0 means one for each core. No result depends on it.
    memory_limit, budget : as text, such as "4 GB" and "2 min"; None for the verb's own.
    store : file where replications are kept; None for none.
    progress : called with the fraction done, 0 to 1.
    """

    engine: str = "simulation"
    seeds: int = 5
    jobs: int = 0
    memory_limit: str | None = None
    budget: str | None = None
    store: Path | None = None
    progress: Progress | None = None

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self.jobs or os.cpu_count() or 1

    def of(self, seeds: int) -> Effort:
        """Return the same with another number of replications."""
        return replace(self, seeds=seeds)

    def telling(self, progress: Progress | None) -> Effort:
        """Return the same with another callback."""
        return replace(self, progress=progress)

    def tell(self, fraction: float) -> None:
        """Report the fraction done, if somebody wants to know."""
        if self.progress is not None:
            self.progress(fraction)

    def shares(self, count: int) -> Iterator[Effort]:
        """Yield the effort of each of ``count`` equal parts of a job, in their order."""
        for place in range(count):
            yield replace(self, progress=part(self.progress, place, count))


DEFAULT = Effort()
"""Of a call that says nothing of it."""
