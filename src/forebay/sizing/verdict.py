"""Met, missed or undecided: a value with its interval against a target."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from forebay.outcome import Verdict

if TYPE_CHECKING:
    from forebay.outcome import Metric


def judge(metric: Metric, target: float, *, at_least: bool) -> Verdict:
    """Compare the 95 % interval with the target.

    An interval wholly on the good side (its end may touch the target) is met, wholly on
    the bad side missed. A metric without interval is exact: its value decides. One with a
    lower end alone may be as large as you like: no ceiling is met by what was not seen to end.
    """
    low = metric.value if metric.low is None else metric.low
    above = metric.value if metric.low is None else math.inf
    high = above if metric.high is None else metric.high
    if not at_least:  # at most t is the same as: the negative is at least -t
        low, high, target = -high, -low, -target
    if low >= target:
        return Verdict.MET
    return Verdict.MISSED if high < target else Verdict.UNDECIDED


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return met if all are, missed if one is, undecided else."""
    seen = set(verdicts)
    if Verdict.MISSED in seen:
        return Verdict.MISSED
    return Verdict.UNDECIDED if Verdict.UNDECIDED in seen else Verdict.MET


def seeds_wanted(metric: Metric, target: float, seeds: int) -> float:
    """Seeds after which an undecided interval should clear the target.

    Half-widths shrink as 1/sqrt(seeds); the value is taken to stay where it is. Infinite
    where the value sits on the target.
    """
    if metric.low is None or metric.high is None:
        return seeds
    half = max(metric.high - metric.value, metric.value - metric.low)
    margin = abs(metric.value - target)
    return seeds * (half / margin) ** 2 if margin > 0 else math.inf
