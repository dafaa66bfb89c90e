"""Test for each buffer whether it meets the goals: the search for the edges of the region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult, Verdict
from forebay.search.acceptable_loss import loss_warning
from forebay.search.evaluator import Evaluator
from forebay.search.goals import Goal
from forebay.search.result import (
    Answer,
    NoAnswer,
    answered,
    buffer_of,
    nearest_miss,
    started_again,
    unanswered,
)
from forebay.search.stopping import Interrupted
from forebay.search.strategies.bisection import region
from forebay.search.strategies.bisection.notes import notes_of

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Session


@dataclass(frozen=True, slots=True)
class Bisected:
    """What a bisection found; it can evaluate further sizes."""

    problem: Problem
    result: SizeResult
    evaluator: Evaluator
    predicted_s: float = 0.0

    def evaluate(self, packets: int, session: Session) -> Evaluation:
        """Evaluate a size with as many seeds as the goals need."""
        return self.evaluator.settle(packets, self.problem.goals)


class Bisection:
    """Finds the region of the goals; its smallest buffer is the answer."""

    def answer(self, problem: Problem, session: Session) -> Bisected:
        """Return the answer, or how the goals must be relaxed if no buffer meets all."""
        evaluator = Evaluator(problem, session.engine, session.options)
        try:
            return Bisected(problem, _solve(problem, evaluator), evaluator)
        except KeyboardInterrupt:
            from forebay.search.strategies.bisection.best_so_far import best_so_far

            stopped = _unfinished(problem, evaluator)
            raise Interrupted(stopped, best_so_far(problem, evaluator.evaluations)) from None


def _solve(problem: Problem, evaluator: Evaluator) -> SizeResult:
    """Find the region; its smallest buffer is the answer. If it is empty, relax the goals."""
    start = problem.first_guess
    feasible = region.find(problem, evaluator, start, picture=True)
    if not feasible.spans:
        from forebay.search.strategies.bisection.relax import relaxations

        give_way = relaxations(evaluator, start)
        feasible = _again(problem, evaluator, start, feasible)
    evaluations = evaluator.evaluations
    if not feasible.spans:
        reason, against = _why_none(problem, evaluator, feasible)
        why = NoAnswer(reason + problem.parameter.unit_words, against, give_way)
        return unanswered(problem, evaluations, why, nearest_miss(evaluations))
    return _found(problem, evaluator, feasible)


def _found(problem: Problem, evaluator: Evaluator, feasible: region.FeasibleRegion) -> SizeResult:
    """Return the result with the smallest buffer of the region."""
    least, evaluations = feasible.spans[0][0], evaluator.evaluations
    there = evaluator.settle(least, problem.goals)
    low = feasible.need.low + 1 if least == feasible.need.high else least
    buffer = buffer_of(problem.scenario, low, least)
    spans = region.intervals(problem, evaluations, feasible.spans)
    binding = evaluations.not_met_below(least, problem.needing)
    warning = loss_warning(problem.scenario, evaluations, there, _looking(evaluator))
    notes = notes_of(problem, evaluations, buffer, spans)
    return answered(problem, evaluations, Answer(buffer, binding, spans, warning, notes))


def _looking(evaluator: Evaluator) -> Callable[[Evaluation], None]:
    """Return what looks for the buffer of acceptable loss; most answers do not need it."""

    def look(there: Evaluation) -> None:
        from forebay.search.strategies.bisection.loss import look_above

        look_above(evaluator, there)

    return look


def _again(
    problem: Problem, evaluator: Evaluator, start: int, seen: region.FeasibleRegion
) -> region.FeasibleRegion:
    """Search again if a buffer that was tried for another reason meets all goals."""
    tried = evaluator.done.values()
    if any(each.verdict(each.goals) is Verdict.MET for each in tried):
        return region.find(problem, evaluator, start)
    return seen


def _why_none(
    problem: Problem, evaluator: Evaluator, seen: region.FeasibleRegion
) -> tuple[str, tuple[Goal, ...]]:
    """Return why there is no region, and which goals prevent it."""
    from forebay.search.reasons import contradiction, memory_binds, nowhere, unreachable

    evaluations, least = evaluator.evaluations, seen.need.high
    needing, limit = problem.increasing, problem.limit
    if least is None:
        binds = memory_binds(problem.scenario, limit)
        return unreachable(evaluations, needing, limit) + binds, needing
    done = evaluations.done
    if seen.missed:
        against = (*evaluations.not_met_below(least, problem.needing), *seen.missed)
        most = None if seen.allow is None else done.get(seen.allow.low)
        return contradiction(needing, seen.missed, done[least], most), against
    high = limit if seen.allow is None or seen.allow.high is None else seen.allow.low
    either = problem.non_monotone
    return nowhere(evaluations, either, least, max(least, high)), either


def _unfinished(problem: Problem, evaluator: Evaluator) -> SizeResult:
    tried = len(evaluator.done)
    buffers = "1 buffer" if tried == 1 else f"{tried} buffers"
    why = NoAnswer(f"stopped after {buffers}; {started_again()}")
    evaluations = evaluator.evaluations
    stopped = unanswered(problem, evaluations, why, nearest_miss(evaluations))
    return stopped.model_copy(update={"interrupted": True})
