"""Checks of flows that stop, or are switched on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration
from forebay.scenario.source import Stopping, Switched

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario


def check_stops(scenario: Scenario) -> None:
    """Raise ScenarioError for the first stop or schedule that cannot be."""
    for index, group in enumerate(scenario.traffic):
        if isinstance(group, Switched) and group.schedule and scenario.topology is not None:
            wrong, hint = "cannot be set with a topology", "leave it out, or write start and stop"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.schedule")
        if isinstance(group, Switched) and group.schedule and group.schedule.times:
            _times(scenario, group.schedule.times, f"traffic.{index}.schedule.times")
        if isinstance(group, Stopping) and group.stop and group.stop.high <= group.start.low:
            wrong = f"every flow stops by {group.stop.high}, before it starts"
            hint = "write a later stop, or an earlier start"
            raise ScenarioError("contradiction", wrong, hint, field=f"traffic.{index}.stop")


def _times(scenario: Scenario, times: tuple[tuple[Duration, Duration], ...], field: str) -> None:
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    if times[0][0] >= end:
        wrong = f"no flow is switched on before the run ends at {end}"
        hint = "write earlier times, or a longer measure.duration"
        raise ScenarioError("contradiction", wrong, hint, field=field)
