"""How many links of a network got a speed or a delay that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario import Rate

if TYPE_CHECKING:
    from forebay.scenario import LinkClass, Scenario
    from forebay.topology.adjacency import Adjacency


def assumed(scenario: Scenario) -> tuple[str, ...]:
    """Return what a scenario's network assumes; nothing without a topology."""
    if scenario.topology is None:
        return ()
    from forebay.topology.building import wired

    adjacency = wired(scenario.topology)
    return (*_speeds(scenario, adjacency), *_delays(scenario, adjacency))


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
