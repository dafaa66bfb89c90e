"""The first lines of a sizing's report: the answer, what it costs, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import setting
from forebay.outcome import Aqm, GoalResult, Interval, SizeResult
from forebay.report.numbers import (
    count,
    duration,
    mean,
    p99,
    plain,
    show,
    show_significant,
    with_prefix,
)
from forebay.report.region import listed, metric_words, size_name, sized, target

if TYPE_CHECKING:
    from forebay.outcome import ClassOutcome


_DEFAULT_TARGETS_S = {"codel": 5e-3, "fq_codel": 5e-3, "pie": 15e-3, "dualpi2": 15e-3}
"""Linux's (docs/reference/queues.md)."""


def nearest_words(answer: SizeResult) -> str:
    """Say that a size is no answer but the nearest to one, where there is none."""
    return "" if answer.buffer else " (the nearest to the goals)"


def sentence(answer: SizeResult) -> str:
    """Return the answer in one plain sentence."""
    if answer.interrupted:
        return f"No answer yet: {answer.reason}."
    if answer.buffer is None:
        return f"No {size_name(answer)} meets the goals: {answer.reason}."
    b = answer.buffer
    if answer.aqm is not None:
        return _aim(answer.aqm, b.packets)
    lossy = "" if answer.loss_warning is None else ", but with a loss that is not usable"
    return (
        f"Buffer: {count(b.packets, 'packet')} ({with_prefix(b.bytes, 'B')}, "
        f"{duration(b.seconds)} at line rate){lossy}."
    )


def colour(answer: SizeResult) -> str:
    """Return the style of the first line: a warning shows at a glance."""
    if answer.buffer is None:
        return "bold red"
    return "bold green" if answer.loss_warning is None else "bold yellow"


def _aim(aqm: Aqm, packets: int) -> str:
    """Say what to configure where the discipline manages the queue: its limit is a guard."""
    guard = f"limit {count(aqm.limit_packets, 'packet')} as a guard"
    if aqm.parameter == "min":
        low, high = (with_prefix(size, "B") for size in (aqm.min_bytes, aqm.max_bytes))
        return f"{aqm.discipline}: min {low}, max {high}; {guard}."
    aim = f"target {duration(aqm.target_s)} ({count(packets, 'packet')} at line rate)"
    interval = "" if aqm.interval_s is None else f", interval {duration(aqm.interval_s)} as it was"
    return f"{aqm.discipline}: {aim}{interval}; {guard}."


def sized_line(answer: SizeResult) -> list[str]:
    """Say under an AQM what was sized, and what the limit is for."""
    if answer.aqm is None:
        return []
    sized = "thresholds are" if answer.aqm.parameter == "min" else "target is"
    return [
        f"The {sized} sized, because under {answer.aqm.discipline} that decides the queue. The "
        "limit should never be reached: the queue would then be a drop-tail queue.",
        *_default(answer.aqm, answer.region),
    ]


def _default(aqm: Aqm, region: Sequence[Interval]) -> list[str]:
    """Say so where the target that nobody has to configure is one that meets all goals."""
    default_s = _DEFAULT_TARGETS_S.get(aqm.discipline)
    if default_s is None:
        return []
    packets = default_s / aqm.packet_s
    if not any(i.low <= packets <= (i.high or math.inf) for i in region):
        return []
    return [f"Its default target of {duration(default_s)} meets all goals too."]


def warning_lines(answer: SizeResult) -> list[str]:
    """Warn where more is lost at the answer than is usable; name the buffer that would keep it."""
    warning = answer.loss_warning
    if warning is None:
        return []
    whose = f"of {warning.of}'s packets " if warning.of else "of the packets "
    usable = f"{100 * warning.usable:g} %"
    first = (
        f"Warning: {plain(100 * warning.loss)} % {whose}are lost there, more than the {usable} "
        f"that is usable ({warning.source})."
    )
    about = "" if answer.scaled is None else "about "
    if warning.packets is None:
        return [
            f"{first} No buffer tried keeps the loss below {usable}: with "
            f"{about}{sized(answer, warning.largest)}, the largest, "
            f"{plain(100 * warning.loss_there)} % are lost."
        ]
    remedy = f"{about}{sized(answer, warning.packets)} would keep it below {usable}"
    second = sentence_case(remedy)[:-1]
    if warning.missed:
        missed = listed(metric_words(answer, name) for name in warning.missed)
        return [f"{first} {second}, but not meet {missed}."]
    goal = setting(_loss_goal(answer, warning.of), warning.usable)
    return [f"{first} {second}; ask for it with {goal}."]


