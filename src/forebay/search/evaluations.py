"""Every size that was evaluated, with its outcome and what each goal got there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.outcome import Verdict
from forebay.search.evidence import Evidence, all_of
from forebay.search.goals import Goal, GoalNotAnswered

if TYPE_CHECKING:
    from forebay.outcome import Metric, Outcome


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One buffer, the engine's outcome for it, and each goal's metric (in goal order)."""

    packets: int
    outcome: Outcome
    seeds: int
    goals: tuple[Goal, ...]
    metrics: tuple[Metric, ...]

    @property
    def in_words(self) -> str:
        """The size in words."""
        return "1 packet" if self.packets == 1 else f"{self.packets} packets"

    def verdict(self, goals: Iterable[Goal]) -> Verdict:
        """Return the common verdict on some of the goals."""
        return all_of(goal.judge(self.metric(goal)) for goal in goals)

    def missed(self, goals: Iterable[Goal]) -> list[Goal]:
        """Return those of the goals that are shown to be missed."""
        return [goal for goal in goals if goal.judge(self.metric(goal)) is Verdict.MISSED]

    def not_met(self, goals: Iterable[Goal]) -> tuple[Goal, ...]:
        """Return those of the goals that are not shown to be met."""
        return tuple(goal for goal in goals if goal.judge(self.metric(goal)) is not Verdict.MET)

    def metric(self, goal: Goal) -> Metric:
        """Return the metric of a goal."""
        return self.metrics[self.goals.index(goal)]

    def normalized_excess(self) -> float:
        """Return that of the worst goal; see `Goal.normalized_excess`."""
        return max(goal.normalized_excess(self.metric(goal)) for goal in self.goals)


class Evaluations:
    """The evaluated sizes of one question, by packets.

    Attributes
    ----------
    done : the evaluations.
    reference : the outcome of a buffer that drops nothing, for goals that compare with it, and its
        packets; None if there is no such goal.
    """

    def __init__(self, goals: tuple[Goal, ...], engine: str) -> None:
        self.goals = goals
        self.done: dict[int, Evaluation] = {}
        self.reference: tuple[int, Outcome] | None = None
        self._engine = engine

    def record(
        self,
        packets: int,
        outcome: Outcome,
        *,
        seeds: int | None = None,
        unlimited: Outcome | None = None,
    ) -> Evaluation:
        """Record the outcome of a size and return its evaluation.

        Parameters
        ----------
        seeds : number of replications; None takes it from the outcome.
        unlimited : the outcome of a buffer that drops nothing, on the same seeds.

        Raises
        ------
        GoalNotAnswered
            The outcome has no value for a goal.
        """
        seen = Evidence(outcome, unlimited)
        metrics = tuple(self._read(goal, seen) for goal in self.goals)
        many = len(outcome.provenance.seeds) if seeds is None else seeds
        self.done[packets] = Evaluation(packets, outcome, many, self.goals, metrics)
        return self.done[packets]

    def _read(self, goal: Goal, seen: Evidence) -> Metric:
        metric = goal.kind.read(seen)
        if metric is None:
            raise GoalNotAnswered(goal.kind.name, self._engine)
        return metric

    def sorted(self) -> Sequence[tuple[int, Evaluation]]:
        """Return sizes and evaluations, the smallest first."""
        return sorted(self.done.items())

    def below(self, packets: int) -> Evaluation | None:
        """Return the evaluation at the next smaller size; None if there is none."""
        return self.done.get(max((b for b in self.done if b < packets), default=0))

    def above(self, packets: int) -> Evaluation | None:
        """Return the evaluation at the next larger size; None if there is none."""
        return self.done.get(min((b for b in self.done if b > packets), default=0))

    def not_met_below(self, packets: int, goals: Iterable[Goal]) -> tuple[Goal, ...]:
        """Return the goals that are not shown to be met at the next smaller size."""
        under = self.below(packets)
        return () if under is None else under.not_met(goals)
