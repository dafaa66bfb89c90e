"""Assumptions of the laws of bursts (paper A, §4). Each check returns how a scenario breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS
from forebay.laws.assumptions import drop_tail, one_way
from forebay.laws.bursts import burst_traffic, flow_lengths
from forebay.laws.completion_time import LOAD
from forebay.laws.quantities import FULL, paced
from forebay.scenario import Short, Transfers

if TYPE_CHECKING:
    from forebay.scenario import Scenario


SLOW_START_ENDS = 90
"""Shorter flows never leave slow start (§4), with the receiver windows of that time."""
_MATTERS = 0.1
_FAST_ACCESS = 10.0
_DRAWN = 10_000


def only_bursts(scenario: Scenario) -> str | None:
    """All traffic is flows in slow start, datagrams, or flows that cannot fill the link."""
    if burst_traffic(scenario) is not None:
        return None
    return "traffic that responds to the queue or varies by itself: the law covers only bursts"


def stable_load(scenario: Scenario) -> str | None:
    """The offered load is below the capacity."""
    traffic = burst_traffic(scenario)
    if traffic is None or traffic.load < FULL:
        return None
    return f"load of {traffic.load:.3g}: not below 1, so an unlimited queue grows without limit"


def in_slow_start(scenario: Scenario) -> str | None:
    """The flows end before they leave slow start."""
    for group in _short(scenario):
        lengths, weights = flow_lengths(group.length, int(group.packet))
        packets = lengths * weights
        share = float(np.sum(packets[lengths >= SLOW_START_ENDS]) / np.sum(packets))
        if share > _MATTERS:
            return (
                f"flows of {SLOW_START_ENDS} packets or more carry {100 * share:.0f} % of the "
                "short flows' packets: they leave slow start, but the law's bursts continue"
            )
    return None


def small_transfers(scenario: Scenario) -> bool:
    """Whether transfers (kind "transfers"), if there are any, end before they leave slow start."""
    for group in scenario.crossing:
        if isinstance(group, Transfers):
            packets = np.ceil(_transfer_bytes(group) / group.payload)
            long = packets >= SLOW_START_ENDS
            if np.sum(packets[long]) > _MATTERS * np.sum(packets):
                return False
    return True


def _transfer_bytes(group: Transfers) -> NDArray[np.float64]:
    """Return the sizes of a table, or equally likely ones of the distribution."""
    if group.size is None:
        assert group.table is not None, "transfers have a table or a distribution"
        return group.table.size_bytes.astype(np.float64)
    sizes, shares = map(np.array, zip(*group.size.points, strict=True))
    return np.asarray(np.interp((np.arange(_DRAWN) + 0.5) / _DRAWN, shares, sizes))


def window_not_reached(scenario: Scenario) -> str | None:
    """No receiver's window stops slow start's doubling."""
    for group in _short(scenario):
        limit, most = group.max_window, group.length.most_packets(int(group.packet))
        if limit is not None and most > 2 * limit:
            return (
                f"max_window of {limit} packets ends the doubling: full windows follow each other"
            )
    return None


def whole_bursts(scenario: Scenario) -> str | None:
    """Access links are so fast that the packets of a burst arrive together."""
    slowest = min((t.access(scenario.link.capacity) for t in _short(scenario)), default=None)
    if slowest is None or slowest >= _FAST_ACCESS * scenario.link.capacity:
        return None
    if slowest <= scenario.link.capacity:
        return "access links no faster than the link spread the bursts: far less may be needed"
    times = slowest / scenario.link.capacity
    return f"access links only {times:.3g} times as fast as the link spread bursts: less is needed"


def doubling(scenario: Scenario) -> str | None:
    """The window doubles in every RTT; with ns-2 and delayed ACKs it grows only by half."""
    if not any(t.sender == "ns2" and t.delayed_ack for t in _short(scenario)):
        return None
    return "delayed ACKs that are counted: the window grows by half in an RTT; the law doubles it"


def one_packet_size(scenario: Scenario) -> str | None:
    """All packets take the same time on the wire."""
    sizes = {int(t.packet) for t in scenario.crossing}
    return "packets of several sizes: the law assumes one size" if len(sizes) > 1 else None


def unpaced(scenario: Scenario) -> str | None:
    """No congestion control paces its packets."""
    names = paced(scenario)
    return (
        f"congestion control {', '.join(names)} paces: packets of a burst do not arrive together"
        if names
        else None
    )


def poisson(scenario: Scenario) -> str | None:
    """Bursts arrive as a Poisson process."""
    if any(getattr(t, "arrivals", None) == "constant" for t in scenario.crossing):
        return "datagrams at a constant rate queue less than the Poisson arrivals of the law"
    if any(KINDS[t.kind].lasts for t in scenario.crossing):
        return "long flows that never fill the link: packets count as Poisson, an upper bound"
    return None


def load_of_figure_12(scenario: Scenario) -> str | None:
    """P(Q > B) = 2.5 % gives an AFCT higher by 12.5 %: shown for short flows at load 0.8."""
    traffic = burst_traffic(scenario)
    if scenario.goals.fct_increase is None or traffic is None:
        return None
    if abs(traffic.load - LOAD) < 0.005:
        return None
    return (
        f"load of {traffic.load:.3g}: that flows take an eighth longer where 2.5 % of packets "
        f"overflow is known at {LOAD} only"
    )


def _short(scenario: Scenario) -> list[Short]:
    return [t for t in scenario.crossing if isinstance(t, Short)]


BURSTS = (
    only_bursts,
    stable_load,
    in_slow_start,
    window_not_reached,
    whole_bursts,
    doubling,
    one_packet_size,
    unpaced,
    poisson,
    load_of_figure_12,
    one_way,
    drop_tail,
)
"""Assumptions of every law of bursts."""
