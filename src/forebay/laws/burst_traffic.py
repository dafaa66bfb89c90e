"""A scenario's traffic as one stream of bursts (paper A, §4 and its remark on UDP).

Short flows send the bursts of slow start, datagrams come one by one; the bursts of all classes
arrive at rates that add up. Flows that never congest the link queue by coincidence only: their
packets come one by one where slow access links space them, and as whole windows where the
receiver's window holds them back (the worst case: a window stays bunched as slow start sent it).
"""

from __future__ import annotations

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
"""Packets that a stack sends first: RFC 6928 for Linux, paper A's two for ns-2."""


@dataclass(frozen=True, slots=True, eq=False)
class BurstTraffic:
    """Bursts of all classes; `load` is what they offer over the link's rate, maybe above 1."""

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
    """Bursts that meet at the link; None where some traffic is more than bursts, or none comes.

    That is long flows that can congest the link, users, and real-time traffic other than
    datagrams, whose rate itself varies.
    """
    if not bursts_only(scenario):
        return None
    held = held_back(scenario)
    streams = [_stream(scenario, group, held) for group in scenario.crossing]
    sizes = np.concatenate([s.bursts.sizes for s in streams])
    weights = np.concatenate([s.bursts_per_second * s.bursts.probabilities for s in streams])
    load = sum(s.rate_bps for s in streams) / scenario.link.capacity
    return BurstTraffic(float(load), Bursts.given(sizes, weights))


def initial_window(group: Short) -> int:
    """First window of a new flow, packets: the class's own, else its stack's."""
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
