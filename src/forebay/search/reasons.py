"""Why no buffer is the answer, in sentences with the measured values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import Verdict
from forebay.search.goals import Goal

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.evaluations import Evaluation, Evaluations


def nowhere(evaluations: Evaluations, goals: Sequence[Goal], low: int, high: int) -> str:
    """Report goals without a fixed direction that no size allowed by the other goals meets."""
    inside = [each for packets, each in evaluations.done.items() if low <= packets <= high]
    there = min(inside, key=lambda t: max(g.normalized_excess(t.metric(g)) for g in goals))
    range_ = f"from {low} to {high} packets"
    missed = all(each.verdict(goals) is Verdict.MISSED for each in inside)
    met = "is not met at any size" if missed else "is not certain to be met at any size"
    return f"{_list(goals)} {met} {range_}; least missed with {there.in_words}, where " + (
        _values(goals, there)
    )


def unreachable(evaluations: Evaluations, goals: Sequence[Goal], limit: int) -> str:
    """Report the goals that the largest buffer does not meet, and its values."""
    there = evaluations.done[max(evaluations.done)]
    short = there.not_met(goals)
    if not short:  # met at the limit, but no size meets them with all larger ones
        return f"no buffer up to {limit} packets meets {_list(goals)} together with all larger ones"
    lines = (_shortfall(goal, there) for goal in short)
    return f"{'; '.join(lines)}; no buffer up to {limit} packets meets it"


def memory_binds(scenario: Scenario, packets: int) -> str:
    """Say that a shared memory gives a queue less than a size, or "".

    A queue alone may hold alpha times what it leaves free (Choudhury and Hahne 1998), which is
    alpha / (1 + alpha) of the memory; beside others it has less.
    """
    alpha, memory = scenario.queue.alpha, scenario.memory
    if alpha is None or memory is None:
        return ""
    most = alpha / (1.0 + alpha) * float(memory) / int(scenario.packet)
    if most >= packets:
        return ""
    return (
        f"; with alpha {alpha:g} a queue holds {most:.0f} packets of the memory at most, "
        "whatever its size"
    )


def contradiction(
    needing: Sequence[Goal],
    missed: Sequence[Goal],
    least: Evaluation,
    most: Evaluation | None,
) -> str:
    """Report goals that contradict each other, and their values at each bound.

    Parameters
    ----------
    least : the smallest buffer that meets the goals ``needing``.
    most : the largest that meets the ``missed`` ones; None if none does.
    """
    floor = f"{_list(needing)} needs at least {least.in_words}, where {_values(missed, least)}"
    if not needing:
        return f"{_list(missed)} is missed even with 1 packet, where {_values(missed, least)}"
    if most is None:
        return f"the goals contradict each other: {floor}; {_list(missed)} allows no buffer at all"
    ceiling = f"{_list(missed)} allows at most {most.in_words}, where {_values(needing, most)}"
    return f"the goals contradict each other: {floor}; {ceiling}"


def _shortfall(goal: Goal, there: Evaluation) -> str:
    metric = there.metric(goal)
    where = f"with {there.in_words} ({goal.says(metric)})"
    if goal.judge(metric) is Verdict.MISSED:
        return f"{goal} is missed even {where}"
    if not metric.n:
        return f"{goal} is not certain to be met, because the law may err, even {where}"
    return f"{goal} is not certain to be met with {there.seeds} seeds even {where}"


def _list(goals: Sequence[Goal]) -> str:
    return " and ".join(str(goal) for goal in goals)


def _values(goals: Sequence[Goal], there: Evaluation) -> str:
    named = ((g.kind.title or g.kind.name.replace("_", " "), g) for g in goals)
    return " and ".join(f"{name} is {g.says(there.metric(g))}" for name, g in named)
