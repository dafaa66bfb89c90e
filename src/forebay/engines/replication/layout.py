"""The layout: the links, and the routes of each class's data and ACKs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import DISCIPLINES, KINDS
from forebay.engines.replication.transfer_routes import TransferRoutes
from forebay.progress import Progress
from forebay.scenario import BOTTLENECK, REVERSE, Duration, Scenario, ScenarioError, Traffic
from forebay.scenario.crossing import ack_route, data_route
from forebay.scenario.distribution import Distribution
from forebay.scenario.link import FRAMINGS, Link, Measure, TokenBucket
from forebay.scenario.queue import Queue
from forebay.scenario.rate_trace import RateTrace
from forebay.scenario.tcp import Long
from forebay.scenario.transfers import Transfers
from forebay.topology import Problem, make_problem
from forebay.topology.graph import BETWEEN, UP, Graph, Ints
from forebay.topology.routing import NetworkCost

Route = tuple[list[int], list[int]]
Part = dict[str, Any]
"""What a link has besides, by the names of crates/sim/src/config/link_plan.rs."""

COUNT_BYTES = tuple(qdisc.name for qdisc in DISCIPLINES.values() if qdisc.counts_bytes)
"""Disciplines whose limit is in bytes, as in tc."""

_PS_PER_S = 1e12


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """A class queue of a link, with Linux's names; `LinkSpec` has the fields of both.

    Attributes
    ----------
    priority, weight : the lower priority is served first; the weight is relative within it.
    min_rate_bps, max_rate : guaranteed and maximum rate; the latter with its burst.
    """

    name: str
    discipline: str
    parameters: dict[str, Any]
    buffer_packets: int
    packet_bytes: int
    priority: int
    weight: float
    min_rate_bps: float | None = None
    max_rate: Part | None = None

    def plan(self) -> dict[str, Any]:
        """Return the class queue by names; see `LinkSpec.plan`."""
        plan = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "name"}
        numbers = {name: float(value) for name, value in self.parameters.items()}
        return plan | {"parameters": numbers}


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """A reported link and the queue before it, with Linux's names.

    Attributes
    ----------
    rate_bps, delay_ps : capacity, that of the shaper if there is one; propagation delay.
    wire_bps : rate of the wire behind a shaper.
    shaper, policer : token buckets.
    loss : what the link itself loses.
    rate_trace : the rate of the wire over time; ``rate_bps`` is then its mean.
    drops_while_down : whether what arrives while the rate is 0 is dropped.
    jitter : what delays packets behind the wire.
    buffer_packets, packet_bytes : what may wait, and the packet that disciplines in bytes count by.
    bdp_packets : bandwidth-delay product of the flows that cross it, in packets of their mean size.
    discipline : Linux name, or "classes".
    parameters : those that the scenario sets, in bytes and seconds.
    classes, class_of : its class queues (``buffer_packets`` is their sum), and for each traffic
        class the index of its class queue.
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
    shaper: Part | None = None
    policer: Part | None = None
    loss: Part | None = None
    rate_trace: RateTrace | None = None
    drops_while_down: bool = False
    jitter: Part | None = None
    framing: Part | None = None
    classes: list[ClassSpec] = field(default_factory=list)
    class_of: list[int] = field(default_factory=list)

    @property
    def counts_bytes(self) -> bool:
        """Whether a limit in bytes may let more packets wait than ``buffer_packets``."""
        return any(queue.discipline in COUNT_BYTES for queue in self.queues)

    @property
    def queues(self) -> Sequence[LinkSpec | ClassSpec]:
        """Its class queues, or itself if it has none."""
        return self.classes or [self]

    def plan(self) -> dict[str, Any]:
        """Return the link by names, as simulator and testbed are given it (config/link_plan.rs)."""
        return {name: getattr(self, name) for name in _PLANNED} | {
            "rate_bps": self.wire_bps or self.rate_bps,
            "parameters": {name: float(value) for name, value in self.parameters.items()},
            "rate_trace": None if self.rate_trace is None else self.rate_trace.for_core(),
            "classes": [kind.plan() for kind in self.classes],
        }

    @property
    def highest_bps(self) -> float:
        """The rate, that of a shaper if there is one; of a link that varies, the highest."""
        trace = self.rate_trace
        return self.rate_bps if trace is None else max(rate for _, rate in trace.rates)

    @property
    def burst_bits(self) -> float:
        """Bits beyond the link's rate that may be sent at once: a shaper's bucket."""
        if self.shaper is None:
            return 0.0
        intervals = 2 if self.shaper["refill"] == "interval" else 1
        held: int = self.shaper["burst_bytes"] * intervals + self.shaper["excess_bytes"]
        return 8.0 * held


