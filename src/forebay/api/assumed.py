"""What an answer says beside its numbers: what was assumed, late flows, rates that vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.scenario import Standing
from forebay.scenario.assumptions import assumptions, starts_within
from forebay.scenario.source import Stopping

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.scenario import Duration, Scenario, Traffic


def remarks(
    scenario: Scenario, seeds: Sequence[int], measured: Outcome | None = None
) -> dict[str, Any]:
    """Return the fields of an answer that are not measured; see `late_starts` for ``measured``."""
    whole = (*assumed(scenario), *_of_hosts(scenario, measured))
    said: dict[str, Any] = {"assumptions": _as_it_ran(whole, scenario, measured)}
    if any(_may_be_late(each, scenario.measure.warmup) for each in scenario.traffic):
        from forebay.api.late_starts import late_starts

        said["late_starts"] = late_starts(scenario, seeds, measured)
    if any(link.rates is not None for link in (scenario.link, *scenario.links)):
        from forebay.api.link_rates import link_rates

        said["rates"] = link_rates(scenario, measured)
    return said


def _of_hosts(scenario: Scenario, measured: Outcome | None) -> tuple[str, ...]:
    """Return what a run of a network, which lists links between routers, says of the others."""
    topology = scenario.topology
    if topology is None or measured is None or measured.engine == "network":
        return ()
    from forebay.topology.building import ACCESS

    if not any(each.name == ACCESS for each in topology.classes):
        return ()
    return ("hosts' own links drop too and are not listed: see the loss of the classes",)


def _may_be_late(group: Traffic, warmup: Duration) -> bool:
    starts_late = isinstance(group, Standing) and group.start.high > warmup
    stops = isinstance(group, Stopping) and group.stop is not None
    return starts_late or stops or group.kind in ("short", "transfers")


def _as_it_ran(
    said: tuple[str, ...], scenario: Scenario, measured: Outcome | None
) -> tuple[str, ...]:
    """Return assumptions with the starts of the runs; a search may begin its flows earlier."""
    if measured is None:
        return said
    for group, ran in zip(scenario.traffic, measured.scenario["traffic"], strict=False):
        start = ran.get("start")
        if isinstance(group, Standing) and isinstance(start, dict) and "uniform" in start:
            before, now = starts_within(group.start.high), starts_within(start["uniform"][1])
            said = tuple(each.replace(before, now) for each in said)
    return said


def assumed(scenario: Scenario) -> tuple[str, ...]:
    """Return every default that nobody chose and that moves the answer, in words."""
    if scenario.topology is None:
        return assumptions(scenario)
    from forebay.topology.assumed import assumed as of_network

    return (*of_network(scenario), *assumptions(scenario))
