"""Whether the goals of a scenario fit its traffic and its link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import entry
from forebay.scenario.errors import ScenarioError, one_of
from forebay.scenario.goals import (
    COMPLETING_KINDS,
    COMPLETION_GOALS,
    OPEN_LOOP_KINDS,
    REQUEST_GOALS,
)
from forebay.scenario.quantity import Rate
from forebay.scenario.tcp import Fetching, Long, Short
from forebay.scenario.transfers import Transfers

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario
    from forebay.scenario.traffic import Traffic


def _delay_goals(scenario: Scenario) -> None:
    mean, p99 = scenario.goals.queue_delay_mean, scenario.goals.queue_delay_p99
    table = scenario.goals.queue_delay
    if mean is not None and table is not None and table.mean is not None:
        wrong, hint = "the mean is set twice", "leave out goals.queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay.mean")
    if mean is not None and p99 is not None and p99 < mean:
        wrong = f"{p99} is below queue_delay_mean, {mean}: the two goals contradict each other"
        hint = f"write {mean} or more here, or a smaller queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay_p99", value=p99)


def _completion_goals(scenario: Scenario) -> None:
    """Refuse goals on completion times for flows that never complete."""
    endless = [group.kind not in COMPLETING_KINDS for group in scenario.traffic]
    hint = "leave this goal out, or write a class of flows that end"
    if scenario.goals.fct_increase is not None and all(endless):
        wrong = "no flow ever completes"
        raise ScenarioError("contradiction", wrong, hint, field="goals.fct_increase")
    for index, group in enumerate(scenario.traffic):
        goals = [name for name in COMPLETION_GOALS if getattr(group.goals, name, None) is not None]
        if goals and endless[index]:
            field = f"traffic.{index}.goals.{goals[0]}"
            wrong = "no flow of this class ever completes"
            raise ScenarioError("contradiction", wrong, hint, field=field)
        asked = [name for name in REQUEST_GOALS if getattr(group.goals, name, None) is not None]
        if asked and group.kind != "requests":
            field = f"traffic.{index}.goals.{asked[0]}"
            wrong, like = (
                "this class has no requests with several answers",
                asked[0][-4:].strip("_"),
            )
            hint = f"write {entry('kind', 'requests')}, or a goal fct_{like}"
            raise ScenarioError("contradiction", wrong, hint, field=field)


def _realtime_goal(scenario: Scenario) -> None:
    kinds = {group.kind for group in scenario.traffic}
    if scenario.goals.realtime_loss is None or kinds & OPEN_LOOP_KINDS:
        return
    hint = f"leave it out, or write a class of kind {one_of(sorted(OPEN_LOOP_KINDS))}"
    raise ScenarioError("contradiction", "no class is real-time", hint, field="goals.realtime_loss")


def _utilization_goal(scenario: Scenario) -> None:
    goal, rate = scenario.goals.utilization, scenario.link.capacity
    if goal is None:
        return
    most = sum(_fastest(scenario, group) for group in scenario.crossing)
    if most < goal * rate:
        wrong = f"{goal:g} of {rate} cannot be reached: the flows can send {Rate(most)} at most"
        hint = "write a lower goal, more flows, or a larger access_rate or max_window"
        if not scenario.crossing:
            wrong, hint = "no data crosses the bottleneck", 'name "bottleneck" in a route'
        raise ScenarioError("contradiction", wrong, hint, field="goals.utilization", value=goal)


def _fastest(scenario: Scenario, group: Traffic) -> float:
    """Return an upper bound of a class's rate in bit/s; for open loops the mean rate."""
    if isinstance(group, Short | Transfers):  # any number may arrive at once
        return float("inf")
    access = group.access_links * group.access(scenario.link.capacity)
    if not isinstance(group, Long | Fetching):
        return min(access, group.flows * group.flow_rate(scenario.link.capacity))
    if group.max_window is None:
        return access
    return min(access, group.flows * group.max_window * group.packet * 8 / group.rtt.low)