_OURS = ("bdp_packets", "wire_bps")
_PLANNED = tuple(each.name for each in fields(LinkSpec) if each.name not in _OURS)


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
    links : the reported links, the bottleneck first.
    routes : for each class, the links that its data crosses, and those that its ACKs cross. With
        ``flows``, the routes of its flows.
    flows : only for a network, whose classes have no route of their own.
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
    links = [_link(scenario, BOTTLENECK, scenario.link, scenario.queue)]
    links += [_link(scenario, link.name, link, link.queue) for link in scenario.links]
    both_ways = any(group.direction == "reverse" for group in scenario.traffic)
    if both_ways:
        links.append(_link(scenario, REVERSE, scenario.link.opposite, scenario.queue))
    index = {link.name: place for place, link in enumerate(links)}
    routes = []
    for group in scenario.traffic:
        forward, backward = data_route(group), ack_route(group, both_ways=both_ways)
        routes.append(([index[name] for name in forward], [index[name] for name in backward]))
    return Layout(links, routes)


def _link(scenario: Scenario, name: str, link: Link, queue: Queue) -> LinkSpec:
    wire_bps = None if link.framing is None else float(link.line_capacity)
    if link.shaper is not None:
        wire_bps = float(link.rate)
    loss: Part | None = None
    if link.loss is not None:
        names = ("in_good", "in_bad", "good_to_bad", "bad_to_good")
        chances = (*link.loss.in_states, *link.loss.changes)
        loss = dict(zip(names, chances, strict=True), unit=link.loss.unit, place=link.loss.place)
    jitter: Part | None = None
    if link.jitter is not None:
        most_ps = round(link.jitter.most * _PS_PER_S)
        jitter = dict(most_ps=most_ps, share=link.jitter.share, reorders=link.jitter.reorder)
    return LinkSpec(
        name=name,
        rate_bps=float(link.capacity),
        buffer_packets=scenario.queue_packets(name),
        packet_bytes=int(scenario.at_link(name).packet),
        bdp_packets=scenario.at_link(name).bdp_packets,
        discipline=DISCIPLINES[queue.discipline].in_tc,
        transmit_ring=queue.transmit_ring,
        delay_ps=round(link.delay * _PS_PER_S),
        alpha=queue.alpha,
        parameters=queue.parameters,
        wire_bps=wire_bps,
        shaper=_bucket(scenario, link.shaper),
        policer=_bucket(scenario, link.policer),
        loss=loss,
        rate_trace=link.rates,
        drops_while_down=link.down is not None and link.down.queue == "drop",
        jitter=jitter,
        framing=None if link.framing is None else asdict(FRAMINGS[link.framing]),
        classes=_classes(scenario, name, queue),
        class_of=scenario.class_queue_of(name) if queue.classes else [],
    )


def _classes(scenario: Scenario, link: str, queue: Queue) -> list[ClassSpec]:
    limits = scenario.class_limits(link) if queue.classes else []
    return [
        ClassSpec(
            name=kind.name,
            discipline=DISCIPLINES[kind.discipline].in_tc,
            parameters=kind.parameters,
            buffer_packets=packets,
            packet_bytes=int(packet),
            priority=kind.level,
            weight=kind.weight,
            min_rate_bps=None if kind.min_rate is None else float(kind.min_rate),
            max_rate=None
            if kind.max_rate is None
            else {
                "rate_bps": float(kind.max_rate),
                "burst_bytes": None if kind.burst is None else int(kind.burst),
            },
        )
        for kind, (packets, packet) in zip(queue.classes, limits, strict=True)
    ]


