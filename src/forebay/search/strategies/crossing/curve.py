"""The curve of one link: its normalized excess at a buffer, read from an evaluator's runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forebay.scenario import Duration, Scenario
from forebay.search.evaluator import Evaluator
from forebay.search.evidence import Evidence
from forebay.search.goals import Goal, GoalNotAnswered
from forebay.search.problem import problem_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.search.options import Options

_LEAST_EXCESS = 1e-6
_LEAST_COARSE_S = 10.0
COARSE_SEEDS = 2
COARSE_SHARE = 0.25
"""Share of the window for a coarse run, which only locates the range of the fine runs."""


@dataclass(slots=True)
class LinkCurve:
    """A link simulated by an engine; the evaluator keeps what ran over the whole window.

    Attributes
    ----------
    seeds : of every fine run.
    """

    evaluator: Evaluator
    seeds: Sequence[int]

    @property
    def limit(self) -> int:
        """The largest buffer to try, packets."""
        return self.evaluator.problem.limit

    def coarse(self, packets: int) -> float:
        """Return the log of the worst normalized excess, from a short run."""
        measure = self.evaluator.problem.scenario.measure
        window = min(measure.duration, max(_LEAST_COARSE_S, COARSE_SHARE * measure.duration))
        short = measure.model_copy(update={"duration": Duration(window)})
        seeds = self.seeds[:COARSE_SEEDS]
        excesses = self._excesses(self.evaluator.simulate(packets, seeds, measure=short))
        return math.log(max(*excesses, _LEAST_EXCESS))

    def fine(self, packets: int) -> NDArray[np.float64]:
        """Return the normalized excess, shape (goals, seeds)."""
        outcome = self.evaluator.simulate(packets, self.seeds)
        self.evaluator.evaluations.record(packets, outcome)
        # The engine knows the replications that were just simulated together.
        alone = [self.evaluator.simulate(packets, [seed]) for seed in self.seeds]
        return np.array([self._excesses(outcome) for outcome in alone]).T

    def _excesses(self, outcome: Outcome) -> list[float]:
        problem, seen = self.evaluator.problem, Evidence(outcome)
        return [_excess(goal, seen, problem.engine) for goal in problem.goals]


def curve_of(
    scenario: Scenario, engine: Engine, options: Options, goals: Sequence[Goal] | None = None
) -> LinkCurve:
    """Return the link's curve for some goals; None takes its increasing ones."""
    asked = problem_of(scenario, engine.name)
    wanted = asked.with_goals(asked.increasing if goals is None else goals)
    return LinkCurve(Evaluator(wanted, engine, options), options.seeds)


def _excess(goal: Goal, seen: Evidence, engine: str) -> float:
    metric = goal.kind.read(seen)
    if metric is None:
        raise GoalNotAnswered(goal.kind.name, engine)
    return goal.normalized_excess(metric)
