"""Find the least relaxation of each goal if no buffer meets all goals.

Yang, Zhang, Xu 2013, §VII.B relaxes two goals under a bound on the delay: the remaining
probability of a full link (18), and the additional drops (19). This module relaxes every goal
under all the others, with any engine: among the buffers that meet the others, the one with this
goal's metric nearest to its target gives the target that could be met.
"""

from __future__ import annotations

import math
from dataclasses import replace

from forebay.outcome import Relaxation, Verdict
from forebay.sizing import region
from forebay.sizing.explore import best
from forebay.sizing.goals import Goal
from forebay.sizing.question import Question, Trial

_DIGITS = 4


def relaxations(question: Question, start: int) -> tuple[Relaxation, ...]:
    """Return one relaxation per goal, in the order of the goals.

    Its ``relaxed`` and ``packets`` are None if no buffer meets the other goals together, so that
    it does not help to relax this goal alone.
    """
    return tuple(_relax(question, goal, start) for goal in question.trials.goals)


def _relax(question: Question, goal: Goal, start: int) -> Relaxation:
    others = [each for each in question.trials.goals if each != goal]
    found = region.find(question.with_goals(others), start)
    for there in _candidates(question, goal, found):
        given = given_at(goal, there)
        if given.relaxed is not None and there.verdict(others) is Verdict.MET:
            return given
    return _relaxation(goal, None, None)


def given_at(goal: Goal, there: Trial) -> Relaxation:
    """Return the relaxation of a goal that one buffer needs, verified there."""
    relaxed = _outward(goal, there)
    verified = replace(goal, target=relaxed).judge(there.metric(goal)) is Verdict.MET
    return _relaxation(goal, relaxed, there) if verified else _relaxation(goal, None, None)


def holds(relaxation: Relaxation, there: Trial) -> bool:
    """Whether a buffer meets all goals with one of them relaxed."""
    if relaxation.relaxed is None:
        return False
    return all(
        (replace(g, target=relaxation.relaxed) if g.kind.name == relaxation.name else g).judge(
            there.metric(g)
        )
        is Verdict.MET
        for g in there.goals
    )


def _candidates(question: Question, goal: Goal, found: region.Found) -> list[Trial]:
    """Return candidate buffers for the goal's best value, the most promising first."""
    if not found.spans:
        return []
    trials = question.trials
    if goal.kind.pushes == "up":
        return [trials.at(high) for _, high in reversed(found.spans)]
    if goal.kind.pushes == "down":
        return [trials.at(low) for low, _ in found.spans]
    each = [best(trials, goal, low, high) for low, high in found.spans]
    return sorted(each, key=lambda trial: goal.excess(trial.metric(goal)))


def _relaxation(goal: Goal, relaxed: float | None, there: Trial | None) -> Relaxation:
    return Relaxation(
        name=goal.kind.name,
        title=goal.kind.title,
        sense=goal.kind.sense,
        unit=goal.kind.unit,
        target=goal.target,
        relaxed=relaxed,
        packets=None if there is None else there.packets,
        reached=None if there is None else there.metric(goal),
    )


def _outward(goal: Goal, there: Trial) -> float:
    """Return the safe end of the value, rounded away from the target to four digits."""
    metric = there.metric(goal)
    if goal.kind.sense == "at most":
        safe = metric.value if metric.high is None else metric.high
        return max(safe, _up(safe))
    safe = metric.value if metric.low is None else metric.low
    return min(safe, -_up(-safe) if goal.kind.unit else round(1.0 - _up(1.0 - safe), 12))


def _up(value: float) -> float:
    """Return the next four-digit number not below ``value``, up to rounding errors."""
    if value == 0.0:
        return 0.0
    decimals = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    return round(math.ceil(value * 10.0**decimals - 1e-9) / 10.0**decimals, max(decimals, 0))