def _bucket(scenario: Scenario, bucket: TokenBucket | None) -> Part | None:
    if bucket is None:
        return None
    burst = scenario.largest_packet if bucket.burst is None else int(bucket.burst)
    return {
        "rate_bps": float(bucket.rate), "burst_bytes": burst, "excess_bytes": int(bucket.excess),
        "refill": bucket.refill,
    }  # fmt: skip


MOST_LINKS = 2**20
"""Links of routers and hosts; crates/sim numbers 2**26. The memory limit mostly refuses first."""
_LATEST: list[tuple[str, Problem]] = []
"""The network that was routed last: a run needs it before its packets and after them."""


def problem_of(
    scenario: Scenario,
    progress: Progress | None = None,
    check: Callable[[NetworkCost], None] | None = None,
    check_size: Callable[[int], None] | None = None,
) -> Problem:
    """Return a network with the routes of its connections, from the call before if it is the same.

    Nobody may change its arrays. ``check_size`` is called first, with the number of links between
    routers, ``check`` before routes are searched for, with what they will take, and ``progress``
    while routes are found; all may raise.
    """
    # Routes do not depend on the window.
    sha = scenario.with_measure(Measure()).sha256()
    if not _LATEST or _LATEST[0][0] != sha:

        def check_graph(graph: Graph) -> None:
            links = int((graph.kind == BETWEEN).sum())
            _check_number(links)
            if check_size is not None:
                check_size(links)

        _LATEST[:] = [(sha, make_problem(scenario, check, progress, check_graph))]
    return _LATEST[0][1]


def expand(scenario: Scenario, buffers: Mapping[str, int] | None = None) -> tuple[Scenario, Layout]:
    """Return the scenario with a class for each traffic class and number of hops, and its layout.

    ``buffers`` are packets by link name; they replace the scenario's sizes of these links.
    Connections are distributed over paths by largest remainder, and over the hosts of a router in
    turn. ACKs meet no queue.

    Raises ScenarioError: traffic without a fixed number of connections; an invalid topology.
    """
    problem = problem_of(scenario)
    classes: list[Traffic] = []
    paths = []
    for index, group in enumerate(scenario.traffic):
        if not KINDS[group.kind].in_simulated_network:
            known = [kind.name for kind in KINDS.values() if kind.in_simulated_network]
            raise ScenarioError(
                "topology.kind", field=f"traffic.{index}.kind", value=group.kind,
                known=" or ".join(known),
            )  # fmt: skip
        if problem.graph.offered_bps is not None and getattr(group, "load", None) is not None:
            raise ScenarioError("topology.load", field=f"traffic.{index}.load")
        if isinstance(group, Transfers):
            classes.append(_of_transfers(problem, group, scenario.link))
            continue
        flows = _apportioned(problem.share, int(group.flows))
        for hops in np.unique(problem.hops[flows > 0]):
            mine = np.flatnonzero((problem.hops == hops) & (flows > 0))
            paths.append(np.repeat(mine, flows[mine]))
            update: dict[str, Any] = {
                "name": f"{scenario.class_names[index]}, {int(hops)} hops",
                "flows": type(group.flows)(len(paths[-1])),
            }
            if isinstance(group, Long):
                update["rtt"] = Distribution.constant(Duration(problem.mean_rtt_s))
            classes.append(group.model_copy(update=update))
    expanded = scenario.with_traffic(classes)
    none = np.zeros(0, dtype=np.int64)
    layout = _layout(scenario, problem, np.concatenate([none, *paths]))
    given = buffers or {}
    links = [
        replace(link, buffer_packets=given[link.name]) if link.name in given else link
        for link in layout.links
    ]
    return expanded, replace(layout, links=links)


def _of_transfers(problem: Problem, group: Transfers, link: Link) -> Transfers:
    """Return a class whose load is that of all hosts' links as arrivals in a second."""
    if group.load is None:
        return group
    graph = problem.graph
    up = graph.kind == UP
    rates = float((graph.rate_bps * graph.count)[up].sum())
    if not up.any():
        rates = float(link.rate) * int(graph.hosts.sum())
    return group.model_copy(update={"load": None, "arrival_rate": group.arrivals_per_second(rates)})


def _check_number(links: int) -> None:
    if links > MOST_LINKS:
        raise ScenarioError("out-of-range.links", field="topology", links=links, most=MOST_LINKS)


