"""The feasible region: every buffer that meets a set of goals, as one interval or several.

`bracket` searches its two boundaries, with a few more points for the picture.
Between them `explore` searches for goals without a fixed direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.outcome import Interval, Verdict
from forebay.search.goals import Goal
from forebay.search.strategies.bisection.bracket import (
    Bracket,
    Side,
    bracket,
    conflicts,
    next_buffer,
    steps_left,
)

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation, Evaluations
    from forebay.search.evaluator import Evaluator
    from forebay.search.problem import Problem

MAX_BUFFERS = 60
"""Upper bound on the buffers of a search, whatever the engine returns."""

PICTURE_POINTS = 9
PICTURE_SPAN = 4
NEAR = 1.12

_INCREASING: Mapping[Verdict, Side] = {
    Verdict.MISSED: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MET: Side.ABOVE,
}
_DECREASING: Mapping[Verdict, Side] = {
    Verdict.MET: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MISSED: Side.ABOVE,
}


@dataclass(frozen=True, slots=True)
class FeasibleRegion:
    """The result of a search of the region.

    ``need`` brackets the smallest buffer for the increasing goals, ``allow`` the largest for
    the decreasing ones (None if there are none, or if ``need`` is unreachable). ``spans``
    are the buffers that meet all goals, ends included, sorted; empty if there are none.
    ``missed`` contains the goals that ``need.high`` misses, if they are the reason.
    """

    need: Bracket
    allow: Bracket | None
    spans: tuple[tuple[int, int], ...]
    missed: tuple[Goal, ...] = ()


def find(
    problem: Problem, evaluator: Evaluator, start: int, *, picture: bool = False
) -> FeasibleRegion:
    """Search the lower end, then the upper, then between them goals without fixed direction.

    With ``picture`` the lower end is searched again with the points of the picture. This costs
    nothing unless one of them missed above a buffer found to meet.
    """
    need = _need(problem, evaluator, start)
    if picture and need.high is not None:
        paint(evaluator, need.high, problem.limit)
        need = _need(problem, evaluator, start)
    if need.high is None:
        return FeasibleRegion(need, None, ())
    allow, decreasing = None, problem.decreasing
    if decreasing:
        allow = largest_met(evaluator, decreasing, need.high, problem.limit)
    there = evaluator.settle(need.high, (*problem.increasing, *decreasing))
    missed = there.missed(decreasing)
    if missed:
        return FeasibleRegion(need, allow, (), tuple(missed))
    low, high = need.high, max(need.high, _ceiling(problem, evaluator, allow, need.high))
    spans = [(low, high)]
    if problem.non_monotone:
        from forebay.search.strategies.bisection.explore import explore

        spans = explore(evaluator, problem.non_monotone, low, high)
    return FeasibleRegion(need, allow, tuple(spans))


def _need(problem: Problem, evaluator: Evaluator, start: int) -> Bracket:
    """Return the bracket of the smallest buffer that meets the increasing goals."""
    goals = problem.increasing
    if not goals:  # no goal needs more than the smallest buffer
        return Bracket(0, 1, ())
    found = smallest_met(evaluator, goals, start, problem.limit)
    top = _largest_that_meets(evaluator, goals)
    if found.high is None and top is not None:
        return smallest_met(evaluator, goals, start, top)
    return found


def _largest_that_meets(evaluator: Evaluator, goals: Sequence[Goal]) -> int | None:
    """Return the largest buffer that was shown to meet the increasing goals; None if none.

    If larger ones are shown to miss, what the goals ask for falls again as the buffer grows: the
    utilization does with the target of some AQMs.
    """
    tried = evaluator.done.items()
    return max((b for b, each in tried if each.verdict(goals) is Verdict.MET), default=None)


def _ceiling(problem: Problem, evaluator: Evaluator, allow: Bracket | None, need: int) -> int:
    """Return the largest buffer that meets the goals, as far as is known."""
    most = problem.limit if allow is None or allow.high is None else allow.low
    goals, tried = problem.increasing, evaluator.done.items()
    verdicts = {b: each.verdict(goals) for b, each in tried if need <= b <= most}
    if goals and verdicts and verdicts[max(verdicts)] is Verdict.MISSED:
        return max(b for b, verdict in verdicts.items() if verdict is Verdict.MET)
    return most


def intervals(
    problem: Problem, evaluations: Evaluations, spans: Sequence[tuple[int, int]]
) -> tuple[Interval, ...]:
    """Return each span with the goals that bind at its ends; an end at the limit is open."""
    return tuple(
        Interval(
            low=low,
            high=None if high >= problem.limit else high,
            binding_low=_unmet(evaluations.below(low)),
            binding_high=_unmet(evaluations.above(high)) if high < problem.limit else (),
        )
        for low, high in spans
    )


def _unmet(outside: Evaluation | None) -> tuple[str, ...]:
    """Return the goals that are not shown to be met at a buffer just outside."""
    if outside is None:
        return ()
    return tuple(goal.kind.name for goal in outside.not_met(outside.goals))


def smallest_met(evaluator: Evaluator, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the smallest buffer that meets the increasing goals.

    ``high`` of the result is that buffer, or None if none up to ``limit`` is shown to meet
    them. ``low`` is the largest buffer shown to miss.
    """
    return _boundary(evaluator, goals, _INCREASING, start, limit)


