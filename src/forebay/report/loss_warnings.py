"""What to beware of in the answer of a sizing: losses, what it takes, what it does not say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from forebay.errors import setting
from forebay.outcome import (
    SizeResult,
)
from forebay.report.goal_words import listed, metric_words, sentence_case, sized
from forebay.report.tables import (
    duration,
    mean,
    plain,
)

if TYPE_CHECKING:
    from forebay.outcome import ClassOutcome


def lossy(answer: SizeResult) -> bool:
    """Whether the loss is not usable at the recommended size either."""
    warning, best = answer.loss_warning, answer.recommended
    if warning is None or best is None:
        return warning is not None
    return warning.packets is None or best.packets < warning.packets


def warning_lines(answer: SizeResult) -> list[str]:
    """Warn of flows that start late, of stalls in a real machine's run, and of an unusable loss."""
    there = answer.there
    said = (*answer.late_starts, *(() if there is None else there.outcome.disturbed))
    return [*(f"{line}." for line in said), *_loss_lines(answer)]


def _loss_lines(answer: SizeResult) -> list[str]:
    """Warn if the loss at the answer is not usable, and name a buffer with usable loss."""
    warning = answer.loss_warning
    if warning is None:
        return []
    whose = f"of {warning.of}'s packets " if warning.of else "of the packets "
    usable = f"{100 * warning.usable:g} %"
    first = (
        f"Warning: {plain(100 * warning.loss)} % {whose}are lost with the least, more than the "
        f"{usable} that is usable ({warning.source})."
    )
    about = "" if answer.scaled is None else "about "
    if warning.packets is None:
        there = f"{about}{sized(answer, warning.largest)}"
        lost = f"{plain(100 * warning.loss_there)} % are lost"
        if warning.largest >= _most(answer):
            return [
                f"{first} No buffer within the goals keeps it below {usable}: with {there}, {lost}."
            ]
        return [
            f"{first} With {there}, the largest that was tried, {lost}; larger ones within the "
            "goals were not tried."
        ]
    remedy = f"{about}{sized(answer, warning.packets)} would keep it below {usable}"
    second = sentence_case(remedy)[:-1]
    if warning.missed:
        missed = listed(metric_words(answer, name) for name in warning.missed)
        return [f"{first} {second}, but not meet {missed}."]
    if answer.recommended is not None and not lossy(answer):
        second = f"{second}, as recommended"
    goal = setting(_loss_goal(answer, warning.of), warning.usable)
    return [f"{first} {second}; to make this a goal, write {goal}."]


def _most(answer: SizeResult) -> float:
    """Return the largest size that meets the goals; the search's limit if they have no end."""
    ends = [math.inf if each.high is None else each.high for each in answer.region]
    most = max(ends, default=0)
    return most if most < math.inf or answer.limit is None else answer.limit


def _loss_goal(answer: SizeResult, name: str) -> str:
    """Return the field for a goal on the loss of the link or of one class."""
    if name not in answer.class_names:
        return "goals.loss_rate"
    return f"traffic.{answer.class_names.index(name)}.goals.loss_rate"


def completion_words(each: ClassOutcome) -> list[str]:
    """Return a class's completion times, and its number of unfinished transfers."""
    known, least = mean(each.fct_s), mean(each.fct_least_s)
    left = each.unfinished
    tail = f" ({100 * left.value:.2g} % unfinished)" if left is not None and left.value else ""
    if known is not None:
        return [f"{each.name} complete in {duration(known.value)} on average{tail}"]
    if least is not None:
        return [f"{each.name} complete in {duration(least.value)} or more on average{tail}"]
    return []
