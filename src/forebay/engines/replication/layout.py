"""The layout: the links, and the routes of each class's data and ACKs."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from forebay.catalogue import DISCIPLINES
from forebay.scenario import BOTTLENECK, FRAMINGS, REVERSE, ack_route, data_route

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from forebay.engines.replication.transfer_routes import TransferRoutes
    from forebay.scenario import (
        ClassQueue,
        Jitter,
        Link,
        Loss,
        Queue,
        RateTrace,
        Scenario,
        TokenBucket,
        Traffic,
    )

Route = tuple[list[int], list[int]]
Bucket = tuple[float, int, int, str]
"""A token bucket: bit/s, Bc and Be in bytes, and the kind of refill: "continuous", "interval" or,
with the largest packet in place of Bc, "deficit".
"""

LinkLoss = tuple[float, float, float, float, bool, bool]
"""Probability of loss in the good and the bad state, of the change from good to bad and back;
whether loss is of a byte, and whether it is before the queue."""

LinkJitter = tuple[int, float, bool]
"""The longest delay, picoseconds; the share of packets that have one; whether they reorder."""

COUNT_BYTES = tuple(each.name for each in DISCIPLINES.values() if each.counts_bytes)
"""Disciplines whose limit is in bytes, as in tc."""

_PS_PER_S = 1e12


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """A class queue of a link, with Linux's names.

    Attributes
    ----------
    name
        Name in the scenario.
    discipline, parameters
        "pfifo", "bfifo" or "red", and the parameters that the scenario sets.
    buffer_packets, packet_bytes
        Packets that may wait, and the packet that disciplines in bytes count by.
    priority, weight
        The lower priority is served first; the weight is relative to the others of its priority.
    min_rate_bps, max_rate : guaranteed and maximum rate; the latter in bit/s and burst bytes.
    """

    name: str
    discipline: str
    parameters: dict[str, Any]
    buffer_packets: int
    packet_bytes: int
    priority: int
    weight: float
    min_rate_bps: float | None = None
    max_rate: tuple[float, int | None] | None = None


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """A reported link and the queue before it, with Linux's names.

    Attributes
    ----------
    rate_bps, delay_ps
        Capacity in bit/s, that of the shaper if there is one; propagation delay in picoseconds.
    wire_bps : float or None
        Rate of the wire behind a shaper.
    shaper, policer : Bucket or None
        Token buckets.
    loss : LinkLoss or None
        What the link itself loses.
    rate_trace : RateTrace or None
        The rate of the wire over time; ``rate_bps`` is then its mean.
    drops_while_down : bool
        Whether what arrives while the rate is 0 is dropped.
    framing : the fields of scenario.Framing, or None
    jitter : LinkJitter or None
        What delays packets behind the wire.
    buffer_packets, packet_bytes
        Packets that may wait, and the packet that disciplines in bytes count by.
    bdp_packets
        Bandwidth-delay product of the flows that cross it, in packets of their mean size.
    discipline, parameters
        Linux name, or "classes"; the parameters that the scenario sets, in bytes and seconds.
    classes, class_of
        Its class queues (``buffer_packets`` is their sum), and for each traffic class the index
        of its class queue.
    """

    name: str
    rate_bps: float
    buffer_packets: int
    packet_bytes: int
    bdp_packets: float
    discipline: str
    transmit_ring: int
    delay_ps: int
    alpha: float | None
    parameters: dict[str, Any] = field(default_factory=dict)
    wire_bps: float | None = None
    shaper: Bucket | None = None
    policer: Bucket | None = None
    loss: LinkLoss | None = None
    rate_trace: RateTrace | None = None
    drops_while_down: bool = False
    jitter: LinkJitter | None = None
    framing: tuple[int, int, int, int, bool] | None = None
    classes: list[ClassSpec] = field(default_factory=list)
    class_of: list[int] = field(default_factory=list)

    @property
    def counts_bytes(self) -> bool:
        """Whether a limit in bytes may let more packets wait than ``buffer_packets``."""
        return any(each.discipline in COUNT_BYTES for each in self.queues)

    @property
    def queues(self) -> Sequence[LinkSpec | ClassSpec]:
        """Its class queues, or itself if it has none."""
        return self.classes or [self]

    @property
    def burst_bits(self) -> float:
        """Bits beyond the link's rate that may be sent at once: a shaper's bucket."""
        if self.shaper is None:
            return 0.0
        _, burst, excess, refill = self.shaper
        return 8.0 * (burst * (2 if refill == "interval" else 1) + excess)


@dataclass(frozen=True, slots=True, eq=False)
class FlowRoutes:
    """All flows of a network.

    Attributes
    ----------
    route : int32, shape (flows,), index into the layout's routes.
    rtt_ps : int64, shape (flows,), two-way propagation delay.
    hosts : the hosts' own links, numbered after the reported links.
    link_class, connections : of the reported links.
    transfers : what transfers are routed by, for each seed; None without such classes.
    """

    route: NDArray[np.int32]
    rtt_ps: NDArray[np.int64]
    hosts: list[LinkSpec]
    link_class: list[str]
    connections: list[int]
    transfers: TransferRoutes | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The links and routes of a scenario.

    Attributes
    ----------
    links : list of LinkSpec
        The reported links, the bottleneck first.
    routes : list of Route
        For each class, the links that its data crosses, and those that its ACKs cross. With
        ``flows``, the routes of its flows.
    flows : FlowRoutes or None
        Only for a network, whose classes have no route of their own.
    """

    links: list[LinkSpec]
    routes: list[Route]
    flows: FlowRoutes | None = None

    @property
    def last_link(self) -> list[int]:
        """For each class, the last link that its data crosses."""
        return [forward[-1] for forward, _ in self.routes]


