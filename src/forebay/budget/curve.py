"""Simulate one link at a buffer, and compare its results with its goals."""

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

    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.progress import Progress

_LEAST_HARM = 1e-6
_LEAST_COARSE_S = 10.0
COARSE_SEEDS = 2
COARSE_SHARE = 0.25
"""Share of the window for a coarse run, which only locates the range of the fine runs."""


@dataclass(slots=True)
class LinkCurve:
    """A link simulated by an engine, with all full-window outcomes by buffer."""

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
        """Return the log of the worst harm over the allowed harm, from a short run."""
        measure = self.scenario.measure
        window = min(measure.duration, max(_LEAST_COARSE_S, COARSE_SHARE * measure.duration))
        short = measure.model_copy(update={"duration": Duration(window)})
        sized = self.knob.set(self.scenario, packets).model_copy(update={"measure": short})
        harms = self._harms(self._run(sized, self.seeds[:COARSE_SEEDS]))
        return math.log(max(*harms, _LEAST_HARM))

    def fine(self, packets: int) -> NDArray[np.float64]:
        """Return harm over the allowed harm, shape (goals, seeds)."""
        sized = self.knob.set(self.scenario, packets)
        self.outcomes[packets] = self._run(sized, self.seeds)
        alone = [self._alone(sized, seed) for seed in self.seeds]
        return np.array([self._harms(outcome) for outcome in alone]).T

    def _run(self, sized: Scenario, seeds: Sequence[int]) -> Outcome:
        outcome = self.engine.run(sized, seeds, jobs=self.jobs, progress=self.progress)
        self.packets += outcome.provenance.packets or 0
        return outcome

    def _alone(self, sized: Scenario, seed: int) -> Outcome:
        """Return one of the replications that were just simulated together."""
        return self.engine.run(sized, [seed], jobs=self.jobs, progress=self.progress)

    def _harms(self, outcome: Outcome) -> list[float]:
        seen = Evidence(outcome)
        return [_harm(goal, seen) for goal in self.goals]


def curve_of(
    scenario: Scenario,
    engine: Engine,
    seeds: Sequence[int],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
) -> LinkCurve:
    """Return the link's curve for the goals that push its buffer up."""
    goals = tuple(goal for goal in goals_of(scenario) if goal.kind.pushes == "up")
    limit = upper_limit(scenario)
    knob = knob_of(scenario, engine.name, limit)
    return LinkCurve(scenario, engine, seeds, goals, knob, limit, jobs, progress)


def _harm(goal: Goal, seen: Evidence) -> float:
    """Return `Goal.excess` of one outcome: 1 is on target, and less than 1 meets the goal."""
    metric = goal.kind.read(seen)
    if metric is None:
        from forebay.sizing.goals import GoalNotAnswered

        raise GoalNotAnswered(goal.kind.name, "this engine")
    return goal.excess(metric)