def _apportioned(share: NDArray[np.float64], total: int) -> Ints:
    wanted = share * total
    whole = np.floor(wanted).astype(np.int64)
    rest = total - int(whole.sum())
    order = np.argsort(-(wanted - whole), kind="stable")
    whole[order[:rest]] += 1
    return whole


def _layout(scenario: Scenario, problem: Problem, path: Ints) -> Layout:
    graph = problem.graph
    between = np.flatnonzero(graph.kind == 0)
    own = np.flatnonzero(graph.kind != 0)
    number = np.full(graph.links, -1)
    number[between] = np.arange(len(between))
    number[own] = len(between) + np.cumsum(graph.count[own]) - graph.count[own]
    steps = problem.paths[:, path]
    turn = np.zeros(graph.links, dtype=np.int64)
    links = np.where(steps < graph.links, number[np.minimum(steps, graph.links - 1)], -1)
    for row in range(len(steps)):  # every host of a router in turn
        shared = np.isin(steps[row], own)
        links[row, shared] += _in_turn(steps[row, shared], graph.count, turn)
    used = np.unique(links[links >= len(between)])
    transfers = None
    if any(isinstance(group, Transfers) for group in scenario.traffic):
        used = np.arange(len(between), len(between) + int(graph.count[own].sum()))
        transfers = TransferRoutes(problem, number)
    _check_number(len(between) + len(used))
    hosts = _host_links(scenario, problem, own, number, used)
    links = np.where(links < len(between), links, len(between) + np.searchsorted(used, links))
    columns, route = np.unique(links, axis=1, return_inverse=True)
    routes = [([int(link) for link in column if link >= 0], list[int]()) for column in columns.T]
    crossing = np.bincount(links[links >= 0], minlength=len(between))
    reported = [_link_spec(scenario, problem, link) for link in between.tolist()]
    flows = FlowRoutes(
        route=route.ravel().astype(np.int32),
        rtt_ps=np.round(problem.rtt_s[path] * _PS_PER_S).astype(np.int64),
        hosts=hosts,
        link_class=[graph.classes[place] for place in graph.link_class[between].tolist()],
        connections=crossing[: len(between)].tolist(),
        transfers=transfers,
    )
    return Layout(reported, routes, flows)


def _host_links(
    scenario: Scenario, problem: Problem, own: Ints, number: Ints, used: Ints
) -> list[LinkSpec]:
    """Return the links of hosts that some connection crosses, in the order of their numbers."""
    graph = problem.graph
    entry = own[np.searchsorted(number[own], used, side="right") - 1]
    specs = {link: _link_spec(scenario, problem, link) for link in np.unique(entry).tolist()}
    links = []
    for link, place in zip(entry.tolist(), (used - number[entry] + 1).tolist(), strict=True):
        spec = specs[link]
        several = graph.count[link] > 1
        links.append(replace(spec, name=f"{spec.name}#{place}") if several else spec)
    return links


def _in_turn(links: Ints, count: Ints, turn: Ints) -> Ints:
    """Return which of its entry's links each connection takes: round robin from `turn` on."""
    order = np.argsort(links, kind="stable")
    sorted_links = links[order]
    first = np.searchsorted(sorted_links, sorted_links)
    within = np.empty(len(links), dtype=np.int64)
    within[order] = np.arange(len(links)) - first
    taken = (turn[links] + within) % count[links]
    turn += np.bincount(links, minlength=len(turn))
    return np.asarray(taken)


def _link_spec(scenario: Scenario, problem: Problem, link: int) -> LinkSpec:
    graph, queue = problem.graph, scenario.queue
    rate_bps = float(graph.rate_bps[link])
    return LinkSpec(
        name=graph.link_names[link],
        rate_bps=rate_bps,
        buffer_packets=int(problem.buffer_packets[link]),
        packet_bytes=problem.packet_bytes,
        bdp_packets=rate_bps * problem.mean_rtt_s / (8 * problem.packet_bytes),
        discipline=DISCIPLINES[queue.discipline].in_tc,
        transmit_ring=queue.transmit_ring,
        delay_ps=round(float(graph.delay_s[link]) * _PS_PER_S),
        alpha=None,
        parameters=queue.parameters,
    )
