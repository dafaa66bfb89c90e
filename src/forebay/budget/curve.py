"""What one link's goals reach at a buffer, from an engine that plays it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from forebay.scenario import Duration, Scenario
from forebay.sizing.evidence import Evidence
from forebay.sizing.goals import Goal, goals_of
from forebay.sizing.knob import Knob, knob_of
from forebay.sizing.question import upper_limit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.engines.protocol import Engine
    from forebay.outcome import Outcome
    from forebay.progress import Progress

_LEAST_HARM = 1e-6
_LEAST_COARSE_S = 10.0
COARSE_SEEDS = 2
COARSE_SHARE = 0.25
"""Of the window, for a look that only has to find where to look closely."""


@dataclass(slots=True)
class Played:
    """A link played by an engine, with all outcomes of the full window by buffer."""

    scenario: Scenario
    engine: Engine
    seeds: Sequence[int]
    goals: tuple[Goal, ...]
    knob: Knob
    limit: int
    jobs: int = 0
    progress: Progress | None = None
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    packets: int = 0

    def coarse(self, packets: int) -> float:
        """Return the log of the worst harm over what is allowed, from a short look."""
        measure = self.scenario.measure
        window = min(measure.duration, max(_LEAST_COARSE_S, COARSE_SHARE * measure.duration))
        short = measure.model_copy(update={"duration": Duration(window)})
        sized = self.knob.set(self.scenario, packets).model_copy(update={"measure": short})
        harms = self._harms(self._run(sized, self.seeds[:COARSE_SEEDS]))
        return math.log(max(*harms, _LEAST_HARM))

    def fine(self, packets: int) -> NDArray[np.float64]:
        """Return harm over what is allowed, shape (goals, seeds)."""
        sized = self.knob.set(self.scenario, packets)
        self.outcomes[packets] = self._run(sized, self.seeds)
        alone = [self._alone(sized, seed) for seed in self.seeds]
        return np.array([self._harms(outcome) for outcome in alone]).T

    def _run(self, sized: Scenario, seeds: Sequence[int]) -> Outcome:
        outcome = self.engine.run(sized, seeds, jobs=self.jobs, progress=self.progress)
        self.packets += outcome.provenance.packets or 0
        return outcome

    def _alone(self, sized: Scenario, seed: int) -> Outcome:
        """Return one replication of those that were just played together."""
        return self.engine.run(sized, [seed], jobs=self.jobs, progress=self.progress)

    def _harms(self, outcome: Outcome) -> list[float]:
        seen = Evidence(outcome)
        return [_harm(goal, seen) for goal in self.goals]


def play(
    scenario: Scenario,
    engine: Engine,
    seeds: Sequence[int],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Played:
    """Return the link ready to be looked at, for the goals that push its buffer up."""
    goals = tuple(goal for goal in goals_of(scenario) if goal.kind.pushes == "up")
    limit = upper_limit(scenario)
    knob = knob_of(scenario, engine.name, limit)
    return Played(scenario, engine, seeds, goals, knob, limit, jobs, progress)


def _harm(goal: Goal, seen: Evidence) -> float:
    """Return `Goal.excess` of one outcome: 1 is on target, less is met."""
    metric = goal.kind.read(seen)
    if metric is None:
        from forebay.sizing.goals import GoalNotAnswered

        raise GoalNotAnswered(goal.kind.name, "this engine")
    return goal.excess(metric)
