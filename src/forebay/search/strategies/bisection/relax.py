"""Find the least relaxation of each goal if no buffer meets all goals.

Yang, Zhang, Xu 2013, §VII.B relaxes two goals under a bound on the delay: the remaining
probability of a full link (18), and the additional drops (19). This module relaxes every goal
under all the others, with any engine: among the buffers that meet the others, the one with this
goal's metric nearest to its target gives the target that could be met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import Relaxation, Verdict
from forebay.search.goals import Goal
from forebay.search.relaxation import given_at, relaxation_of
from forebay.search.strategies.bisection import region
from forebay.search.strategies.bisection.explore import best

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation
    from forebay.search.evaluator import Evaluator


def relaxations(evaluator: Evaluator, start: int) -> tuple[Relaxation, ...]:
    """Return one relaxation per goal, in the order of the goals.

    Its ``relaxed`` and ``packets`` are None if no buffer meets the other goals together, so that
    it does not help to relax this goal alone.
    """
    return tuple(_relax(evaluator, goal, start) for goal in evaluator.problem.goals)


def _relax(evaluator: Evaluator, goal: Goal, start: int) -> Relaxation:
    others = [each for each in evaluator.problem.goals if each != goal]
    found = region.find(evaluator.problem.with_goals(others), evaluator, start)
    for there in _candidates(evaluator, goal, found):
        given = given_at(goal, there)
        if given.relaxed is not None and there.verdict(others) is Verdict.MET:
            return given
    return relaxation_of(goal, None, None)


def _candidates(evaluator: Evaluator, goal: Goal, found: region.FeasibleRegion) -> list[Evaluation]:
    """Return candidate buffers for the goal's best value, the most promising first."""
    if not found.spans:
        return []
    if goal.kind.direction == "increasing":
        return [evaluator.at(high) for _, high in reversed(found.spans)]
    if goal.kind.direction == "decreasing":
        return [evaluator.at(low) for low, _ in found.spans]
    each = [best(evaluator, goal, low, high) for low, high in found.spans]
    return sorted(each, key=lambda there: goal.normalized_excess(there.metric(goal)))
