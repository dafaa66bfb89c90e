"""Notes on an answer by bisection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import Verdict
from forebay.search.evaluator import loss_rate
from forebay.search.parameter import notes_of as notes_of_parameter

if TYPE_CHECKING:
    from forebay.outcome import Buffer, Interval
    from forebay.search.evaluations import Evaluation, Evaluations
    from forebay.search.problem import Problem


def notes_of(
    problem: Problem,
    evaluations: Evaluations,
    buffer: Buffer,
    region: Sequence[Interval],
    *,
    finished: bool = True,
) -> tuple[str, ...]:
    """Return the notes; unless ``finished``, the range was not searched and has none."""
    there = evaluations.done[buffer.packets]
    range_ = _range(evaluations, buffer) if finished else []
    return (
        *range_,
        *_several(region),
        *_undecided(problem, there),
        *notes_of_parameter(problem.scenario, problem.engine, problem.parameter),
        *_only_delays(problem),
        *_reference(evaluations),
    )


def _range(evaluations: Evaluations, buffer: Buffer) -> list[str]:
    """Return a note on the range of the answer, if it is not a single size."""
    low, high = buffer.low, buffer.high
    if low == high:
        return []
    if all(not metric.n for metric in evaluations.done[high].metrics):
        return [f"between {low} and {high} packets: the law is not more exact than that"]
    seeds = max(each.seeds for each in evaluations.done.values())
    many = "1 seed does" if seeds == 1 else f"{seeds} seeds do"
    apart = f"between {low} and {high} packets; {many} not tell these apart"
    return [f"{apart}; more seeds narrow the range"]


def _several(region: Sequence[Interval]) -> list[str]:
    """Return a note if the buffers that meet the goals form several intervals."""
    if len(region) < 2:
        return []
    spans = ", ".join(f"{i.low} to {'the limit' if i.high is None else i.high}" for i in region)
    return [f"the goals are met in {len(region)} separate ranges: {spans} packets"]


def _undecided(problem: Problem, there: Evaluation) -> list[str]:
    return [
        f"{goal} is undecided at {there.packets} packets; more seeds can decide it"
        for goal in problem.decreasing
        if goal.judge(there.metric(goal)) is Verdict.UNDECIDED
    ]


def _only_delays(problem: Problem) -> list[str]:
    if problem.needing:
        return []
    return ["there are only delay goals, and the smallest buffer meets them best"]


def _reference(evaluations: Evaluations) -> list[str]:
    """Return a note on the reference for completion times."""
    if evaluations.reference is None:
        return []
    packets, outcome = evaluations.reference
    compared, lost = f"completion times are compared with {packets} packets", loss_rate(outcome)
    if not lost:
        return [f"{compared}, where nothing is dropped"]
    return [f"{compared}, where {lost:.2g} is still lost"]
