"""Goals that may be met between two sizes that miss: scan a range, then refine its ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from forebay.outcome import Verdict
from forebay.search.goals import Goal
from forebay.search.strategies.bisection.bracket import FINENESS, middle

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation
    from forebay.search.evaluator import Evaluator

GRID = 13
MOST_TRIES = 90
"""An exploration stops after this total number of buffers."""

Span = tuple[int, int]


def explore(evaluator: Evaluator, goals: Sequence[Goal], low: int, high: int) -> list[Span]:
    """Return the runs of buffers within [low, high] at which the goals are shown to be met.

    Each end is exact to a packet, or to 1/32 if noise leaves buffers undecided. The search can
    miss a range of sizes on the far side of the best buffer, if it is narrower than a step of the
    first scan (a ratio of (high / low)^(1/12)).
    """
    for first in grid(low, high):
        evaluator.settle(first, goals)
    if not _met(evaluator, goals, low, high):
        _hunt(evaluator, low, high, lambda each: worst(each, goals), goals)
    while (packets := _next(evaluator, goals, low, high)) is not None and _budget_left(evaluator):
        evaluator.settle(packets, goals)
    return _runs(evaluator, goals, low, high)


def best(evaluator: Evaluator, goal: Goal, low: int, high: int) -> Evaluation:
    """Return the evaluation in [low, high] with one goal's metric nearest to its target."""
    for packets in grid(low, high):
        evaluator.at(packets)

    def excess(there: Evaluation) -> float:
        return goal.normalized_excess(there.metric(goal))

    _hunt(evaluator, low, high, excess, (goal,), to_end=True)
    return min(_within(evaluator, low, high), key=excess)


def grid(low: int, high: int) -> list[int]:
    """Return buffers from low to high at equal ratios, including both ends."""
    steps = (low * (high / low) ** (i / (GRID - 1)) for i in range(GRID))
    return sorted({min(max(round(packets), low), high) for packets in steps})


def worst(there: Evaluation, goals: Sequence[Goal]) -> float:
    """Return the normalized excess of the worst goal."""
    return max(goal.normalized_excess(there.metric(goal)) for goal in goals)


def _hunt(
    evaluator: Evaluator,
    low: int,
    high: int,
    excess: Callable[[Evaluation], float],
    goals: Sequence[Goal],
    *,
    to_end: bool = False,
) -> None:
    """Narrow the range around the least excess, until the goals are met or no buffer remains."""
    while _budget_left(evaluator):
        tried = sorted(_within(evaluator, low, high), key=lambda each: each.packets)
        at = min(range(len(tried)), key=lambda i: excess(tried[i]))
        if not to_end and tried[at].verdict(goals) is Verdict.MET:
            return
        gaps = [(tried[i], tried[i + 1]) for i in (at - 1, at) if 0 <= i < len(tried) - 1]
        open_ = [(a.packets, b.packets) for a, b in gaps if b.packets - a.packets > _step(b)]
        if not open_:
            return
        packets = middle(*max(open_, key=lambda gap: gap[1] / gap[0]))
        if to_end:
            evaluator.at(packets)
        else:
            evaluator.settle(packets, goals)


def _step(there: Evaluation) -> int:
    noisy = any(metric.low is not None for metric in there.metrics)
    return max(1, there.packets // FINENESS) if noisy else 1


def _next(evaluator: Evaluator, goals: Sequence[Goal], low: int, high: int) -> int | None:
    """Return a buffer between a met and an unmet neighbour that are not yet close."""
    tried = sorted(_within(evaluator, low, high), key=lambda each: each.packets)
    for a, b in pairwise(tried):
        verdicts = (a.verdict(goals), b.verdict(goals))
        if (verdicts[0] is Verdict.MET) == (verdicts[1] is Verdict.MET):
            continue
        step = max(1, b.packets // FINENESS) if Verdict.UNDECIDED in verdicts else 1
        if b.packets - a.packets > step:
            return middle(a.packets, b.packets)
    return None


def _runs(evaluator: Evaluator, goals: Sequence[Goal], low: int, high: int) -> list[Span]:
    spans: list[Span] = []
    last = False
    for each in sorted(_within(evaluator, low, high), key=lambda each: each.packets):
        met = each.verdict(goals) is Verdict.MET
        if met and last:
            spans[-1] = (spans[-1][0], each.packets)
        elif met:
            spans.append((each.packets, each.packets))
        last = met
    return spans


def _met(evaluator: Evaluator, goals: Sequence[Goal], low: int, high: int) -> bool:
    return any(each.verdict(goals) is Verdict.MET for each in _within(evaluator, low, high))


def _within(evaluator: Evaluator, low: int, high: int) -> list[Evaluation]:
    return [each for packets, each in evaluator.done.items() if low <= packets <= high]


def _budget_left(evaluator: Evaluator) -> bool:
    return len(evaluator.done) < MOST_TRIES