def _loss_goal(answer: SizeResult, name: str) -> str:
    """Return the field that sets a goal on the loss of the link, or of one class."""
    if name not in answer.class_names:
        return "goals.loss_rate"
    return f"traffic.{answer.class_names.index(name)}.goals.loss_rate"


def _completion(each: ClassOutcome) -> list[str]:
    """Say how long a class's transfers take, and how many of them had not ended."""
    known, least = mean(each.fct_s), mean(each.fct_least_s)
    left = each.unfinished
    tail = f" ({100 * left.value:.2g} % unfinished)" if left is not None and left.value else ""
    if known is not None:
        return [f"{each.name} complete in {duration(known.value)} on average{tail}"]
    if least is not None:
        return [f"{each.name} complete in {duration(least.value)} or more on average{tail}"]
    return []


def at_once(answer: SizeResult) -> list[str]:
    """Say loss, delay and completion at the answer in one sentence."""
    there = answer.there
    if there is None:
        return []
    link, parts = there.link, []
    if link.utilization is not None:
        parts.append(f"{show(link.utilization, 100)} % of the link used")
    if link.loss_rate is not None:
        parts.append(f"{show_significant(link.loss_rate, 100)} % of the packets lost")
    waits = mean(link.queue_delay_s)
    if waits is not None:
        high = p99(link.queue_delay_s)
        tail = "" if high is None else f" (p99 {duration(high.value)})"
        parts.append(f"a wait of {duration(waits.value)}{tail}")
    for each in there.outcome.classes:
        parts += _completion(each)
    if not parts:
        return []
    return [f"With {sized(answer, there.packets)}{nearest_words(answer)}: {', '.join(parts)}."]


def why(answer: SizeResult) -> list[str]:
    """Return the reason: the goal that binds, and who says so."""
    if answer.buffer is None:
        return []
    binding = [goal for goal in answer.goals if goal.binding]
    least = "one packet is enough"
    if answer.aqm is not None:
        least = f"the smallest {size_name(answer)} is enough"
    elif answer.buffer.packets > 1:
        least = "no smaller buffer was shown to be enough"
    return [f"Why: {_missing(binding, answer) if binding else least} ({_who(answer)})."]


def memory(answer: SizeResult) -> list[str]:
    """Say what memory the answer takes, where the document tells."""
    return [] if answer.memory is None else [f"Memory: {answer.memory.text}."]


def _missing(binding: list[GoalResult], answer: SizeResult) -> str:
    fewer = "fewer packets" if answer.aqm is None else f"a smaller {size_name(answer)}"
    goals = " and ".join(
        f"{metric_words(answer, goal.name)} of {goal.sense} {target(goal, goal.target)}"
        for goal in binding
    )
    return f"with {fewer}, {goals} {'is' if len(binding) == 1 else 'are'} not assured"


def _who(answer: SizeResult) -> str:
    if answer.engine == "theory":
        return answer.engine
    return f"{answer.engine}, up to {count(answer.seeds, 'seed')} a buffer"


def sentence_case(note: str) -> str:
    """Return a remark as a sentence: a capital letter, a full stop."""
    return note[:1].upper() + note[1:].rstrip(".") + "."


def cost_lines(answer: SizeResult) -> list[str]:
    """Say how long the answer took, of how long it might."""
    cost = answer.cost
    if cost is None:
        return []
    budget = "" if cost.budget_s is None else f" of {_time(cost.budget_s)}"
    return [f"Took {_time(cost.spent_s)}{budget} (expected: {_time(cost.predicted_s)})."]


def _time(seconds: float) -> str:
    return f"{plain(seconds)} s" if seconds < 90 else f"{plain(seconds / 60)} min"
