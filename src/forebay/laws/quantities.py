"""A scenario in the terms of the papers: capacity, windows, controls, and what classes offer."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

from forebay.scenario import (
    BOTTLENECK,
    Long,
    Replay,
    Session,
    Short,
    Tcp,
    Udp,
    ack_route,
    data_route,
)

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Traffic


def capacity(scenario: Scenario) -> float:
    """C, packets per second."""
    return float(scenario.link.capacity) / (8.0 * scenario.packet)


def growth(scenario: Scenario) -> float:
    """Packets by which a window grows in a round trip (appendix A), mean over the flows."""
    return sum(t.flows * growth_of(t) for t in scenario.persistent) / scenario.n_flows


def growth_of(traffic: Tcp) -> float:
    """One packet a round trip; half where ACKs are delayed and the sender counts ACKs.

    ns-2 counts ACKs. Linux counts the packets that an ACK covers, so it grows by one either way.
    """
    return 0.5 if traffic.sender == "ns2" and traffic.delayed_ack else 1.0


def average_window(scenario: Scenario) -> float:
    """Window of one flow, packets: (2 Tp C + B) / n (paper A, eq. 1, §5.1.1)."""
    return (scenario.bdp_packets + scenario.buffer_packets) / scenario.n_flows


def path_window(scenario: Scenario) -> float:
    """Window of one flow that the path alone holds, packets: 2 Tp C / n, whatever the buffer."""
    return scenario.bdp_packets / scenario.n_flows


def finite(packets: object) -> float | None:
    """A buffer as a plain float; None where no finite buffer reaches the goal."""
    value = float(packets)  # type: ignore[arg-type]
    return value if math.isfinite(value) else None


MODEL_BASED = frozenset({"bbr", "bbr3"})
"""Paced by a model of the path: no window is cut at each loss, so there is no sawtooth."""

HALVING = frozenset({"reno", "dctcp", "prague", "compound"})
"""Cut to a half at a loss; dctcp and prague where nothing marks (RFC 8257, section 3.5)."""


def controls(scenario: Scenario) -> dict[str, float]:
    """Congestion controls of the classes that cross the link, with the flows that last of each."""
    found: dict[str, float] = {}
    for group in scenario.crossing:
        if isinstance(group, Tcp):
            for name, share in group.shares.items():
                found[name] = found.get(name, 0.0) + group.flows * share
    return found


def paced(scenario: Scenario) -> list[str]:
    """Those of them that follow a model."""
    return sorted(controls(scenario).keys() & MODEL_BASED)


def halves(scenario: Scenario) -> bool:
    """Whether every flow that lasts halves its window at a loss."""
    return {name for group in scenario.persistent for name in group.shares} <= HALVING


FULL = 1.0 - 1e-9
"""A load that is 1 but for rounding: no queue without end is stable at it."""


def offered(traffic: Traffic, link_rate: float) -> float | None:
    """Bit/s that a class brings whatever happens to it; None where TCP decides that."""
    rate = getattr(traffic, "flow_rate", None)
    if rate is not None:
        return float(traffic.flows * rate(link_rate))
    arrivals = getattr(traffic, "arrivals_per_second", None)
    if arrivals is None:
        return None
    packets = getattr(traffic, "length").mean_packets(traffic.packet)  # noqa: B009
    return float(arrivals(link_rate) * packets * 8 * traffic.packet)


def most(traffic: Traffic, link_rate: float) -> float:
    """Bit/s that a class can bring at the most: what it offers, or what lets it no faster.

    Users who wait for nothing fetch a file each round trip and think time.
    """
    own = offered(traffic, link_rate)
    if own is not None:
        return own
    access = getattr(traffic, "access_links", traffic.flows) * traffic.access(link_rate)
    if isinstance(traffic, Session):
        file = traffic.file.mean_packets(traffic.packet) * 8 * traffic.packet
        return min(access, traffic.flows * file / max(traffic.shortest_cycle, 1e-9))
    if isinstance(traffic, Long) and traffic.max_window is not None:
        bits = traffic.max_window * 8 * traffic.packet
        return min(access, traffic.flows * bits / max(traffic.rtt.low, 1e-9))
    return access


def share(scenario: Scenario, kinds: Collection[str]) -> float:
    """What the classes of some kinds that cross the link bring at the most, over its rate."""
    rate = scenario.link.capacity
    groups = (t for t in scenario.crossing if t.kind in kinds)
    return float(sum(most(t, rate) * _part(scenario, t) for t in groups) / rate)


def _part(scenario: Scenario, traffic: Traffic) -> float:
    """Share of the run in which a class sends: a list of packets is played once."""
    if not isinstance(traffic, Replay):
        return 1.0
    run = scenario.measure.warmup + scenario.measure.duration
    return min(traffic.file.length_s / run, 1.0)


def may_congest(scenario: Scenario, link: str) -> bool:
    """Whether a link other than the bottleneck may be too slow for what crosses it.

    Flows that cross the bottleneck as well bring no more than that carries.
    """
    rate, here = scenario.link.capacity, scenario.at_link(link)
    through = sum(most(t, rate) for t in here.classes if BOTTLENECK in data_route(t))
    others = sum(most(t, rate) for t in here.classes if BOTTLENECK not in data_route(t))
    return bool(min(through, rate) + others > here.rate)


def other_queues(scenario: Scenario) -> list[str]:
    """Further links that data of the bottleneck crosses and that may be congested, by name."""
    names = {name for t in scenario.crossing for name in data_route(t)} - {BOTTLENECK}
    return sorted(name for name in names if may_congest(scenario, name))


def ack_queues(scenario: Scenario) -> list[str]:
    """Links before which ACKs of the bottleneck's flows may have to wait, by name."""
    both_ways = any(t.direction == "reverse" for t in scenario.traffic)
    groups = (t for t in scenario.crossing if isinstance(t, Tcp))
    names = {name for t in groups for name in ack_route(t, both_ways=both_ways)}
    return sorted(name for name in names - {BOTTLENECK} if may_congest(scenario, name))


