"""A scenario in the papers' terms: capacity, windows, controls, and offered load."""

import math
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import Any

from forebay.catalogue import CONTROLS, KINDS, kinds_that
from forebay.scenario import (
    BOTTLENECK,
    Fetching,
    Long,
    Replay,
    Scenario,
    Tcp,
    Traffic,
    ack_route,
    data_route,
)

EPOCHS = 4.0
"""Epochs of CUBIC that count as its climb, where Reno's slope would take longer."""
CLIMBS = 1.6
"""Ratio of a link's settling time to the climb of its windows."""


def capacity(scenario: Scenario) -> float:
    """C, packets per second."""
    return float(scenario.link.capacity) / (8.0 * scenario.packet)


def growth(scenario: Scenario) -> float:
    """Packets by which a window grows in a round trip (appendix A), the mean over the flows."""
    return sum(t.flows * growth_of(t) for t in scenario.persistent) / scenario.n_flows


def growth_of(traffic: Tcp) -> float:
    """Growth in a round trip: one packet, or half a packet if the sender counts delayed ACKs.

    ns-2 counts ACKs. Linux counts the packets that an ACK covers, so it always grows by one.
    """
    return 0.5 if traffic.sender == "ns2" and traffic.delayed_ack else 1.0


def average_window(scenario: Scenario) -> float:
    """Window of one flow, packets: (2 Tp C + B) / n (paper A, eq. 1, §5.1.1)."""
    return (scenario.bdp_packets + scenario.buffer_packets) / scenario.n_flows


def sawtooth_period(scenario: Scenario) -> float:
    """Longest mean time between two losses of a long flow, seconds; 0 if there are no sawtooths.

    A window that is halved goes from 2/3 to 4/3 of its mean (paper A, §3.2). CUBIC's goes from 0.7
    to 1 of its maximum in K seconds (RFC 9438, eq. 2), or at the slope of its Reno-friendly region
    (eq. 4) if that is faster. Other controls are assumed to halve. The round trip includes half
    of the buffer.
    """
    periods = [0.0]
    for name, window, climb_s in _climbs(scenario):
        lost = 0.3 / 0.925  # 0.925 is the mean of CUBIC's window over its maximum
        cubic = min((lost * window / 0.4) ** (1.0 / 3.0), lost * climb_s)
        is_cubic = CONTROLS[name].sawtooth == "cubic"
        periods.append(cubic if is_cubic else 2.0 / 3.0 * climb_s)
    return float(max(periods))


def settling_time(scenario: Scenario) -> float:
    """Time from their start until the windows of long flows have settled, seconds.

    The losses at the end of slow start leave small windows. They reach their mean at the slope of
    congestion avoidance, CUBIC's in its Reno-friendly region (RFC 9438, eq. 4), and the link has
    settled after `CLIMBS` times as long: a measured factor, docs/explanation/scaled-links.md. Where
    round trips are long, CUBIC's own epochs are shorter than that climb. It is 0 if there are no
    sawtooths.
    """
    longest = 0.0
    for name, window, climb_s in _climbs(scenario):
        epochs_s = float(EPOCHS * (window / 0.4) ** (1.0 / 3.0))  # RFC 9438, eq. 1: W = C t^3
        is_cubic = CONTROLS[name].sawtooth == "cubic"
        longest = max(longest, min(climb_s, epochs_s) if is_cubic else climb_s)
    return CLIMBS * longest


def _climbs(scenario: Scenario) -> Iterator[tuple[str, float, float]]:
    """Yield each loss-based control of long flows, its mean window, and its climb in seconds.

    The climb is the time from no window to the mean window at the slope of congestion avoidance.
    """
    if not scenario.n_flows or held_back(scenario) is not Held.NOT:
        return
    window, waiting = average_window(scenario), scenario.buffer_packets / 2.0 / capacity(scenario)
    for group in scenario.persistent:
        rtt = group.rtt.mean + waiting
        for name in group.shares if isinstance(group, Long) else ():
            if CONTROLS[name].is_model_based:
                continue
            slope = 0.53 if CONTROLS[name].sawtooth == "cubic" else growth_of(group)
            yield name, window, window / slope * rtt


def path_window(scenario: Scenario) -> float:
    """Window of one flow in packets without a queue: 2 Tp C / n."""
    return scenario.bdp_packets / scenario.n_flows


def finite(packets: object) -> float | None:
    """Return a buffer as a float; None if no finite buffer meets the goal."""
    value = float(packets)  # type: ignore[arg-type]
    return value if math.isfinite(value) else None


def controls(scenario: Scenario) -> dict[str, float]:
    """Congestion controls of the classes that cross the link, with the long flows of each."""
    return _flows_of(group for group in scenario.crossing if isinstance(group, Tcp))


def flows_by_control(scenario: Scenario) -> dict[str, float]:
    """Number of flows of each congestion control."""
    return _flows_of(scenario.persistent)


def _flows_of(groups: Iterable[Any]) -> dict[str, float]:
    flows: dict[str, float] = {}
    for group in groups:
        for name, share in group.shares.items():
            flows[name] = flows.get(name, 0.0) + group.flows * share
    return flows


def paced(scenario: Scenario) -> list[str]:
    """Those of them that are model-based."""
    return sorted(name for name in controls(scenario) if CONTROLS[name].is_model_based)


