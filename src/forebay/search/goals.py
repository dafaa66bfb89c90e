"""Goals of a buffer, and the errors of a sizing before any buffer is tried.

A new goal needs one line in GOAL_KINDS, or one in ``_stated``.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.errors import ForebayError
from forebay.outcome import (
    DELAY_MAXIMUM,
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    Direction,
    Metric,
    Sense,
    Unit,
    Verdict,
    delay_quantile_name,
)
from forebay.scenario import OPEN_LOOP_KINDS, Goals, Scenario
from forebay.search.evidence import Evidence, ends, judge


class SizingError(ForebayError, ValueError):
    """Bad input to a sizing."""


class NoGoals(SizingError):
    """The scenario has no goal that a buffer could meet or miss."""

    def __init__(self) -> None:
        super().__init__("no-goals", field="goals")


class NobodyCrosses(SizingError):
    """No data crosses the link to be sized."""

    def __init__(self, link: str) -> None:
        super().__init__("nobody-crosses", field="traffic", link=link)


class GoalNotAnswered(SizingError):
    """The engine has no value for a goal's metric; no setting makes a law give one."""

    def __init__(self, goal: str, engine: str) -> None:
        super().__init__(
            "goal-not-answered.in-window" if engine == "simulation"
            else "goal-not-answered.by-engine", field=f"goals.{goal}", engine=engine,
        )  # fmt: skip
        self.exit_status = 3 if engine in WITHOUT_SEEDS else 2


@dataclass(frozen=True, slots=True)
class GoalKind:
    """One metric that can be a goal.

    Attributes
    ----------
    name : field of the scenario's ``goals``, or the name of a table there.
    sense : whether the target is a floor or a ceiling.
    direction : whether more buffer helps to meet it: "increasing" if a larger buffer does,
        "decreasing" if a smaller one does, "non-monotone" if it may be met between two sizes that
        miss.
    unit : unit of the target, "" for a fraction.
    read : returns the metric from the evidence, None if the engine has none.
    title : the metric in words, with the name of its class.
    compares : whether it needs a run with unlimited buffer.
    """

    name: str
    sense: Sense
    direction: Direction
    unit: Unit
    read: Callable[[Evidence], Metric | None]
    title: str
    compares: bool = False


_MEAN, _P99 = "mean queueing delay", "p99 of the queueing delay"
_INCREASE = "increase of the mean completion time over unlimited buffer"

GOAL_KINDS: tuple[GoalKind, ...] = (
    GoalKind(
        "utilization", "at least", "increasing", "", lambda seen: seen.link.utilization,
        "utilization",
    ),
    GoalKind("loss_rate", "at most", "increasing", "", lambda seen: seen.link.loss_rate, "loss"),
    GoalKind(
        "queue_delay_mean", "at most", "decreasing", "s", lambda seen: seen.delay("mean"), _MEAN
    ),
    GoalKind("queue_delay_p99", "at most", "decreasing", "s", lambda seen: seen.delay("p99"), _P99),
    GoalKind(
        "fct_increase", "at most", "non-monotone", "", lambda seen: seen.completion_increase(),
        _INCREASE, compares=True,
    ),
)  # fmt: skip
"""Goals of the link that are a single field."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A kind with the scenario's target (fraction, seconds, or bit/s)."""

    kind: GoalKind
    target: float

    def judge(self, metric: Metric) -> Verdict:
        """Return the verdict of this goal alone on one metric."""
        return judge(metric, self.target, at_least=self.kind.sense == "at least")

    def says(self, metric: Metric) -> str:
        """Format a metric of this goal, with "at least" if it has no known upper end."""
        text = self.show(metric.value)
        return f"at least {text}" if metric.is_open else text

    def normalized_excess(self, metric: Metric) -> float:
        """Return the excess over the allowed excess: 1 is on target, less than 1 meets the goal.

        The excess is the value itself, or 1 minus the value if more is better: 96 % utilization
        for a target of 98 % is 2, and so is 2 % loss for a target of 1 %. So the search for the
        nearest miss can compare goals of different units.
        """
        return self._excess(metric.value)

    def log_normalized_excess(self, metric: Metric, narrower: float) -> tuple[float, float]:
        """Least and most log of the normalized excess in an interval ``narrower`` times as wide."""
        value = metric.value
        logs = [_log(self._excess(value + narrower * (end - value))) for end in ends(metric)]
        return min(logs), max(logs)

    def _excess(self, value: float) -> float:
        if self.kind.sense == "at most":
            return _ratio(value, self.target)
        if self.kind.unit:
            return _ratio(self.target, value)
        return _ratio(1 - value, 1 - self.target)

    def __str__(self) -> str:
        return f"{self.kind.title} of {self.kind.sense} {self.show(self.target)}"

    def show(self, value: float) -> str:
        """Format a value of this goal's metric in a readable unit."""
        if self.kind.unit == "s":
            return f"{_digits(value * 1e3)} ms"
        if self.kind.unit == "bit/s":
            return f"{_digits(value / 1e6)} Mbit/s"
        percent = value * 100
        text = f"{percent:.2f}" if percent > 1 else f"{percent:.3g}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def _digits(value: float) -> str:
    """Return four digits without an exponent: 15540 is easier to read than 1.554e+04."""
    return f"{value:.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0.0 else -math.inf


def _ratio(excess: float, allowed: float) -> float:
    if allowed > 0:
        return excess / allowed
    return math.inf if excess > 0 else 1.0