class Held(Enum):
    """What keeps long flows from filling the link."""

    NOT = "nothing"
    BY_ACCESS = "their access links"
    BY_WINDOWS = "the receivers' windows"


def long_and_short(scenario: Scenario) -> bool:
    """Whether the link's traffic is long flows and short ones, and nothing else."""
    return {t.kind for t in scenario.crossing} == {"long", "short"}


def short_share(scenario: Scenario) -> float:
    """What the short flows offer over the link's rate."""
    short = (t for t in scenario.crossing if t.kind == "short")
    return sum(offered(t, scenario.link.capacity) or 0.0 for t in short) / scenario.link.capacity


def bursts_only(scenario: Scenario) -> bool:
    """Whether all traffic is short flows, datagrams, or long flows that cannot fill the link."""
    groups = scenario.crossing
    if not groups or not all(isinstance(group, Udp | Short | Long) for group in groups):
        return False
    lasting = any(isinstance(group, Long) for group in groups)
    return not lasting or held_back(scenario) is not Held.NOT


def held_back(scenario: Scenario) -> Held:
    """What holds long flows back so that all classes together cannot fill the link."""
    groups = scenario.crossing
    if (
        all(isinstance(t, Long | Udp) for t in groups)
        and _access(scenario) < scenario.link.capacity
    ):
        return Held.BY_ACCESS
    windows = [t.flows * t.max_window for t in groups if isinstance(t, Long) and t.max_window]
    if len(windows) < len(groups) or sum(windows) >= scenario.bdp_packets:
        return Held.NOT
    return Held.BY_WINDOWS


def _access(scenario: Scenario) -> float:
    """Bit/s that all access links carry together."""
    rate = scenario.link.capacity
    return sum(getattr(t, "access_links", t.flows) * t.access(rate) for t in scenario.crossing)


def flows_by_control(scenario: Scenario) -> dict[str, float]:
    """How many flows run each congestion control."""
    flows: dict[str, float] = {}
    for group in scenario.persistent:
        for name, share in group.shares.items():
            flows[name] = flows.get(name, 0.0) + group.flows * share
    return flows