def halves(scenario: Scenario) -> bool:
    """Whether every long flow halves its window at a loss.

    dctcp and prague do without marks (RFC 8257, section 3.5).
    """
    names = {name for group in scenario.persistent for name in group.shares}
    return all(CONTROLS[name].kept_after_loss == 0.5 for name in names)


FULL = 1.0 - 1e-9
"""A load of 1 within rounding: no unlimited queue is stable at it."""


def most(traffic: Traffic, link_rate: float) -> float:
    """Maximum bit/s of a class: its offered rate, or its limit.

    Users fetch at most one file in each round trip plus think time.
    """
    own = traffic.offered(link_rate)
    if own is not None:
        return own
    access = getattr(traffic, "access_links", traffic.flows) * traffic.access(link_rate)
    if isinstance(traffic, Fetching):
        file = traffic.fetched.mean_packets(traffic.packet) * 8 * traffic.packet
        return min(access, traffic.flows * file / max(traffic.shortest_cycle, 1e-9))
    if isinstance(traffic, Long) and traffic.max_window is not None:
        bits = traffic.max_window * 8 * traffic.packet
        return min(access, traffic.flows * bits / max(traffic.rtt.low, 1e-9))
    return access


def share(scenario: Scenario, kinds: Collection[str]) -> float:
    """Maximum rate of the classes of some kinds on the link, over its rate."""
    return _load(scenario, (t for t in scenario.crossing if t.kind in kinds))


def overload(scenario: Scenario) -> float | None:
    """Load of traffic that comes whatever the link does, if it is all that the link carries.

    None below that. Users who wait for their answers, and long flows, offer what the link takes.
    """
    rate = scenario.link.capacity
    load = _load(scenario, (t for t in scenario.crossing if t.offered(rate) is not None))
    return load if load >= FULL else None


def _load(scenario: Scenario, groups: Iterable[Traffic]) -> float:
    """Maximum rate of classes over the link's; a list of packets is sent only once in the run."""
    rate, total = scenario.link.capacity, 0.0
    run = scenario.measure.warmup + scenario.measure.duration
    for group in groups:
        part = min(group.file.length_s / run, 1.0) if isinstance(group, Replay) else 1.0
        total += most(group, rate) * part
    return float(total / rate)


def may_congest(scenario: Scenario, link: str) -> bool:
    """Whether a link other than the bottleneck may be slower than its load.

    Flows that also cross the bottleneck are limited by its rate.
    """
    rate, here = scenario.link.capacity, scenario.at_link(link)
    through = sum(most(t, rate) for t in here.classes if BOTTLENECK in data_route(t))
    others = sum(most(t, rate) for t in here.classes if BOTTLENECK not in data_route(t))
    return bool(min(through, rate) + others > here.rate)


def other_queues(scenario: Scenario) -> list[str]:
    """Names of further links of the bottleneck's data that may be congested."""
    names = {name for t in scenario.crossing for name in data_route(t)} - {BOTTLENECK}
    return sorted(name for name in names if may_congest(scenario, name))


def ack_queues(scenario: Scenario) -> list[str]:
    """Names of links at which ACKs of the bottleneck's flows may have to wait."""
    both_ways = any(t.direction == "reverse" for t in scenario.traffic)
    groups = (t for t in scenario.crossing if isinstance(t, Tcp))
    names = {name for t in groups for name in ack_route(t, both_ways=both_ways)}
    return sorted(name for name in names - {BOTTLENECK} if may_congest(scenario, name))


class Held(Enum):
    """Limits that keep long flows from filling the link."""

    NOT = "nothing"
    BY_ACCESS = "their access links"
    BY_WINDOWS = "the receivers' windows"


ARRIVING = kinds_that(lambda kind: kind.completes and kind.in_bursts)
"""TCP flows that arrive as a Poisson process and end."""

LONG_OR_SHORT = kinds_that(lambda kind: kind.runs_tcp and kind.in_bursts)
"""TCP flows that last, or that arrive and end."""


def long_and_short(scenario: Scenario) -> bool:
    """Whether the link's traffic consists of long and short flows only."""
    return {t.kind for t in scenario.crossing} == LONG_OR_SHORT


def short_share(scenario: Scenario) -> float:
    """Offered load of the short flows over the link's rate."""
    short = (t for t in scenario.crossing if t.kind in ARRIVING)
    return sum(t.offered(scenario.link.capacity) or 0.0 for t in short) / scenario.link.capacity


def bursts_only(scenario: Scenario) -> bool:
    """Whether all traffic is short flows, datagrams, or long flows that cannot fill the link."""
    groups = scenario.crossing
    if not groups or not all(KINDS[group.kind].in_bursts for group in groups):
        return False
    lasting = any(KINDS[group.kind].lasts for group in groups)
    return not lasting or held_back(scenario) is not Held.NOT


def held_back(scenario: Scenario) -> Held:
    """Return the limit by which all classes together cannot fill the link."""
    groups, rate = scenario.crossing, scenario.link.capacity
    steady = all(KINDS[t.kind].lasts or KINDS[t.kind].single_datagrams for t in groups)
    if steady and sum(getattr(t, "access_links", t.flows) * t.access(rate) for t in groups) < rate:
        return Held.BY_ACCESS
    windows = [t.flows * t.max_window for t in groups if isinstance(t, Long) and t.max_window]
    if len(windows) < len(groups) or sum(windows) >= scenario.bdp_packets:
        return Held.NOT
    return Held.BY_WINDOWS
