"""Builds the graph of a scenario's [topology], and checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forebay.topology import generators
from forebay.topology.adjacency import Adjacency
from forebay.topology.errors import refuse
from forebay.topology.failures import take_down
from forebay.topology.file_values import number_of
from forebay.topology.files import read, read_matrix
from forebay.topology.graph import BETWEEN, DOWN, UP, Graph
from forebay.topology.offered import offered_bps
from forebay.topology.parts import keep_connected, lead_back

if TYPE_CHECKING:
    from forebay.scenario import BufferSize, LinkClass, Scenario, Topology
    from forebay.topology.graph import Floats, Ints

ACCESS = "access"
"""The class of hosts' own links; without such a class hosts have none."""


def build(scenario: Scenario) -> Graph:
    """Return the graph of a scenario that has a topology.

    Raises
    ------
    ScenarioError
        A class, a router or a demand does not exist; the network is not connected.
    """
    topology = scenario.topology
    if topology is None:
        hint = "write a topology, or choose another engine"
        raise refuse("the scenario has no network", hint)
    return _Assembly(scenario, topology, connected(topology)).graph()


def connected(topology: Topology) -> Adjacency:
    """Return routers, hosts, demands and links, without parts that are apart. May raise."""
    adjacency = wired(topology)
    _hosts(topology, adjacency)
    _demands(topology, adjacency)
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
    made, numbers = Adjacency(), dict[str, int]()
    for index, link in enumerate(topology.links):
        ends = [
            numbers[name] if name in numbers else numbers.setdefault(name, made.router(name))
            for name in link.between
        ]
        if ends[0] == ends[1]:
            wrong, hint = "a link from a router to itself", "write two routers"
            raise refuse(wrong, hint, f"links.{index}.between")
        rate, delay, buffer = link.rate, link.delay, link.buffer
        here, there = ends
        made.link(here, there, link.link_class, rate, delay, buffer, one_way=link.one_way)
    return made


def _hosts(topology: Topology, adjacency: Adjacency) -> None:
    """Place hosts by [[topology.nodes]], or one on each router by default."""
    names = {name: number for number, name in enumerate(adjacency.names)}
    given = set[str]()
    for index, node in enumerate(topology.nodes):
        if node.name in given:
            wrong = f'router "{node.name}" is there twice'
            raise refuse(wrong, "write its hosts once", f"nodes.{index}.name")
        given.add(node.name)
        adjacency.hosts[number_of(node.name, names, f"nodes.{index}.name")] = node.hosts
    if not any(adjacency.hosts):
        adjacency.hosts = [1] * len(adjacency.names)


def _demands(topology: Topology, adjacency: Adjacency) -> None:
    names = {name: number for number, name in enumerate(adjacency.names)}
    if topology.demands:
        adjacency.demands = [
            (
                number_of(each.source, names, f"demands.{index}.source"),
                number_of(each.target, names, f"demands.{index}.target"),
                float(each.weight),
            )
            for index, each in enumerate(topology.demands)
        ]
    elif topology.demand_file is not None:
        adjacency.demands = read_matrix(topology.demand_file, names)


