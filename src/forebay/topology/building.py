"""Builds the graph of a scenario's [topology], and checks it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from forebay.scenario import BufferSize, Rate, Scenario, ScenarioError, Topology, Traffic
from forebay.scenario.topology import LinkClass
from forebay.topology import generators
from forebay.topology.files import read, read_matrix
from forebay.topology.graph import BETWEEN, DOWN, UP, Adjacency, Graph, Ints, number_of
from forebay.words import Fact


def take_down(names: Sequence[str], adjacency: Adjacency) -> None:
    """Take the links of these names out, both directions of each.

    Raises ScenarioError: there is no link of a name.
    """
    if not names:
        return
    wire_of = adjacency.wires()
    down: set[int] = set()
    for index, name in enumerate(names):
        if name not in wire_of:
            raise ScenarioError(
                "topology.no-link", field=f"topology.failed.{index}", name=name[:60],
                some=", ".join(list(wire_of)[:_MOST_NAMED]),
            )  # fmt: skip
        down.add(wire_of[name])
    adjacency.keep_links([place for place in range(len(adjacency.source)) if place not in down])


def wire_names(adjacency: Adjacency) -> list[str]:
    """Return one name of each link, the one in its own direction."""
    named = {wire: name for name, wire in reversed(adjacency.wires().items())}
    return [named[wire] for wire in sorted(named)]


_MOST_NAMED = 5


def keep_connected(adjacency: Adjacency, *, largest: bool) -> None:
    """Refuse a network in several parts, or keep its largest one alone.

    Raises ScenarioError: there is no link; there are several parts, without ``largest``.
    """
    if not adjacency.source:
        raise ScenarioError("topology.no-links", field="topology")
    label = _parts(adjacency)
    sizes = np.bincount(label)
    if len(sizes) == 1:
        return
    apart = np.flatnonzero(label != int(np.argmax(sizes))).tolist()
    named = ", ".join(f'"{adjacency.names[router]}"' for router in apart[:_MOST_NAMED])
    rest = len(apart) - _MOST_NAMED
    more = Fact("network.more", more=rest) if rest > 0 else ""
    if not largest:
        raise ScenarioError(
            "topology.parts", field="topology", parts=len(sizes), named=named, more=more
        )
    _remove(adjacency, set(apart))
    adjacency.notes.append(Fact("network.left-out", named=named, more=more))


def lead_back(adjacency: Adjacency, *, both: bool) -> None:
    """Let directed links that stand once lead back too, or refuse a network of those alone.

    Raises ScenarioError: no link has one back and some routers cannot be reached, without ``both``.
    """
    ends = adjacency.ends
    there = set(ends)
    once = {place for place in adjacency.one_way if ends[place][::-1] not in there}
    if both:
        adjacency.one_way -= once
    elif once and len(once) == len(ends) and max(_parts(adjacency, "strong"), default=0):
        raise ScenarioError("topology.nothing-comes-back", field="topology.file", links=len(ends))


def _parts(adjacency: Adjacency, connection: str = "weak") -> Ints:
    """Return the part of each router, shape (routers,); with "strong" by the links' directions."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(adjacency.names)
    ends = (np.array(adjacency.source), np.array(adjacency.target))
    links = coo_array((np.ones(len(adjacency.source)), ends), shape=(n, n))
    return np.asarray(connected_components(links, directed=True, connection=connection)[1])


def _remove(adjacency: Adjacency, apart: set[int]) -> None:
    """Take routers out, with their links and demands."""
    kept = [router for router in range(len(adjacency.names)) if router not in apart]
    new = {router: number for number, router in enumerate(kept)}
    of_routers: tuple[list[Any], ...] = (adjacency.names, adjacency.hosts, adjacency.place)
    for column in of_routers:
        column[:] = [column[router] for router in kept]
    adjacency.demands = [
        (new[a], new[b], w) for a, b, w in adjacency.demands if a in new and b in new
    ]
    adjacency.keep_links([at for at, router in enumerate(adjacency.source) if router in new])
    adjacency.source[:] = [new[router] for router in adjacency.source]
    adjacency.target[:] = [new[router] for router in adjacency.target]


ACCESS = "access"
"""The class of hosts' own links; without such a class hosts have none."""


def build(scenario: Scenario) -> Graph:
    """Return the graph of a scenario that has a topology.

    Raises ScenarioError: a class, a router or a demand does not exist; the network is not
    connected.
    """
    if scenario.topology is None:
        raise ScenarioError("topology.no-network", field="topology")
    return _Assembly(scenario, scenario.topology, connected(scenario.topology)).graph()


