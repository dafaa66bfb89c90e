"""The sizes that were run: what each goal got there, and which of them meet all goals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from forebay.catalogue.metrics import BOTTLENECK
from forebay.outcome import LinkOutcome, Metric, Outcome, Verdict
from forebay.search.evidence import Evidence, all_of
from forebay.search.goals import Goal, GoalNotAnswered

_FARTHEST = 7.0
"""Logs of the excess beyond this count as it: a link that is never idle has none."""


@dataclass(frozen=True, slots=True)
class Row:
    """One size, an outcome for each end of the range of flows, and the metric of each goal.

    Attributes
    ----------
    packets : of the whole link, whichever link was run.
    outcomes : one, or one for each end of a range of flows.
    metrics : of each goal, in their order: that of the end which is worse.
    loss : the queue's own drops over arrivals; None if the engine does not give it.
    """

    packets: int
    outcomes: tuple[Outcome, ...]
    seeds: int
    goals: tuple[Goal, ...]
    metrics: tuple[Metric, ...]
    loss: float | None

    @classmethod
    def of(
        cls,
        packets: int,
        outcomes: Sequence[Outcome],
        goals: tuple[Goal, ...],
        engine: str,
        unlimited: Sequence[Outcome | None] = (),
    ) -> Row:
        """Return the row of a size; ``unlimited`` are the outcomes of a buffer that drops nothing.

        Raises
        ------
        GoalNotAnswered
            An outcome has no value for a goal.
        """
        without = tuple(unlimited) or (None,) * len(outcomes)
        seen = [Evidence(here, there) for here, there in zip(outcomes, without, strict=True)]
        metrics = tuple(_worst(goal, seen, engine) for goal in goals)
        lost = [outcome.links[BOTTLENECK].loss_rate for outcome in outcomes]
        loss = max((rate.value for rate in lost if rate is not None), default=None)
        seeds = max(len(outcome.provenance.seeds) for outcome in outcomes)
        return cls(packets, tuple(outcomes), seeds, goals, metrics, loss)

    @property
    def outcome(self) -> Outcome:
        """The outcome; of two ends the one that is worse for the first goal."""
        first = self.goals[0]
        read = [(first.kind.read(Evidence(outcome)), outcome) for outcome in self.outcomes]
        return max(read, key=lambda of: 0.0 if of[0] is None else first.normalized_excess(of[0]))[1]

    @property
    def link(self) -> LinkOutcome:
        """The link behind the buffer."""
        return self.outcome.links[BOTTLENECK]

    def without(self, goal: Goal) -> Row:
        """Return the row of the other goals."""
        kept = [pair for pair in zip(self.goals, self.metrics, strict=True) if pair[0] is not goal]
        goals, metrics = zip(*kept, strict=True)
        return replace(self, goals=goals, metrics=metrics)

    def metric(self, goal: Goal) -> Metric:
        """Return the metric of a goal."""
        return self.metrics[self.goals.index(goal)]

    def verdict(self, goals: Iterable[Goal] | None = None) -> Verdict:
        """Return the common verdict on some of the goals; None takes all."""
        wanted = self.goals if goals is None else goals
        return all_of(goal.judge(self.metric(goal)) for goal in wanted)

    def not_met(self, goals: Iterable[Goal] | None = None) -> tuple[Goal, ...]:
        """Return those of the goals that are not shown to be met."""
        wanted = self.goals if goals is None else goals
        return tuple(goal for goal in wanted if goal.judge(self.metric(goal)) is not Verdict.MET)

    def missed(self, direction: str | None = None) -> tuple[Goal, ...]:
        """Return the goals that are shown to be missed; those of one direction if it is given."""
        return tuple(
            goal
            for goal in self.goals
            if direction in (None, goal.kind.direction)
            and goal.judge(self.metric(goal)) is Verdict.MISSED
        )

    def excess(self, direction: str | None = None, *, at: str = "value") -> float:
        """Return the log of the worst goal's normalized excess: above 0 misses, 0 is on target.

        Parameters
        ----------
        direction : of the goals that count; None counts all.
        at : "value", or the end of the intervals: "best" or "worst".
        """
        ends = []
        for goal, metric in zip(self.goals, self.metrics, strict=True):
            if direction in (None, goal.kind.direction):
                low, high = goal.log_normalized_excess(metric, 0.0 if at == "value" else 1.0)
                ends.append(low if at == "best" else high)
        return min(max(max(ends, default=-_FARTHEST), -_FARTHEST), _FARTHEST)

    @property
    def meets(self) -> bool:
        """Whether the means meet all goals."""
        return self.excess() <= 0.0


def _worst(goal: Goal, seen: Sequence[Evidence], engine: str) -> Metric:
    read = [goal.kind.read(evidence) for evidence in seen]
    if any(metric is None for metric in read):
        raise GoalNotAnswered(goal.kind.name, engine)
    known = [metric for metric in read if metric is not None]
    return max(known, key=lambda metric: goal.log_normalized_excess(metric, 1.0)[1])


def region(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that meet all goals by their means, from the least on.

    A row that is shown to miss a goal which a larger buffer helps to meet contradicts all smaller
    ones that meet it. Where goals are met twice with a miss between, it is the lower part.
    """
    good = [row for row in rows if row.meets]
    if not good:
        return []
    top = good[-1].packets
    bad = [row.packets for row in rows if row.packets < top and row.missed("increasing")]
    part: list[Row] = []
    for row in rows:
        if row.packets > max(bad, default=0):
            if row.meets:
                part.append(row)
            elif part and row.missed():
                break
    return part


def least(rows: Sequence[Row]) -> Row | None:
    """Return the smallest row of the region that is shown to meet all goals; None if none is.

    Where the intervals of all leave a goal open, the smallest whose means meet them.
    """
    part = region(rows)
    shown = (row for row in part if row.verdict() is Verdict.MET)
    return next(shown, part[0] if part else None)


def crossing(rows: Sequence[Row], at: str = "value") -> float | None:
    """Return the log of the size from which on the goals are met, between two rows; None if open.

    ``at`` is the part of the intervals, as in `Row.excess`.
    """
    part = region(rows)
    if not part:
        return None
    first = next((row for row in part if row.excess(at=at) <= 0.0), part[-1])
    below = row_below(rows, first)
    if below is None:
        return math.log(first.packets)
    short, over = below.excess(at=at), first.excess(at=at)
    share = 1.0 if over >= 0.0 or short <= 0.0 else short / (short - over)
    return math.log(below.packets) + share * math.log(first.packets / below.packets)


def row_below(rows: Sequence[Row], row: Row) -> Row | None:
    """Return the row of the next smaller size; None if there is none."""
    smaller = (other for other in rows if other.packets < row.packets)
    return max(smaller, key=lambda other: other.packets, default=None)
