"""The smallest buffer that a stopped search had found to meet the goals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import SizeResult, Verdict
from forebay.search.acceptable_loss import loss_warning
from forebay.search.result import Answer, answered, buffer_of
from forebay.search.strategies.bisection import region
from forebay.search.strategies.bisection.notes import notes_of

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation, Evaluations
    from forebay.search.problem import Problem


def best_so_far(problem: Problem, evaluations: Evaluations) -> SizeResult | None:
    """Return the smallest buffer that was found to meet all goals; None if there is none.

    Also None if a larger buffer misses a goal that more buffer helps to meet: noise reversed one
    of the two, and the search had not yet found which. Nothing more is run.
    """
    tried = evaluations.sorted()
    too_small = [b for b, each in tried if each.verdict(problem.increasing) is Verdict.MISSED]
    below = max(too_small, default=0)
    run = _first_run([(b, each) for b, each in tried if b > below])
    if not run:
        return None
    least, most = run[0], run[-1]
    if most == tried[-1][0] and not problem.decreasing:
        most = problem.limit
    spans = region.intervals(problem, evaluations, [(least, max(least, most))])
    low = below + 1 if problem.increasing else least
    there, buffer = evaluations.done[least], buffer_of(problem.scenario, low, least)
    binding = evaluations.not_met_below(least, problem.needing)
    warning = loss_warning(problem.scenario, evaluations, there)
    notes = notes_of(problem, evaluations, buffer, spans, finished=False)
    return answered(problem, evaluations, Answer(buffer, binding, spans, warning, notes))


def _first_run(tried: list[tuple[int, Evaluation]]) -> list[int]:
    """Return the first run of consecutive evaluated buffers that meet all goals."""
    run: list[int] = []
    for packets, each in tried:
        if each.verdict(each.goals) is Verdict.MET:
            run.append(packets)
        elif run:
            break
    return run
