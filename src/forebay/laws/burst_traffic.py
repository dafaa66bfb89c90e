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
from forebay.laws.offered import offered
from forebay.scenario import BOTTLENECK, Long, Short, Udp

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
    """Bursts that meet at the link; None where some traffic is more than bursts.

    That is long flows that can congest the link, users, and real-time traffic other than
    datagrams, whose rate itself varies.
    """
    forward = _at_the_link(scenario)
    found = [_stream(scenario, group) for group in forward]
    streams = [stream for stream in found if stream is not None]
    if not streams or len(streams) < len(found):
        return None
    sizes = np.concatenate([s.bursts.sizes for s in streams])
    weights = np.concatenate([s.bursts_per_second * s.bursts.probabilities for s in streams])
    load = sum(s.rate_bps for s in streams) / scenario.link.rate
    return BurstTraffic(float(load), Bursts.given(sizes, weights))


def initial_window(group: Short) -> int:
    """First window of a new flow, packets: the class's own, else its stack's."""
    return group.initial_window or INITIAL_WINDOWS[group.sender]


def _stream(scenario: Scenario, group: Traffic) -> _Stream | None:
    rate = float(offered(group, scenario.link.rate) or 0.0)
    if isinstance(group, Udp):
        return _Stream(rate, int(group.packet), SINGLE_PACKETS)
    if isinstance(group, Short):
        return _Stream(rate, int(group.packet), _slow_start(group))
    return _held_back(scenario, group) if isinstance(group, Long) else None


def _slow_start(group: Short) -> Bursts:
    lengths, weights = flow_lengths(group.length, int(group.packet))
    return Bursts.of_lengths(lengths, weights, initial_window(group), group.max_window)


def _held_back(scenario: Scenario, group: Long) -> _Stream | None:
    """Long flows whose access links or windows, all classes together, cannot fill the link."""
    forward = _at_the_link(scenario)
    rate, packet = scenario.link.rate, int(group.packet)
    if all(isinstance(t, Long | Udp) for t in forward) and _access(scenario) < rate:
        return _Stream(group.access_links * group.access(rate), packet, SINGLE_PACKETS)
    windows = [t.flows * t.max_window for t in forward if isinstance(t, Long) and t.max_window]
    if len(windows) < len(forward) or sum(windows) >= scenario.bdp_packets:
        return None
    assert group.max_window is not None
    sent = group.flows * group.max_window * 8 * packet / group.rtt.mean
    return _Stream(sent, packet, Bursts.given([group.max_window]))


def _access(scenario: Scenario) -> float:
    """Bit/s that all access links carry together."""
    groups, rate = _at_the_link(scenario), scenario.link.rate
    return sum(getattr(t, "access_links", t.flows) * t.access(rate) for t in groups)


def _at_the_link(scenario: Scenario) -> list[Traffic]:
    """Classes whose data crosses the bottleneck; without a route they all do."""
    forward = (t for t in scenario.traffic if t.direction == "forward")
    return [t for t in forward if BOTTLENECK in (getattr(t, "route", ()) or (BOTTLENECK,))]
