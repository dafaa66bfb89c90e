"""The flows that count at a link: only those whose data crosses it.

n, the mean RTT, the mean packet and the bandwidth-delay product of a link are those of the flows
that queue there. The bottleneck's reverse direction is a separate link, `REVERSE`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, inf
from typing import TYPE_CHECKING, cast

from forebay.catalogue.metrics import BOTTLENECK, REVERSE
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.tcp import Long, Requests, Session, Short, Tcp
from forebay.scenario.transfers import Transfers

if TYPE_CHECKING:
    from forebay.scenario.model import Scenario
    from forebay.scenario.queue import BufferSize
    from forebay.scenario.traffic import Traffic


def data_route(group: Traffic) -> tuple[str, ...]:
    """Links that the data of a class crosses, in order."""
    if group.direction == "reverse":
        return (REVERSE,)
    return group.route or (BOTTLENECK,)


def ack_route(group: Traffic, *, both_ways: bool) -> tuple[str, ...]:
    """Links at which the ACKs of a class queue; `both_ways`: some class sends in reverse."""
    if group.direction == "reverse":
        return (BOTTLENECK,)
    if group.return_route or group.route or not both_ways:
        return group.return_route
    return (REVERSE,)


@dataclass(frozen=True)
class CrossingFlows:
    """The flows that count at one link.

    Attributes
    ----------
    rate : rate at which its queue is served: the link's, or its shaper's.
    classes : classes whose data crosses it.
    acknowledged : classes of which only the ACKs cross it.

    Flows that start only after the run has ended, or stop before the window begins, do not count.
    """

    rate: Rate
    classes: tuple[Traffic, ...]
    acknowledged: tuple[Traffic, ...]
    _everywhere: tuple[Traffic, ...]
    _bottleneck_rate: Rate
    _window: tuple[float, float]
    _policed: float

    @property
    def n_flows(self) -> int:
        """n of the laws: flows, or users, of the `persistent` classes; may be 0."""
        return sum(group.flows for group in self.persistent)

    @cached_property
    def persistent(self) -> tuple[Long, ...] | tuple[Session | Requests, ...]:
        """Classes with flows during the whole run (paper A, §5.1.3, note 8); else users."""
        return self._lasting(self.classes)

    @property
    def n_for_size(self) -> int:
        """n of bdp/sqrt(n): without long data flows, the long flows of its ACKs."""
        groups = self._lasting(self._sizing) or self._lasting(self.acknowledged)
        return sum(group.flows for group in groups)

    @cached_property
    def mean_rtt(self) -> Duration:
        """Mean two-way propagation delay of the long flows, else of arriving short flows; else 0.

        Without TCP data it is that of the flows whose ACKs cross the link, else of the whole
        scenario, so that a size in bandwidth-delay products is defined on any link.
        """
        groups = cast("list[tuple[Tcp, float]]", self._weighted(self._sizing, Tcp))
        weight = sum(weight for _, weight in groups)
        return Duration(sum(w * g.rtt.mean for g, w in groups) / weight if groups else 0.0)

    @cached_property
    def packet(self) -> DataSize:
        """Mean full packet of the same flows, else of open-loop flows; in whole bytes."""
        groups = self.classes or self._sizing
        pairs = self._weighted(groups, object)
        total = sum(weight * group.packet for group, weight in pairs)
        return DataSize(floor(total / sum(weight for _, weight in pairs) + 0.5))

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product: `mean_rtt` times the rate, in mean packets.

        The rate is a policer's, where that lets less pass than the link carries.
        """
        return min(self.rate, self._policed) * self.mean_rtt / (8 * self.packet)

    def part(self, groups: Collection[Traffic]) -> CrossingFlows:
        """The part for a queue that has only these of the classes that cross the link."""
        held = {id(group) for group in groups}
        return replace(
            self,
            classes=tuple(group for group in self.classes if id(group) in held),
            acknowledged=tuple(group for group in self.acknowledged if id(group) in held),
        )

    def packets(self, size: BufferSize) -> int:
        """Packets that may wait in a queue of this size before this link."""
        return size.packets(
            rate_bps=self.rate,
            packet_bytes=self.packet,
            bdp=self.bdp_packets,
            flows=self.n_for_size,
        )

    @cached_property
    def _sizing(self) -> tuple[Traffic, ...]:
        for groups in (self.classes, self.acknowledged):
            if any(isinstance(group, Tcp) for group in groups):
                return groups
        return self._everywhere

    def _weighted(self, groups: tuple[Traffic, ...], kind: type) -> list[tuple[Traffic, float]]:
        """Return the classes that count, each with its flows, or its flows per second."""
        lasting = self._lasting(groups)
        if lasting:
            return [(group, group.flows) for group in lasting]
        short = [group for group in groups if isinstance(group, Short | Transfers)]
        if short:  # a load is always relative to the bottleneck's rate
            return [(group, group.arrivals_per_second(self._bottleneck_rate)) for group in short]
        return [(group, group.flows) for group in groups if isinstance(group, kind)]

    def _lasting(
        self, groups: tuple[Traffic, ...]
    ) -> tuple[Long, ...] | tuple[Session | Requests, ...]:
        long = tuple(group.sending(*self._window) for group in groups if isinstance(group, Long))
        return long or tuple(
            g.sending(*self._window) for g in groups if isinstance(g, Session | Requests)
        )


_last: tuple[object, object, Rate, object, Mapping[str, CrossingFlows]] | None = None


def count_crossing(scenario: Scenario) -> Mapping[str, CrossingFlows]:
    """Flows that count at each link, by name, computed in one pass over the classes.

    The result of the last scenario is cached, because callers use one link after the other, and a
    pass for each of thousands of links would take hours.
    """
    global _last
    traffic, links, rate = scenario.traffic, scenario.links, scenario.link.capacity
    measure, known = scenario.measure, _last
    same = known is not None and known[0] is traffic and known[1] is links
    if known is None or not same or known[2:4] != (rate, measure):
        known = _last = (traffic, links, rate, measure, _count(scenario))
    return known[4]


def _count(scenario: Scenario) -> Mapping[str, CrossingFlows]:
    begin, span = float(scenario.measure.warmup), float(scenario.measure.duration)
    window = (begin, begin + span)
    every = {BOTTLENECK: scenario.link, REVERSE: scenario.link.opposite}
    every |= {link.name: link for link in scenario.links}
    rates = {name: link.capacity for name, link in every.items()}
    policed = {
        name: float(link.policer.rate) if link.policer else inf for name, link in every.items()
    }
    both_ways = any(group.direction == "reverse" for group in scenario.traffic)
    crossing: dict[str, list[Traffic]] = {name: [] for name in rates}
    acknowledged: dict[str, list[Traffic]] = {name: [] for name in rates}
    for group in scenario.traffic:
        data = set(data_route(group))
        acks = set(ack_route(group, both_ways=both_ways)) if isinstance(group, Tcp) else set()
        for name in data & rates.keys():
            crossing[name].append(group)
        for name in (acks - data) & rates.keys():
            acknowledged[name].append(group)
    return {
        name: CrossingFlows(
            rate, tuple(crossing[name]), tuple(acknowledged[name]), scenario.traffic,
            scenario.link.capacity, window, policed[name],
        )
        for name, rate in rates.items()
    }  # fmt: skip
