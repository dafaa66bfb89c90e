"""Which sizes meet the goals, and what is missed beyond them, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import (
    Interval,
    SizeResult,
)
from forebay.report.goal_words import listed, metric_words, sized
from forebay.report.tables import (
    count,
)

if TYPE_CHECKING:
    pass


def region_lines(answer: SizeResult) -> list[str]:
    """Return which buffers meet the goals, and which goals are missed below and above."""
    return [_interval(interval, answer) for interval in answer.region]


def _interval(interval: Interval, answer: SizeResult) -> str:
    sizes = _sizes(interval, answer)
    less = _unmet(interval.binding_low, "decreasing", answer)
    more = _unmet(interval.binding_high, "increasing", answer)
    if less and less == more:
        return f"{sizes}; neither a smaller nor a larger size assures {less}."
    parts = [f"a smaller size does not assure {less}"] if less else []
    parts += [f"a larger size does not assure {more}"] if more else []
    return f"{sizes}{'; ' if parts else ''}{', '.join(parts)}."


def _sizes(interval: Interval, answer: SizeResult) -> str:
    low, high = interval.low, interval.high
    if answer.aqm is not None:
        first = sized(answer, low)
        upper = " or more" if high is None else f" to {sized(answer, high).partition(' of ')[2]}"
        return f"{first[:1].upper()}{first[1:]}{'' if high == low else upper} meets all goals"
    if high is None:
        return f"{count(low, 'packet')} or more meet all goals"
    if high == low:
        is_ = "is" if low == 1 else "are"
        return f"{count(low, 'packet')} {is_} the only size that meets all goals"
    return f"{low} to {count(high, 'packet')} meet all goals"


def _unmet(names: tuple[str, ...], other_way: str, answer: SizeResult) -> str:
    """List the goals not met on one side; those of the other direction only if no others are.

    Above the region, noise can at most make a goal that needs more buffer undecided.
    """
    directions = {goal.name: goal.direction for goal in answer.goals}
    likely = [name for name in names if directions.get(name) != other_way] or names
    return listed(metric_words(answer, name) for name in likely)