def connected(topology: Topology) -> Adjacency:
    """Return routers, hosts, demands and links, without parts that are apart. May raise."""
    adjacency = wired(topology)
    names = {name: number for number, name in enumerate(adjacency.names)}
    _hosts(topology, adjacency, names)
    if topology.demands:
        adjacency.demands = [
            (
                number_of(demand.source, names, f"topology.demands.{index}.source"),
                number_of(demand.target, names, f"topology.demands.{index}.target"),
                float(demand.weight),
            )
            for index, demand in enumerate(topology.demands)
        ]
    elif topology.demand_file is not None:
        adjacency.demands = read_matrix(topology.demand_file, names)
    keep_connected(adjacency, largest=topology.largest_part)
    return adjacency


def wired(topology: Topology) -> Adjacency:
    """Return the routers and the links that did not fail. Raises ScenarioError."""
    adjacency = _wiring(topology)
    if topology.file is not None:
        lead_back(adjacency, both=topology.both_directions)
    take_down(topology.failed, adjacency)
    return adjacency


def _wiring(topology: Topology) -> Adjacency:
    if topology.two_level is not None:
        return generators.two_level(topology.two_level)
    if topology.isp is not None:
        return generators.isp(topology.isp)
    if topology.fat_tree is not None:
        return generators.fat_tree(topology.fat_tree)
    if topology.file is not None:
        return read(topology.file, topology.file_unit)
    adjacency, numbers = Adjacency(), dict[str, int]()
    for index, link in enumerate(topology.links):
        for name in link.between:
            if name not in numbers:
                numbers[name] = adjacency.router(name)
        here, there = (numbers[name] for name in link.between)
        if here == there:
            raise ScenarioError("topology.to-itself", field=f"topology.links.{index}.between")
        own = (link.rate, link.delay, link.buffer)
        adjacency.link(here, there, link.link_class, *own, one_way=link.one_way)
    return adjacency


def _hosts(topology: Topology, adjacency: Adjacency, names: dict[str, int]) -> None:
    """Place hosts by [[topology.nodes]], or one on each router by default."""
    given = set[str]()
    for index, node in enumerate(topology.nodes):
        field = f"topology.nodes.{index}.name"
        if node.name in given:
            raise ScenarioError("topology.router-twice", field=field, value=node.name)
        given.add(node.name)
        adjacency.hosts[number_of(node.name, names, field)] = node.hosts
    if not any(adjacency.hosts):
        adjacency.hosts = [1] * len(adjacency.names)


_Own = tuple[float, float, int, int]
"""Of a link: bit/s, seconds, and the numbers of its buffer and of its class."""


class _Assembly:
    """Gives every link the rate, delay and buffer of its class, and hosts their own links."""

    def __init__(self, scenario: Scenario, topology: Topology, adjacency: Adjacency) -> None:
        self.scenario, self.topology, self.adjacency = scenario, topology, adjacency
        self.known = {kind.name: kind for kind in topology.classes}
        self.buffers: list[BufferSize] = []
        self.usual: dict[str, _Own] = {}
        self.classes = list(dict.fromkeys([*adjacency.link_class, *self.known]))
        for name in dict.fromkeys(adjacency.link_class):
            if self.known and name not in self.known:
                raise ScenarioError("topology.no-class", field="topology.classes", name=name)

    def graph(self) -> Graph:
        adjacency = self.adjacency
        between = [self._between(place) for place in range(len(adjacency.source))]
        pairs = zip(adjacency.ends, between, strict=True)
        forth = [(here, there, BETWEEN, 1, *own) for (here, there), own in pairs]
        back = [
            (there, here, *own)
            for place, (here, there, *own) in enumerate(forth)
            if place not in adjacency.one_way
        ]
        entries = [*forth, *back, *self._access()]
        columns = [np.array(column) for column in zip(*entries, strict=True)]
        source, target, kind, count, rate_bps, delay_s, buffer, link_class = columns
        if not self._wrote_delay() and not delay_s.any():
            raise ScenarioError("topology.no-delays", field="topology")
        return Graph(
            names=adjacency.names,
            hosts=np.array(adjacency.hosts, dtype=np.int64),
            place=np.array(adjacency.place, dtype=np.float64),
            source=source, target=target, kind=kind, count=count, rate_bps=rate_bps,
            delay_s=delay_s, link_class=link_class, buffer=buffer,
            classes=self.classes, buffers=self.buffers, demands=adjacency.matrix(),
            offered_bps=offered_bps(self.topology, adjacency),
        )  # fmt: skip

    def _wrote_delay(self) -> bool:
        """Whether someone chose a delay, be it 0: of all links, of a class, or of one link."""
        of_class = any(kind.delay is not None for kind in self.known.values())
        of_link = any(delay is not None for delay in self.adjacency.delay_s)
        return of_class or of_link or "delay" in self.scenario.link.model_fields_set

    def _between(self, place: int) -> _Own:
        links = self.adjacency
        rate, delay, buffer, index = self._of_class(links.link_class[place])
        own = links.rate_bps[place], links.delay_s[place], links.buffer[place]
        return (
            rate if own[0] is None else float(own[0]),
            delay if own[1] is None else float(own[1]),
            buffer if own[2] is None else self._buffer(own[2]),
            index,
        )

    def _of_class(self, name: str) -> _Own:
        if name not in self.usual:
            link, table = self.scenario.link, self.known.get(name, LinkClass(name=name))
            rate = link.rate if table.rate is None else table.rate
            delay = link.delay if table.delay is None else table.delay
            buffer = self._buffer(table.buffer or self.scenario.queue.size)
            self.usual[name] = float(rate), float(delay), buffer, self.classes.index(name)
        return self.usual[name]

    def _buffer(self, size: BufferSize) -> int:
        if size not in self.buffers:
            self.buffers.append(size)
        return self.buffers.index(size)

    def _access(self) -> Iterator[tuple[int, int, int, int, float, float, int, int]]:
        """Yield the hosts' own links, up and down, which begin and end at one router."""
        if ACCESS not in self.known:
            return
        rate, delay, buffer, index = self._of_class(ACCESS)
        rates = [float(of_some) for of_some in self.known[ACCESS].rates] or [rate]
        for router, hosts in enumerate(self.adjacency.hosts):
            for place, rate in enumerate(rates):
                # A remainder of hosts goes to the first rates; the next router continues there.
                share = (hosts + (place - router) % len(rates)) // len(rates)
                if share:
                    own = share, rate, delay, buffer, index
                    yield from ((router, router, way, *own) for way in (UP, DOWN))