class _Assembly:
    """Gives every link the rate, delay and buffer of its class, and hosts their own links."""

    def __init__(self, scenario: Scenario, topology: Topology, adjacency: Adjacency) -> None:
        self.scenario, self.topology, self.adjacency = scenario, topology, adjacency
        self.known = {each.name: each for each in topology.classes}
        self.buffers: list[BufferSize] = []
        self.classes = list(dict.fromkeys([*adjacency.link_class, *self.known]))
        for name in dict.fromkeys(adjacency.link_class):
            if self.known and name not in self.known:
                hint = f'write [[topology.classes]] with name = "{name}"'
                raise refuse(f'there is no class of links "{name}"', hint, "classes")

    def graph(self) -> Graph:
        adjacency = self.adjacency
        forth, back = self._both_ways()
        wire = np.concatenate([forth, back])
        source = np.array(adjacency.source, dtype=np.int64)
        target = np.array(adjacency.target, dtype=np.int64)
        access = self._access()
        empty: list[float] = []
        columns = list(zip(*access, strict=True)) if access else [empty] * 6
        routers, kinds, counts, rates, delays, buffers = columns
        reversed_ = np.concatenate([np.zeros(len(forth), bool), np.ones(len(back), bool)])
        rate, delay, buffer = self._between()
        if not self._wrote_delay() and not np.any(delay) and not any(delays):
            hint = "write link.delay, a delay of a class, or places of the routers"
            raise refuse("all delays of its links are 0, and nobody wrote that", hint)
        index = {name: place for place, name in enumerate(self.classes)}
        own = np.array([index[name] for name in adjacency.link_class], dtype=np.int64)
        return Graph(
            names=adjacency.names,
            hosts=np.array(adjacency.hosts, dtype=np.int64),
            place=np.array(adjacency.place, dtype=np.float64),
            source=_ints(np.where(reversed_, target[wire], source[wire]), routers),
            target=_ints(np.where(reversed_, source[wire], target[wire]), routers),
            kind=_ints(np.full(len(wire), BETWEEN), kinds),
            count=_ints(np.ones(len(wire)), counts),
            rate_bps=_floats(rate[wire], rates),
            delay_s=_floats(delay[wire], delays),
            link_class=_ints(own[wire], [index.get(ACCESS, 0)] * len(routers)),
            buffer=_ints(buffer[wire], buffers),
            classes=self.classes,
            buffers=self.buffers,
            demands=_matrix(adjacency),
            offered_bps=offered_bps(self.topology, adjacency),
        )

    def _wrote_delay(self) -> bool:
        """Whether someone chose a delay, be it 0: of all links, of a class, or of one link."""
        of_class = any(each.delay is not None for each in self.known.values())
        of_link = any(each is not None for each in self.adjacency.delay_s)
        return of_class or of_link or "delay" in self.scenario.link.model_fields_set

    def _both_ways(self) -> tuple[Ints, Ints]:
        every = np.arange(len(self.adjacency.source))
        single = np.isin(every, list(self.adjacency.one_way))
        return every, every[~single]

    def _between(self) -> tuple[Floats, Floats, Ints]:
        adjacency, classes = self.adjacency, {}
        for name in dict.fromkeys(adjacency.link_class):
            classes[name] = self._of_class(self.known.get(name))
        rate, delay, buffer = [], [], []
        for place, name in enumerate(adjacency.link_class):
            usual = classes[name]
            own = (adjacency.rate_bps[place], adjacency.delay_s[place], adjacency.buffer[place])
            rate.append(usual[0] if own[0] is None else own[0])
            delay.append(usual[1] if own[1] is None else own[1])
            buffer.append(usual[2] if own[2] is None else self._buffer(own[2]))
        return np.array(rate), np.array(delay), np.array(buffer, dtype=np.int64)

    def _of_class(self, table: LinkClass | None) -> tuple[float, float, int]:
        link, size = self.scenario.link, self.scenario.queue.size
        if table is None:
            return float(link.rate), float(link.delay), self._buffer(size)
        rate = link.rate if table.rate is None else table.rate
        delay = link.delay if table.delay is None else table.delay
        return float(rate), float(delay), self._buffer(table.buffer or size)

    def _buffer(self, size: BufferSize) -> int:
        if size not in self.buffers:
            self.buffers.append(size)
        return self.buffers.index(size)

    def _access(self) -> list[tuple[int, int, int, float, float, int]]:
        """Return router, kind, count, rate, delay, buffer of the hosts' own links."""
        table = self.known.get(ACCESS)
        if table is None:
            return []
        rate, delay, buffer = self._of_class(table)
        rates = [float(each) for each in table.rates] or [rate]
        made = []
        for router, hosts in enumerate(self.adjacency.hosts):
            for place, each in enumerate(rates):
                # A remainder of hosts goes to the first rates; the next router continues there.
                share = (hosts + (place - router) % len(rates)) // len(rates)
                if share:
                    made.append((router, UP, share, each, delay, buffer))
                    made.append((router, DOWN, share, each, delay, buffer))
        return made


def _ints(own: Floats | Ints, more: object) -> Ints:
    return np.concatenate([own, np.array(more)]).astype(np.int64)


def _floats(own: Floats, more: object) -> Floats:
    return np.concatenate([own, np.array(more)]).astype(np.float64)


def _matrix(adjacency: Adjacency) -> tuple[Ints, Ints, Floats] | None:
    kept = [each for each in adjacency.demands if each[2] > 0.0 and each[0] != each[1]]
    if not adjacency.demands:
        return None
    if not kept:
        wrong = "all demands are zero, or from a router to itself"
        raise refuse(wrong, "write a weight above 0 between two routers", "demands")
    source, target, weight = zip(*kept, strict=True)
    return np.array(source), np.array(target), np.array(weight, dtype=np.float64)
