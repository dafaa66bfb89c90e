"""How many links of a network got a speed or a delay that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.errors import entry
from forebay.scenario import Rate

if TYPE_CHECKING:
    from forebay.scenario import LinkClass, Scenario
    from forebay.topology.adjacency import Adjacency


def assumed(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario's network assumes; nothing without a topology."""
    if scenario.topology is None:
        return ()
    from forebay.topology.building import connected

    adjacency = connected(scenario.topology)
    return (*adjacency.notes, *_speeds(scenario, adjacency), *_delays(scenario, adjacency),
            *_unused(scenario, adjacency))  # fmt: skip


def _unused(scenario: Scenario, adjacency: Adjacency) -> list[str]:
    """Say that a matrix in bit/s is not carried, or that one without a unit has only ratios."""
    from forebay.topology.offered import offered_bps, takes_demand

    assert scenario.topology is not None, "assumed has seen to it"
    total = offered_bps(scenario.topology, adjacency)
    if any(takes_demand(group) for group in scenario.traffic):
        return []
    if total is not None:
        load = entry("traffic.0.load", 1.0)
        return [
            f"the {Rate(total)} of the demand are not offered: only their ratios distribute the "
            f"connections; a class of kind short with {load} carries them"
        ]
    if adjacency.demands:
        return ["the demand has no unit: only its ratios count; topology.demand_unit gives it one"]
    return []


def _speeds(scenario: Scenario, adjacency: Adjacency) -> list[str]:
    given = {each.name for each in _classes(scenario) if each.rate is not None or each.rates}
    lacking = _lacking(adjacency.rate_bps, adjacency.link_class, given)
    if not lacking:
        return []
    rate = Rate(float(scenario.link.rate))
    return [f"{_of(lacking, adjacency)} no speed: {rate} (link.rate) assumed"]


def _delays(scenario: Scenario, adjacency: Adjacency) -> list[str]:
    if "delay" in scenario.link.model_fields_set:
        return []
    given = {each.name for each in _classes(scenario) if each.delay is not None}
    lacking = _lacking(adjacency.delay_s, adjacency.link_class, given)
    return (
        [f"{_of(lacking, adjacency)} no delay and no place: a delay of 0 assumed"]
        if lacking
        else []
    )


def _classes(scenario: Scenario) -> tuple[LinkClass, ...]:
    return () if scenario.topology is None else scenario.topology.classes


def _lacking(values: list[float | None], classes: list[str], given: set[str]) -> int:
    pairs = zip(values, classes, strict=True)
    return sum(value is None and name not in given for value, name in pairs)


def _of(lacking: int, adjacency: Adjacency) -> str:
    have = "has" if lacking == 1 else "have"
    return f"{lacking} of {len(adjacency.source)} links {have}"
