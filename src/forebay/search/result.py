"""Assemble every result of a search: one place, whichever strategy found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.errors import argument
from forebay.outcome import (
    Aqm,
    Bracket,
    Buffer,
    Cost,
    CurvePoint,
    GoalAtPoint,
    GoalResult,
    Interval,
    LossWarning,
    Relaxation,
    SizeResult,
)
from forebay.search.evaluations import Evaluations
from forebay.search.goals import Goal
from forebay.search.observed import observed

if TYPE_CHECKING:
    from forebay.outcome import Scaled
    from forebay.scenario import Scenario
    from forebay.search.evaluations import Evaluation
    from forebay.search.problem import Problem
    from forebay.search.stopping import TimeLimit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a strategy says of the size that it found, beside the evaluations.

    Attributes
    ----------
    binding : the goals because of which it is not smaller.
    region : the sizes that meet all goals; the first begins at the answer.
    scaled : the smaller links that were simulated in the link's place.
    """

    buffer: Buffer
    binding: Sequence[Goal]
    region: Sequence[Interval]
    warning: LossWarning | None = None
    notes: Sequence[str] = ()
    scaled: Scaled | None = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why there is none.

    Attributes
    ----------
    against : the goals that prevent it; they are marked as binding.
    undecided : whether one may exist.
    """

    reason: str
    against: Sequence[Goal] = ()
    relaxations: Sequence[Relaxation] = ()
    scaled: Scaled | None = None
    undecided: bool = False


def answered(problem: Problem, evaluations: Evaluations, answer: Answer) -> SizeResult:
    """Return the result with an answer, whose size was evaluated."""
    there = evaluations.done[answer.buffer.packets]
    result = _result(problem, evaluations, there, answer.binding)
    return result.model_copy(
        update={
            "buffer": answer.buffer,
            "region": tuple(answer.region),
            "largest": answer.region[0].high,
            "notes": tuple(answer.notes),
            "loss_warning": answer.warning,
            "scaled": answer.scaled,
            "aqm": _aqm(problem, there),
        }
    )


def unanswered(
    problem: Problem, evaluations: Evaluations, why: NoAnswer, there: Evaluation | None
) -> SizeResult:
    """Return the result without an answer; ``there`` is the nearest miss, if any is known."""
    result = _result(problem, evaluations, there, why.against)
    return result.model_copy(
        update={
            "nearest": None if there is None else there.packets,
            "reason": why.reason,
            "relaxations": tuple(why.relaxations),
            "scaled": why.scaled,
            "undecided": why.undecided,
            "aqm": _aqm(problem, there),
        }
    )


def refused(problem: Problem, reason: str, bracket: Bracket | None) -> SizeResult:
    """Return the result of a search that could not begin: what laws say, and no answer."""
    why = NoAnswer(reason, undecided=True)
    found = unanswered(problem, Evaluations(problem.goals, problem.engine), why, None)
    return found.model_copy(update={"bracket": bracket})


def nearest_miss(evaluations: Evaluations) -> Evaluation | None:
    """Return the evaluation with the least normalized excess; None if nothing was evaluated."""
    tried = evaluations.done.values()
    return min(tried, key=lambda each: (each.normalized_excess(), each.packets), default=None)


def _result(
    problem: Problem,
    evaluations: Evaluations,
    there: Evaluation | None,
    binding: Sequence[Goal],
) -> SizeResult:
    """Return what every result has; ``there`` is the answer or the nearest miss."""
    context = problem.law_context
    return SizeResult(
        scenario=problem.scenario.name,
        engine=problem.engine,
        buffer=None,
        goals=() if there is None else _goal_results(there, binding),
        laws=context.results,
        curve=curve_of(evaluations),
        nearest=None,
        largest=None,
        limit=problem.limit,
        governs=context.regime,
        evidence=() if there is None else observed(problem.engine, there),
    )


def buffer_of(scenario: Scenario, low: int, packets: int, high: int | None = None) -> Buffer:
    """Return a size in packets, bytes and seconds.

    Parameters
    ----------
    low : every size below it was shown to miss.
    high : the end of the interval; None if it is the size itself.
    """
    octets = packets * int(scenario.packet)
    seconds = octets * 8 / float(scenario.link.capacity)
    top = packets if high is None else high
    return Buffer(packets=packets, bytes=octets, seconds=seconds, low=low, high=top)


def with_cost(found: SizeResult, predicted_s: float, time: TimeLimit) -> SizeResult:
    """Return a result with its expected and its actual time."""
    cost = Cost(predicted_s=predicted_s, spent_s=time.spent_s, budget_s=time.seconds)
    return found.model_copy(update={"cost": cost})


def interrupted(found: SizeResult, by: str) -> SizeResult:
    """Return a stopped sizing's result: its estimate is in the reason, and is no answer.

    ``by`` says what gives the estimate, such as "the links simulated so far give".
    """
    parts, buffer = ["stopped"], found.buffer
    if buffer is not None:
        parts.append(f"{by} {buffer.packets} packets ({buffer.low} to {buffer.high})")
    reason = "; ".join([*parts, started_again()])
    missing = {"buffer": None, "nearest": found.chosen, "region": (), "loss_warning": None}
    return found.model_copy(update={**missing, "reason": reason, "interrupted": True})


def started_again() -> str:
    """Return a note on what a new start reuses from a stopped sizing."""
    return f"a new start reuses only what is in {argument('store')}"


def _aqm(problem: Problem, there: Evaluation | None) -> Aqm | None:
    """Return the configuration if an AQM's target was sized; None otherwise."""
    if problem.parameter.guard_packets is None or there is None:
        return None
    return problem.parameter.describe(there.packets)


def _goal_results(there: Evaluation, binding: Sequence[Goal]) -> tuple[GoalResult, ...]:
    return tuple(
        GoalResult(
            name=goal.kind.name,
            sense=goal.kind.sense,
            direction=goal.kind.direction,
            unit=goal.kind.unit,
            target=goal.target,
            reached=there.metric(goal),
            verdict=goal.judge(there.metric(goal)),
            binding=goal in binding,
            title=goal.kind.title,
        )
        for goal in there.goals
    )


def _at_point(goal: Goal, there: Evaluation) -> GoalAtPoint:
    metric = there.metric(goal)
    return GoalAtPoint(name=goal.kind.name, reached=metric, verdict=goal.judge(metric))


def curve_of(evaluations: Evaluations) -> tuple[CurvePoint, ...]:
    """Return what was evaluated as the points of a result's curve, the smallest size first."""
    return tuple(
        CurvePoint(
            packets=packets,
            seeds=there.seeds,
            verdict=there.verdict(evaluations.goals),
            goals=tuple(_at_point(goal, there) for goal in evaluations.goals),
            outcome=there.outcome,
        )
        for packets, there in evaluations.sorted()
    )