def goals_of(scenario: Scenario) -> tuple[Goal, ...]:
    """Return the goals of a scenario: the link's, then each class's, in order.

    Raises
    ------
    NoGoals
        The scenario has none.
    """
    goals = tuple(_stated(scenario))
    if not goals:
        raise NoGoals
    if assumes_utilization(scenario):
        goals = (Goal(GOAL_KINDS[0], USUAL_UTILIZATION), *goals)
    return goals


USUAL_UTILIZATION = 0.98
"""The goal of a link that long flows cross, until its scenario writes one on utilization."""


def assumes_utilization(scenario: Scenario) -> bool:
    """Whether a goal of 98 % utilization stands beside the goals that are written."""
    long = any(group.kind == "long" for group in scenario.crossing)
    alone = scenario.topology is None and not scenario.queue.classes
    return long and alone and scenario.goals.utilization is None


def _stated(scenario: Scenario) -> Iterator[Goal]:
    goals = scenario.goals
    for kind in GOAL_KINDS:
        target = getattr(goals, kind.name)
        if target is not None and getattr(target, "probability", None) is None:
            yield Goal(kind, float(target))
    yield from _probabilities(goals)
    yield from _delays(goals)
    if goals.realtime_loss is not None:
        # More buffer first reduces it, and then may increase it (paper B, Fig. 5).
        real = [i for i, group in enumerate(scenario.traffic) if group.kind in OPEN_LOOP_KINDS]
        kind = GoalKind(
            "realtime_loss", "at most", "non-monotone", "", lambda seen: seen.realtime_loss(real),
            "loss of the real-time classes",
        )  # fmt: skip
        yield Goal(kind, goals.realtime_loss)
    for index in range(len(scenario.traffic)):
        yield from _of_class(scenario, index)


def _probabilities(goals: Goals) -> Iterator[Goal]:
    """P(utilization >= target) >= tau, P(loss <= phi) >= rho (Yang, Zhang, Xu 2013, §III)."""
    used, lost = goals.utilization, goals.loss_rate
    if used is not None and used.probability is not None:
        title = f"share of round trips with utilization of at least {100 * used:g} %"
        yield Goal(_of_round_trips(UTILIZATION_PROBABILITY, title), used.probability)
    if lost is not None and lost.probability is not None:
        title = f"share of round trips with loss of at most {100 * lost:g} %"
        yield Goal(_of_round_trips(LOSS_PROBABILITY, title), lost.probability)


def _goal_metric(name: str) -> Callable[[Evidence], Metric | None]:
    return lambda seen: seen.link.goal_metrics.get(name)


def _of_round_trips(name: str, title: str) -> GoalKind:
    return GoalKind(name, "at least", "increasing", "", _goal_metric(name), title)


def _delays(goals: Goals) -> Iterator[Goal]:
    table = goals.queue_delay
    if table is None:
        return
    if table.mean is not None:
        yield Goal(next(k for k in GOAL_KINDS if k.name == "queue_delay_mean"), float(table.mean))
    if table.quantile is not None and table.at_most is not None:
        title = f"{100 * table.quantile:.10g} % quantile of the queueing delay"
        yield Goal(_delay(delay_quantile_name(table.quantile), title), float(table.at_most))
    if table.maximum is not None:
        yield Goal(_delay(DELAY_MAXIMUM, "maximum of the queueing delay"), float(table.maximum))


def _delay(name: str, title: str) -> GoalKind:
    return GoalKind(name, "at most", "decreasing", "s", _goal_metric(name), title)


def _of_class(scenario: Scenario, index: int) -> Iterator[Goal]:
    group = scenario.traffic[index]
    if group.goals is None:
        return
    alone = len(scenario.traffic) == 1
    direction: Direction = "increasing" if alone else "non-monotone"
    losing: Direction = "non-monotone" if group.kind in OPEN_LOOP_KINDS else "increasing"
    kinds = (
        GoalKind("throughput", "at least", direction, "bit/s",
                 lambda seen: seen.of_class(index).throughput_bps, "throughput"),
        GoalKind("loss_rate", "at most", losing, "",
                 lambda seen: seen.of_class(index).loss_rate, "loss"),
        GoalKind("queue_delay_mean", "at most", "decreasing", "s",
                 lambda seen: seen.delay("mean", index), _MEAN),
        GoalKind("queue_delay_p99", "at most", "decreasing", "s",
                 lambda seen: seen.delay("p99", index), _P99),
        GoalKind("fct_mean", "at most", "non-monotone", "s",
                 lambda seen: seen.completion(index, "mean"), "mean completion time"),
        GoalKind("fct_p99", "at most", "non-monotone", "s",
                 lambda seen: seen.completion(index, "p99"), "p99 of the completion time"),
        GoalKind("request_mean", "at most", "non-monotone", "s",
                 lambda seen: seen.request(index, "mean"), "mean time of a whole request"),
        GoalKind("request_p99", "at most", "non-monotone", "s",
                 lambda seen: seen.request(index, "p99"), "p99 of the time of a whole request"),
        GoalKind("fct_increase", "at most", "non-monotone", "",
                 lambda seen: seen.completion_increase(index), _INCREASE, compares=True),
    )  # fmt: skip
    for kind in kinds:
        target = getattr(group.goals, kind.name)
        if target is not None:
            title = f"{kind.title} of {scenario.class_names[index]}"
            own = replace(kind, name=f"traffic.{index}.{kind.name}", title=title)
            yield Goal(own, float(target))
