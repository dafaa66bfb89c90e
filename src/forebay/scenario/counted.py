"""Which flows count where a scenario stands for one number of flows, one RTT, one packet."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, cast

from forebay.scenario.quantity import DataSize, Duration
from forebay.scenario.tcp import Long, Session, Short

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario
    from forebay.scenario.traffic import Traffic


def persistent(scenario: Scenario) -> tuple[Long, ...] | tuple[Session, ...]:
    """Forward long flows: a buffer's n counts these (paper A, §5.1.3, note 8); else users."""
    long = tuple(group for group in _forward(scenario) if isinstance(group, Long))
    return long or tuple(group for group in _forward(scenario) if isinstance(group, Session))


def mean_rtt(scenario: Scenario) -> Duration:
    """Mean over `persistent` flows; else over short flows as they arrive; else 0."""
    pairs = [pair for pair in _weighted(scenario) if isinstance(pair[0], Long | Session | Short)]
    groups = cast("list[tuple[Long | Session | Short, float]]", pairs)
    weight = sum(weight for _, weight in groups)
    return Duration(sum(w * g.rtt.mean for g, w in groups) / weight if groups else 0.0)


def mean_packet(scenario: Scenario) -> DataSize:
    """Mean over the same flows, or over open-loop ones where no other goes forward."""
    pairs = _weighted(scenario)
    total = sum(weight * group.packet for group, weight in pairs)
    return DataSize(floor(total / sum(weight for _, weight in pairs) + 0.5))


def _weighted(scenario: Scenario) -> list[tuple[Traffic, float]]:
    """Return the classes that count, each with its flows, or its flows a second."""
    lasting = persistent(scenario)
    if lasting:
        return [(group, group.flows) for group in lasting]
    short = [group for group in _forward(scenario) if isinstance(group, Short)]
    if short:
        return [(group, group.arrivals_per_second(scenario.link.rate)) for group in short]
    return [(group, group.flows) for group in _forward(scenario)]


def _forward(scenario: Scenario) -> list[Traffic]:
    return [group for group in scenario.traffic if group.direction == "forward"]
