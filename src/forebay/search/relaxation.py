"""How far one goal must be relaxed for one buffer to meet it, verified by its evaluation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.outcome import Relaxation, Verdict
from forebay.search.goals import Goal

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation

_DIGITS = 4


def given_at(goal: Goal, there: Evaluation) -> Relaxation:
    """Return the relaxation of a goal that one buffer needs, verified there."""
    relaxed = _outward(goal, there)
    verified = replace(goal, target=relaxed).judge(there.metric(goal)) is Verdict.MET
    return relaxation_of(goal, relaxed, there) if verified else relaxation_of(goal, None, None)


def holds(relaxation: Relaxation, there: Evaluation) -> bool:
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


def relaxation_of(goal: Goal, relaxed: float | None, there: Evaluation | None) -> Relaxation:
    """Return a relaxation; without a target there is none that helps."""
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


def _outward(goal: Goal, there: Evaluation) -> float:
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
