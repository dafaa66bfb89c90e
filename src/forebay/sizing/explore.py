"""Goals that may be met between two sizes that miss: scan a range, then refine its ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from forebay.outcome import Verdict
from forebay.sizing.bracket import FINENESS, middle
from forebay.sizing.goals import Goal
from forebay.sizing.question import Trial, Trials

GRID = 13
MOST_TRIES = 90
"""An exploration stops after this total number of buffers."""

Span = tuple[int, int]


def explore(trials: Trials, goals: Sequence[Goal], low: int, high: int) -> list[Span]:
    """Return the runs of buffers within [low, high] at which the goals are shown to be met.

    Each end is exact to a packet, or to 1/32 if noise leaves buffers undecided. The search can
    miss a range of sizes on the far side of the best buffer, if it is narrower than a step of the
    first scan (a ratio of (high / low)^(1/12)).
    """
    for first in grid(low, high):
        trials.settle(first, goals)
    if not _met(trials, goals, low, high):
        _hunt(trials, low, high, lambda trial: worst(trial, goals), goals)
    while (packets := _next(trials, goals, low, high)) is not None and _budget_left(trials):
        trials.settle(packets, goals)
    return _runs(trials, goals, low, high)


def best(trials: Trials, goal: Goal, low: int, high: int) -> Trial:
    """Return the trial in [low, high] with one goal's metric nearest to its target."""
    for packets in grid(low, high):
        trials.at(packets)
    _hunt(trials, low, high, lambda trial: goal.excess(trial.metric(goal)), (goal,), to_end=True)
    return min(_within(trials, low, high), key=lambda trial: goal.excess(trial.metric(goal)))


def grid(low: int, high: int) -> list[int]:
    """Return buffers from low to high at equal ratios, including both ends."""
    steps = (low * (high / low) ** (i / (GRID - 1)) for i in range(GRID))
    return sorted({min(max(round(packets), low), high) for packets in steps})


def worst(trial: Trial, goals: Sequence[Goal]) -> float:
    """Return the excess of the worst goal."""
    return max(goal.excess(trial.metric(goal)) for goal in goals)


def _hunt(
    trials: Trials,
    low: int,
    high: int,
    harm: Callable[[Trial], float],
    goals: Sequence[Goal],
    *,
    to_end: bool = False,
) -> None:
    """Narrow the range around the least harm, until the goals are met or no buffer remains."""
    while _budget_left(trials):
        tried = sorted(_within(trials, low, high), key=lambda trial: trial.packets)
        at = min(range(len(tried)), key=lambda i: harm(tried[i]))
        if not to_end and tried[at].verdict(goals) is Verdict.MET:
            return
        gaps = [(tried[i], tried[i + 1]) for i in (at - 1, at) if 0 <= i < len(tried) - 1]
        open_ = [(a.packets, b.packets) for a, b in gaps if b.packets - a.packets > _step(b)]
        if not open_:
            return
        packets = middle(*max(open_, key=lambda gap: gap[1] / gap[0]))
        if to_end:
            trials.at(packets)
        else:
            trials.settle(packets, goals)


def _step(trial: Trial) -> int:
    noisy = any(metric.low is not None for metric in trial.metrics)
    return max(1, trial.packets // FINENESS) if noisy else 1


def _next(trials: Trials, goals: Sequence[Goal], low: int, high: int) -> int | None:
    """Return a buffer between a met and an unmet neighbour that are not yet close."""
    tried = sorted(_within(trials, low, high), key=lambda trial: trial.packets)
    for a, b in pairwise(tried):
        verdicts = (a.verdict(goals), b.verdict(goals))
        if (verdicts[0] is Verdict.MET) == (verdicts[1] is Verdict.MET):
            continue
        step = max(1, b.packets // FINENESS) if Verdict.UNDECIDED in verdicts else 1
        if b.packets - a.packets > step:
            return middle(a.packets, b.packets)
    return None


def _runs(trials: Trials, goals: Sequence[Goal], low: int, high: int) -> list[Span]:
    spans: list[Span] = []
    last = False
    for trial in sorted(_within(trials, low, high), key=lambda trial: trial.packets):
        met = trial.verdict(goals) is Verdict.MET
        if met and last:
            spans[-1] = (spans[-1][0], trial.packets)
        elif met:
            spans.append((trial.packets, trial.packets))
        last = met
    return spans


def _met(trials: Trials, goals: Sequence[Goal], low: int, high: int) -> bool:
    return any(trial.verdict(goals) is Verdict.MET for trial in _within(trials, low, high))


def _within(trials: Trials, low: int, high: int) -> list[Trial]:
    return [trial for packets, trial in trials.done.items() if low <= packets <= high]


def _budget_left(trials: Trials) -> bool:
    return len(trials.done) < MOST_TRIES