def lay_out(scenario: Scenario) -> Layout:
    """Return the links and routes of `scenario`."""
    links = _links(scenario)
    index = {link.name: place for place, link in enumerate(links)}
    both_ways = _both_ways(scenario)
    return Layout(links, [_route(group, index, both_ways) for group in scenario.traffic])


def _links(scenario: Scenario) -> list[LinkSpec]:
    links = [_link(scenario, BOTTLENECK, scenario.link, scenario.queue)]
    links += [_link(scenario, each.name, each, each.queue) for each in scenario.links]
    if _both_ways(scenario):
        links.append(_link(scenario, REVERSE, scenario.link.opposite, scenario.queue))
    return links


def _link(scenario: Scenario, name: str, link: Link, queue: Queue) -> LinkSpec:
    return LinkSpec(
        name=name,
        rate_bps=float(link.capacity),
        buffer_packets=scenario.queue_packets(name),
        packet_bytes=int(scenario.at_link(name).packet),
        bdp_packets=scenario.at_link(name).bdp_packets,
        discipline=linux_name(queue.discipline),
        transmit_ring=queue.transmit_ring,
        delay_ps=round(link.delay * _PS_PER_S),
        alpha=queue.alpha,
        parameters=queue.parameters,
        wire_bps=_wire(link),
        shaper=_bucket(scenario, link.shaper),
        policer=_bucket(scenario, link.policer),
        loss=_loss(link.loss),
        rate_trace=link.rates,
        drops_while_down=link.down is not None and link.down.queue == "drop",
        jitter=_jitter(link.jitter),
        framing=None if link.framing is None else astuple(FRAMINGS[link.framing]),
        classes=_classes(scenario, name, queue),
        class_of=scenario.class_queue_of(name) if queue.classes else [],
    )


def linux_name(discipline: str) -> str:
    """Return Linux's name of a scenario's discipline."""
    return DISCIPLINES[discipline].in_tc


def _classes(scenario: Scenario, link: str, queue: Queue) -> list[ClassSpec]:
    limits = scenario.class_limits(link) if queue.classes else []
    return [
        ClassSpec(
            name=each.name,
            discipline=linux_name(each.discipline),
            parameters=each.parameters,
            buffer_packets=packets,
            packet_bytes=int(packet),
            priority=each.level,
            weight=each.weight,
            min_rate_bps=None if each.min_rate is None else float(each.min_rate),
            max_rate=_max_rate(each),
        )
        for each, (packets, packet) in zip(queue.classes, limits, strict=True)
    ]


def _max_rate(queue: ClassQueue) -> tuple[float, int | None] | None:
    if queue.max_rate is None:
        return None
    return float(queue.max_rate), None if queue.burst is None else int(queue.burst)


def _bucket(scenario: Scenario, bucket: TokenBucket | None) -> Bucket | None:
    if bucket is None:
        return None
    burst = scenario.largest_packet if bucket.burst is None else int(bucket.burst)
    return float(bucket.rate), burst, int(bucket.excess), bucket.refill


def _loss(loss: Loss | None) -> LinkLoss | None:
    if loss is None:
        return None
    return *loss.in_states, *loss.changes, loss.unit == "byte", loss.place == "before-queue"


def _wire(link: Link) -> float | None:
    """Return the line's rate, where it is not the capacity."""
    if link.shaper is not None:
        return float(link.rate)
    return None if link.framing is None else float(link.line_capacity)


def _jitter(jitter: Jitter | None) -> LinkJitter | None:
    if jitter is None:
        return None
    return round(jitter.most * _PS_PER_S), jitter.share, jitter.reorder


def _both_ways(scenario: Scenario) -> bool:
    return any(group.direction == "reverse" for group in scenario.traffic)


def _route(group: Traffic, index: dict[str, int], both_ways: bool) -> Route:
    forward, backward = data_route(group), ack_route(group, both_ways=both_ways)
    return [index[name] for name in forward], [index[name] for name in backward]
