"""What can be asked of a buffer. A new goal is one line in GOAL_KINDS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forebay.sizing.errors import NoGoals
from forebay.sizing.verdict import Verdict, judge

if TYPE_CHECKING:
    from forebay.outcome import LinkOutcome, Metric
    from forebay.scenario import Scenario


@dataclass(frozen=True, slots=True)
class GoalKind:
    """One metric that can be a goal.

    Attributes
    ----------
    name : field of the scenario's ``goals``.
    sense : whether the target is a floor or a ceiling.
    pushes : "up" where a larger buffer helps to meet it, "down" where a smaller one does.
    unit : unit of the target, "" for a fraction.
    read : takes the metric from a link's outcome, None where the engine has none.
    """

    name: str
    sense: Literal["at least", "at most"]
    pushes: Literal["up", "down"]
    unit: Literal["", "s"]
    read: Callable[[LinkOutcome], Metric | None]


GOAL_KINDS: tuple[GoalKind, ...] = (
    GoalKind("utilization", "at least", "up", "", lambda link: link.utilization),
    GoalKind("loss_rate", "at most", "up", "", lambda link: link.loss_rate),
    GoalKind(
        "queue_delay_mean", "at most", "down", "s",
        lambda link: link.queue_delay_s.mean if link.queue_delay_s else None,
    ),
    GoalKind(
        "queue_delay_p99", "at most", "down", "s",
        lambda link: link.queue_delay_s.p99 if link.queue_delay_s else None,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Goal:
    """A kind with the target that the scenario sets (fraction, or seconds)."""

    kind: GoalKind
    target: float

    def judge(self, metric: Metric) -> Verdict:
        """Return the verdict of this goal alone on one metric."""
        return judge(metric, self.target, at_least=self.kind.sense == "at least")

    def excess(self, metric: Metric) -> float:
        """How many times over the target the harm is; 1 is on target, less is met.

        The harm is the value itself, or what is missing to 1 where more is better: 96 %
        utilization against 98 % is 2, as is 2 % loss against 1 %. This makes goals of
        different units comparable when the nearest miss is looked for.
        """
        if self.kind.sense == "at most":
            return _ratio(metric.value, self.target)
        return _ratio(1 - metric.value, 1 - self.target)

    def __str__(self) -> str:
        return f"{self.kind.name} {self.kind.sense} {self.show(self.target)}"

    def show(self, value: float) -> str:
        """Write a value of this goal's metric in the unit a person would use."""
        if self.kind.unit == "s":
            return f"{value * 1e3:.4g} ms"
        percent = value * 100
        return f"{percent:.2f} %" if percent > 1 else f"{percent:.3g} %"


def _ratio(harm: float, allowed: float) -> float:
    if allowed > 0:
        return harm / allowed
    return math.inf if harm > 0 else 1.0


def goals_of(scenario: Scenario) -> tuple[Goal, ...]:
    """Return the goals that a scenario states, in the order of GOAL_KINDS.

    Raises
    ------
    NoGoals
        The scenario states none.
    """
    asked = ((kind, getattr(scenario.goals, kind.name)) for kind in GOAL_KINDS)
    goals = tuple(Goal(kind, float(target)) for kind, target in asked if target is not None)
    if not goals:
        raise NoGoals
    return goals
