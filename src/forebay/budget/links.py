"""A sizing of links of a network in packets, within a time: the search, as far as the time goes.

No smaller network stands for it: either the search ends within the time, or it is refused with
what it would take.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from forebay.budget.cost import SEARCH_LOOKS, Speed, packets_s
from forebay.budget.errors import TooLittleTime
from forebay.outcome import Cost, SizeResult
from forebay.sizing import size as search

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario


class PlayedLinks(Protocol):
    """An engine that plays a network for some of its links; ``scenario`` is the network's."""

    name: str
    scenario: Scenario

    @property
    def packets_per_second(self) -> float: ...

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome: ...


def size_links_within(
    question: Scenario,
    engine: PlayedLinks,
    budget_s: float,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    limit: int,
    jobs: int = 0,
    progress: Progress | None = None,
    expect: Callable[[float], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> SizeResult:
    """Search as `forebay.sizing.size` does, no longer than so many seconds.

    Parameters
    ----------
    expect : called once, before anything runs, with the seconds that it should take: about, for
        how many of the links are full shows only then.

    Raises
    ------
    TooLittleTime
        One buffer takes longer than that, or the search does.
    """
    timed = _Timed(engine, Speed(jobs or os.cpu_count() or 1), budget_s, clock)
    predicted_s = SEARCH_LOOKS * timed.takes_s(len(seeds))
    if expect is not None:
        expect(predicted_s)
    result = search(
        question, timed, seeds=seeds, max_seeds=max_seeds, jobs=jobs, progress=progress,
        limit=limit,
    )  # fmt: skip
    cost = Cost(predicted_s=predicted_s, spent_s=clock() - timed.begun_s, budget_s=budget_s)
    return result.model_copy(update={"cost": cost})


@dataclass(slots=True)
class _Timed:
    """Plays as long as the next run should end within the time."""

    engine: PlayedLinks
    speed: Speed
    budget_s: float
    clock: Callable[[], float]
    begun_s: float = 0.0
    runs: int = 0

    def __post_init__(self) -> None:
        self.begun_s = self.clock()

    @property
    def name(self) -> str:
        return self.engine.name

    def takes_s(self, seeds: int) -> float:
        """Return the seconds that a run of so many replications takes here, about."""
        measure = self.engine.scenario.measure
        simulated = float(measure.warmup + measure.duration)
        one = packets_s(self.engine.scenario, self.engine.packets_per_second * simulated)
        return self.speed.factor * math.ceil(seeds / self.speed.jobs) * one

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        takes, begun = self.takes_s(len(seeds)), self.clock()
        if begun + takes > self.begun_s + self.budget_s:
            tried = f"after {self.runs} buffers the search has not ended"
            why = tried if self.runs else "one buffer takes longer"
            needs = max(SEARCH_LOOKS - self.runs, 1.0) * takes + begun - self.begun_s
            raise TooLittleTime(why, needs, self.budget_s, of_network=True)
        outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=progress)
        self.runs += 1
        self.speed.add(takes / self.speed.factor, self.clock() - begun)
        return outcome
