"""The feasible region: every buffer that meets a set of goals, as one interval or several.

`forebay.sizing.bracket` searches its two boundaries, with a few more points for the picture.
Between them `forebay.sizing.explore` searches for goals without a fixed direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forebay.outcome import Interval, Verdict
from forebay.sizing.bracket import Bracket, Side, bracket, conflicts, next_buffer, steps_left
from forebay.sizing.goals import Goal
from forebay.sizing.question import Question, Trials

MAX_BUFFERS = 60
"""Upper bound on the buffers of a search, whatever the engine returns."""

PICTURE_POINTS = 9
PICTURE_SPAN = 4
NEAR = 1.12

_UP: Mapping[Verdict, Side] = {
    Verdict.MISSED: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MET: Side.ABOVE,
}
_DOWN: Mapping[Verdict, Side] = {
    Verdict.MET: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MISSED: Side.ABOVE,
}


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search of the region.

    ``need`` brackets the smallest buffer for the goals that push up, ``allow`` the largest for
    those that push down (None if there are none, or if ``need`` is unreachable). ``spans``
    are the buffers that meet all goals, ends included, sorted; empty if there are none.
    ``missed`` contains the goals that ``need.high`` misses, if they are the reason.
    """

    need: Bracket
    allow: Bracket | None
    spans: tuple[tuple[int, int], ...]
    missed: tuple[Goal, ...] = ()


def find(question: Question, start: int, *, picture: bool = False) -> Found:
    """Search the lower end, then the upper, then between them goals without fixed direction.

    With ``picture`` the lower end is searched again with the points of the picture. This costs
    nothing unless one of them missed above a buffer found to meet.
    """
    need = _need(question, start)
    if picture and need.high is not None:
        paint(question.trials, need.high, question.limit)
        need = _need(question, start)
    if need.high is None:
        return Found(need, None, ())
    allow = None
    if question.down:
        allow = largest_met(question.trials, question.down, need.high, question.limit)
    there = question.trials.settle(need.high, (*question.up, *question.down))
    missed = [g for g in question.down if g.judge(there.metric(g)) is Verdict.MISSED]
    if missed:
        return Found(need, allow, (), tuple(missed))
    low, high = need.high, max(need.high, _ceiling(question, allow, need.high))
    spans = [(low, high)]
    if question.either:
        from forebay.sizing.explore import explore

        spans = explore(question.trials, question.either, low, high)
    return Found(need, allow, tuple(spans))


def _need(question: Question, start: int) -> Bracket:
    """Return the bracket of the smallest buffer that meets the goals that push it up."""
    if not question.up:  # no goal needs more than the smallest buffer
        return Bracket(0, 1, ())
    found = smallest_met(question.trials, question.up, start, question.limit)
    top = _largest_that_meets(question)
    if found.high is None and top is not None:
        return smallest_met(question.trials, question.up, start, top)
    return found


def _largest_that_meets(question: Question) -> int | None:
    """Return the largest buffer that was shown to meet the goals that push it up; None if none.

    If larger ones are shown to miss, what the goals ask for falls again as the buffer grows: the
    utilization does with the target of some AQMs.
    """
    trials = question.trials.done.items()
    return max((b for b, each in trials if each.verdict(question.up) is Verdict.MET), default=None)


def _ceiling(question: Question, allow: Bracket | None, need: int) -> int:
    """Return the largest buffer that meets the goals, as far as is known."""
    most = question.limit if allow is None or allow.high is None else allow.low
    trials = question.trials.done.items()
    up = {b: each.verdict(question.up) for b, each in trials if need <= b <= most}
    if question.up and up and up[max(up)] is Verdict.MISSED:
        return max(b for b, verdict in up.items() if verdict is Verdict.MET)
    return most


def intervals(question: Question, spans: Sequence[tuple[int, int]]) -> tuple[Interval, ...]:
    """Return each span with the goals that bind at its ends; an end at the limit is open."""
    return tuple(
        Interval(
            low=low,
            high=None if high >= question.limit else high,
            binding_low=_unmet(
                question, max((b for b in question.trials.done if b < low), default=None)
            ),
            binding_high=_unmet(
                question, min((b for b in question.trials.done if b > high), default=None)
            )
            if high < question.limit
            else (),
        )
        for low, high in spans
    )


def _unmet(question: Question, packets: int | None) -> tuple[str, ...]:
    """Return the goals that are not shown to be met at a buffer just outside."""
    if packets is None:
        return ()
    there = question.trials.done[packets]
    return tuple(
        goal.kind.name
        for goal in question.trials.goals
        if goal.judge(there.metric(goal)) is not Verdict.MET
    )


def smallest_met(trials: Trials, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the smallest buffer that meets the goals that push it up.

    ``high`` of the result is that buffer, or None if none up to ``limit`` is shown to meet
    them. ``low`` is the largest buffer shown to miss.
    """
    return _boundary(trials, goals, _UP, start, limit)


def largest_met(trials: Trials, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the largest buffer that meets the goals that push it down: ``low`` of the result."""
    return _boundary(trials, goals, _DOWN, start, limit)


def _boundary(
    trials: Trials, goals: Sequence[Goal], sides: Mapping[Verdict, Side], start: int, limit: int
) -> Bracket:
    def table() -> dict[int, Side]:
        tried = trials.done.items()
        return {b: sides[trial.verdict(goals)] for b, trial in tried if b <= limit}

    while True:
        now = table()
        trials.remaining = steps_left(now, limit) + PICTURE_POINTS
        margins = {b: _margin(trials, b, goals, sides) for b in now}
        if recheck := [b for b in conflicts(now) if not trials.exhausted(b)]:
            trials.settle_fully(recheck[0])
        elif unsettled := [b for b in bracket(now).unsure if not trials.exhausted(b)]:
            trials.settle(unsettled[0], goals)
        elif len(now) >= MAX_BUFFERS or (b := next_buffer(now, start, limit, margins)) is None:
            return bracket(now)
        else:
            trials.settle(b, goals)


def _margin(
    trials: Trials, packets: int, goals: Sequence[Goal], sides: Mapping[Verdict, Side]
) -> tuple[float, float]:
    """Return how far a buffer lies above the boundary; see `forebay.sizing.bracket.Margins`."""
    trial = trials.done[packets]
    narrower = math.sqrt(trial.seeds / trials.max_seeds)
    each = [goal.log_excess(trial.metric(goal), narrower) for goal in goals]
    least, most = (max(end) for end in zip(*each, strict=True))
    return (least, most) if sides is _DOWN else (-most, -least)


def paint(trials: Trials, centre: int, limit: int) -> None:
    """Try a geometric series of buffers around the answer, where none is near yet."""
    wanted = list(picture(centre, limit))
    for i, packets in enumerate(wanted):
        trials.remaining = len(wanted) - i
        if len(trials.done) < MAX_BUFFERS and not _near(packets, trials.done):
            trials.at(packets)


def picture(centre: int, limit: int) -> Iterable[int]:
    """Buffers from a quarter of the answer to four times it, at equal ratios."""
    half = PICTURE_POINTS // 2
    rungs = (centre * PICTURE_SPAN ** (i / half) for i in range(-half, half + 1))
    return sorted({min(max(round(b), 1), limit) for b in rungs})


def _near(packets: int, tried: Iterable[int]) -> bool:
    return any(packets <= NEAR * b and b <= NEAR * packets for b in tried)
