"""Checks that need more than one field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.errors import ScenarioError, one_of
from forebay.scenario.goals import COMPLETING, COMPLETION_GOALS, OPEN_LOOP
from forebay.scenario.quantity import Duration, Rate
from forebay.scenario.traffic import MAX_FLOWS, Traffic

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario

MAX_BUFFER_PACKETS = 1_000_000_000


def check(scenario: Scenario) -> None:
    """Raise ScenarioError for the first contradiction."""
    _flows(scenario)
    _buffer(scenario)
    _links(scenario)
    _memory(scenario)
    _starts(scenario)
    _delay_goals(scenario)
    _utilization_goal(scenario)
    _completion_goals(scenario)
    _realtime_goal(scenario)


def _flows(scenario: Scenario) -> None:
    if scenario.n_flows > MAX_FLOWS:
        wrong = f"{scenario.n_flows} flows in all are above the most, {MAX_FLOWS}"
        raise ScenarioError("out-of-range", wrong, "write fewer flows", field="traffic")


def _buffer(scenario: Scenario) -> None:
    size, packets = scenario.queue.size, scenario.buffer_packets
    if 1 <= packets <= MAX_BUFFER_PACKETS:
        return
    wrong = f'"{size}" is {packets} packets of {scenario.packet}'
    hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
    raise ScenarioError("out-of-range", wrong, hint, field="queue.size", value=size)


def _links(scenario: Scenario) -> None:
    seen = {"bottleneck"}
    for index, link in enumerate(scenario.links):
        if link.name in seen:
            wrong, hint = "another link has this name", "write a name of its own"
            field = f"links.{index}.name"
            raise ScenarioError("contradiction", wrong, hint, field=field, value=link.name)
        seen.add(link.name)
        packets = scenario.queue_packets(link)
        if not 1 <= packets <= MAX_BUFFER_PACKETS:
            wrong = f'"{link.queue.size}" is {packets} packets of {scenario.packet}'
            hint = f"write a size that comes to 1 to {MAX_BUFFER_PACKETS} packets"
            raise ScenarioError("out-of-range", wrong, hint, field=f"links.{index}.queue.size")


def _memory(scenario: Scenario) -> None:
    sharing = [scenario.queue, *(link.queue for link in scenario.links)]
    if scenario.memory is None and any(queue.alpha is not None for queue in sharing):
        wrong, hint = "alpha is set, but there is no shared memory", 'write memory = "16 MB"'
        raise ScenarioError("contradiction", wrong, hint, field="memory")


def _starts(scenario: Scenario) -> None:
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    for index, group in enumerate(scenario.traffic):
        if group.start.low >= end:
            wrong = f"no flow starts before the run ends at {end}"
            hint = "write an earlier start, or a longer measure.duration"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.start")


def _delay_goals(scenario: Scenario) -> None:
    mean, p99 = scenario.goals.queue_delay_mean, scenario.goals.queue_delay_p99
    table = scenario.goals.queue_delay
    if mean is not None and table is not None and table.mean is not None:
        wrong, hint = "the mean is asked for twice", "leave out goals.queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay.mean")
    if mean is not None and p99 is not None and p99 < mean:
        wrong = f"{p99} is below queue_delay_mean, {mean}: the two goals contradict each other"
        hint = f"write {mean} or more here, or a smaller queue_delay_mean"
        raise ScenarioError("contradiction", wrong, hint, field="goals.queue_delay_p99", value=p99)


def _completion_goals(scenario: Scenario) -> None:
    """Refuse goals on completion times where no flow completes."""
    endless = [str(group.kind) not in COMPLETING for group in scenario.traffic]
    hint = "leave this goal out, or write a class of flows that end"
    if scenario.goals.fct_increase is not None and all(endless):
        wrong = "no flow ever completes"
        raise ScenarioError("contradiction", wrong, hint, field="goals.fct_increase")
    for index, group in enumerate(scenario.traffic):
        asked = [name for name in COMPLETION_GOALS if getattr(group.goals, name, None) is not None]
        if asked and endless[index]:
            field = f"traffic.{index}.goals.{asked[0]}"
            wrong = "no flow of this class ever completes"
            raise ScenarioError("contradiction", wrong, hint, field=field)


def _realtime_goal(scenario: Scenario) -> None:
    if scenario.goals.realtime_loss is None or any(
        str(g.kind) in OPEN_LOOP for g in scenario.traffic
    ):
        return
    hint = f"leave it out, or write a class of kind {one_of(sorted(OPEN_LOOP))}"
    raise ScenarioError("contradiction", "no class is real-time", hint, field="goals.realtime_loss")


def _utilization_goal(scenario: Scenario) -> None:
    goal, rate = scenario.goals.utilization, scenario.link.rate
    if goal is None:
        return
    most = sum(group.flows * _fastest(group) for group in scenario.traffic)
    if most < goal * rate:
        wrong = f"{goal:g} of {rate} cannot be reached: the flows can send {Rate(most)} at most"
        hint = "write a lower goal, more flows, or a larger access_rate or max_window"
        raise ScenarioError("contradiction", wrong, hint, field="goals.utilization", value=goal)


def _fastest(group: Traffic) -> float:
    """Return a bound on one flow's rate, bit/s: its access link, or a full window an RTT."""
    if group.max_window is None:
        return group.access_rate
    return min(group.access_rate, group.max_window * group.packet * 8 / group.rtt.low)
