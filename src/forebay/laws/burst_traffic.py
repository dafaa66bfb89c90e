"""A scenario's traffic as one stream of bursts (paper A, §4 and its remark on UDP).

Short flows send the bursts of slow start; datagrams arrive singly. The rates of all classes' bursts
add up. Flows that never congest the link queue only by coincidence: their packets arrive singly if
slow access links space them, and as whole windows if the receiver's window limits them (the worst
case: a window stays in one burst, as slow start sent it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forebay.laws.bursts import SINGLE_PACKETS, Bursts
from forebay.laws.flow_lengths import flow_lengths
from forebay.laws.quantities import Held, bursts_only, held_back, offered
from forebay.scenario import Long, Short

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Traffic

INITIAL_WINDOWS = {"linux": 10, "ns2": 2}
"""Initial window of a stack in packets: RFC 6928 for Linux, paper A's two for ns-2."""


@dataclass(frozen=True, slots=True, eq=False)
class BurstTraffic:
    """Bursts of all classes; `load` is their offered rate over the link's rate, may exceed 1."""

    load: float
    bursts: Bursts


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    rate_bps: float
    packet: int
    bursts: Bursts

    @property
    def bursts_per_second(self) -> float:
        return self.rate_bps / (8.0 * self.packet * self.bursts.mean)


def burst_traffic(scenario: Scenario) -> BurstTraffic | None:
    """Return the bursts at the link; None if other traffic crosses it too, or none at all.

    Other traffic is long flows that can congest the link, users, and real-time traffic with a
    varying rate.
    """
    if not bursts_only(scenario):
        return None
    held = held_back(scenario)
    streams = [_stream(scenario, group, held) for group in scenario.crossing]
    load = sum(s.rate_bps for s in streams) / scenario.link.capacity
    return BurstTraffic(float(load), _together(streams))


def _together(streams: Sequence[_Stream]) -> Bursts:
    sizes = np.concatenate([s.bursts.sizes for s in streams])
    weights = np.concatenate([s.bursts_per_second * s.bursts.probabilities for s in streams])
    return Bursts.given(sizes, weights)


def slow_start_bursts(scenario: Scenario, offered_bps: Sequence[float]) -> Bursts | None:
    """Return the bursts of the short flows alone; None without any.

    Parameters
    ----------
    offered_bps : of each class of ``scenario.traffic``.
    """
    short = [
        _Stream(bps, int(group.packet), _slow_start(group))
        for group, bps in zip(scenario.traffic, offered_bps, strict=True)
        if isinstance(group, Short) and bps > 0.0
    ]
    return _together(short) if short else None


def initial_window(group: Short) -> int:
    """Initial window of a flow in packets: the class's own, else its stack's."""
    return group.initial_window or INITIAL_WINDOWS[group.sender]


def _stream(scenario: Scenario, group: Traffic, held: Held) -> _Stream:
    rate, packet = scenario.link.capacity, int(group.packet)
    if isinstance(group, Short):
        return _Stream(float(offered(group, rate) or 0.0), packet, _slow_start(group))
    if isinstance(group, Long) and held is Held.BY_ACCESS:
        return _Stream(group.access_links * group.access(rate), packet, SINGLE_PACKETS)
    if isinstance(group, Long) and group.max_window is not None:
        sent = group.flows * group.max_window * 8 * packet / group.rtt.mean
        return _Stream(sent, packet, Bursts.given([group.max_window]))
    return _Stream(float(offered(group, rate) or 0.0), packet, SINGLE_PACKETS)


def _slow_start(group: Short) -> Bursts:
    lengths, weights = flow_lengths(group.length, int(group.packet))
    return Bursts.of_lengths(lengths, weights, initial_window(group), group.max_window)