def assumed(scenario: Scenario) -> tuple[Fact, ...]:
    """Return what a scenario's network assumes; nothing without a topology."""
    topology = scenario.topology
    if topology is None:
        return ()
    adjacency = connected(topology)
    said, links = list(adjacency.notes), len(adjacency.source)
    with_rate = {table.name for table in topology.classes if table.rate is not None or table.rates}
    if lacking := _lacking(adjacency.rate_bps, adjacency, with_rate):
        rate = Rate(float(scenario.link.rate))
        said.append(Fact("network.no-speed", lacking=lacking, links=links, rate=rate))
    with_delay = {table.name for table in topology.classes if table.delay is not None}
    lacking = _lacking(adjacency.delay_s, adjacency, with_delay)
    if lacking and "delay" not in scenario.link.model_fields_set:
        said.append(Fact("network.no-delay", lacking=lacking, links=links))
    return (*said, *_unused(scenario, topology, adjacency))


def _lacking(values: list[float | None], adjacency: Adjacency, given: set[str]) -> int:
    """Return how many links have no value of their own or of their class."""
    pairs = zip(values, adjacency.link_class, strict=True)
    return sum(value is None and name not in given for value, name in pairs)


def _unused(scenario: Scenario, topology: Topology, adjacency: Adjacency) -> list[Fact]:
    """Say that a matrix in bit/s is not carried, or that one without a unit has only ratios."""
    total = offered_bps(topology, adjacency)
    if any(takes_demand(group) for group in scenario.traffic):
        return []
    if total is not None:
        return [Fact("network.not-offered", total=Rate(total))]
    return [Fact("network.ratios-alone")] if adjacency.demands else []


_WITHOUT_EFFECT = ("demand_scale", "demand_growth", "connection_rate", "connection_window")


def offered_bps(topology: Topology, adjacency: Adjacency) -> float | None:
    """Return the sum of all demands in bit/s; None if only their ratios are known.

    Raises ScenarioError: a factor or a rate of connections without offered load; a unit without
    demands.
    """
    total = _total(topology, adjacency)
    if total is not None:
        return total * topology.demand_scale * topology.demand_growth
    for name in _WITHOUT_EFFECT:
        if name in topology.model_fields_set:
            raise ScenarioError("topology.without-effect", field=f"topology.{name}")
    return None


def _total(topology: Topology, adjacency: Adjacency) -> float | None:
    if topology.demand_total is not None:
        return float(topology.demand_total)
    own = not topology.demands and topology.demand_file is None
    unit = topology.demand_unit or (adjacency.demand_unit_bps if own else None)
    if topology.demand_unit is not None and not adjacency.demands:
        raise ScenarioError("topology.unit-of-nothing", field="topology.demand_unit")
    if unit is None or not adjacency.demands:
        return None
    return float(unit) * sum(demand[2] for demand in adjacency.demands if demand[0] != demand[1])


def takes_demand(group: Traffic) -> bool:
    """Whether a class carries a share of the offered load."""
    return getattr(group, "load", None) is not None