def largest_met(evaluator: Evaluator, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the largest buffer that meets the decreasing goals: ``low`` of the result."""
    return _boundary(evaluator, goals, _DECREASING, start, limit)


def _boundary(
    evaluator: Evaluator,
    goals: Sequence[Goal],
    sides: Mapping[Verdict, Side],
    start: int,
    limit: int,
) -> Bracket:
    def table() -> dict[int, Side]:
        tried = evaluator.done.items()
        return {b: sides[each.verdict(goals)] for b, each in tried if b <= limit}

    while True:
        now = table()
        evaluator.remaining = steps_left(now, limit) + PICTURE_POINTS
        margins = {b: _margin(evaluator, b, goals, sides) for b in now}
        if recheck := [b for b in conflicts(now) if not evaluator.exhausted(b)]:
            evaluator.settle_fully(recheck[0])
        elif unsettled := [b for b in bracket(now).unsure if not evaluator.exhausted(b)]:
            evaluator.settle(unsettled[0], goals)
        elif len(now) >= MAX_BUFFERS or (b := next_buffer(now, start, limit, margins)) is None:
            return bracket(now)
        else:
            evaluator.settle(b, goals)


def _margin(
    evaluator: Evaluator, packets: int, goals: Sequence[Goal], sides: Mapping[Verdict, Side]
) -> tuple[float, float]:
    """Return how far a buffer lies above the boundary; see `bracket.Margins`."""
    there = evaluator.done[packets]
    narrower = math.sqrt(there.seeds / evaluator.max_seeds)
    each = [goal.log_normalized_excess(there.metric(goal), narrower) for goal in goals]
    least, most = (max(end) for end in zip(*each, strict=True))
    return (least, most) if sides is _DECREASING else (-most, -least)


def paint(evaluator: Evaluator, centre: int, limit: int) -> None:
    """Try a geometric series of buffers around the answer, where none is near yet."""
    wanted = list(picture(centre, limit))
    for i, packets in enumerate(wanted):
        evaluator.remaining = len(wanted) - i
        if len(evaluator.done) < MAX_BUFFERS and not _near(packets, evaluator.done):
            evaluator.at(packets)


def picture(centre: int, limit: int) -> Iterable[int]:
    """Buffers from a quarter of the answer to four times it, at equal ratios."""
    half = PICTURE_POINTS // 2
    sizes = (centre * PICTURE_SPAN ** (i / half) for i in range(-half, half + 1))
    return sorted({min(max(round(b), 1), limit) for b in sizes})


def _near(packets: int, tried: Iterable[int]) -> bool:
    return any(packets <= NEAR * b and b <= NEAR * packets for b in tried)
