"""The feasible region: every buffer that meets a set of goals, as one interval or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from forebay.sizing.assemble import Question
from forebay.sizing.bracket import Bracket
from forebay.sizing.explore import explore
from forebay.sizing.goals import Goal
from forebay.sizing.result import Interval
from forebay.sizing.search import largest_met, paint, smallest_met
from forebay.sizing.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Found:
    """What a search of the region saw.

    ``need`` brackets the smallest buffer for the goals that push up, ``allow`` the largest for
    those that push down (None where there are none, or ``need`` is out of reach). ``spans``
    are the buffers that meet all goals, ends included, sorted; empty where there are none.
    ``missed`` holds what speaks against ``need.high`` where that is the reason.
    """

    need: Bracket
    allow: Bracket | None
    spans: tuple[tuple[int, int], ...]
    missed: tuple[Goal, ...] = ()


def of(question: Question, goals: Sequence[Goal]) -> Question:
    """Return the question with only some of its goals."""
    return replace(
        question,
        up=tuple(goal for goal in goals if goal.kind.pushes == "up"),
        down=tuple(goal for goal in goals if goal.kind.pushes == "down"),
        either=tuple(goal for goal in goals if goal.kind.pushes == "either"),
    )


def find(question: Question, start: int, *, picture: bool = False) -> Found:
    """Search the lower end, then the upper, then between them what may be met either way.

    With ``picture`` the lower end is looked at twice, the second time with the points of the
    picture known: it costs nothing unless one of them missed above a buffer found to meet.
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
    low, high = need.high, max(need.high, _ceiling(question, allow))
    spans = [(low, high)]
    if question.either:
        spans = explore(question.trials, question.either, low, high)
    return Found(need, allow, tuple(spans))


def _need(question: Question, start: int) -> Bracket:
    """Return the bracket of the smallest buffer that meets the goals which push it up."""
    if not question.up:  # nothing asks for more than the smallest buffer there is
        return Bracket(0, 1, ())
    return smallest_met(question.trials, question.up, start, question.limit)


def _ceiling(question: Question, allow: Bracket | None) -> int:
    return question.limit if allow is None or allow.high is None else allow.low


def intervals(question: Question, spans: Sequence[tuple[int, int]]) -> tuple[Interval, ...]:
    """Name what binds at the ends of each span; an end at the limit is open."""
    return tuple(
        Interval(
            low,
            None if high >= question.limit else high,
            _unmet(question, max((b for b in question.trials.done if b < low), default=None)),
            _unmet(question, min((b for b in question.trials.done if b > high), default=None))
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
