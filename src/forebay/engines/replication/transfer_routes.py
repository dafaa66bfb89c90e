"""Routes of transfers over a network: one for each, from its row, its pair or the demands.

ACKs cross the same links back, where there are any. Hosts are numbered on their router; a host that
is not given is drawn, and so is one of the shortest paths, by its share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forebay.scenario import Scenario, ScenarioError, Transfers
from forebay.topology import Problem
from forebay.topology.graph import BETWEEN, DOWN, UP, Floats, Graph, Ints
from forebay.words import Fact
from forebay.workload import Workload
from forebay.workload.streams import uniforms

if TYPE_CHECKING:
    from forebay.engines.replication.layout import Layout, Route


class _Ends(NamedTuple):
    """For each transfer its routers, and the hosts on them, -1 for one that is drawn."""

    source: Ints
    target: Ints
    source_host: Ints
    target_host: Ints


@dataclass(frozen=True, slots=True, eq=False)
class TransferRoutes:
    """What the transfers of a network are routed by.

    Attributes
    ----------
    number : shape (links,), the simulator's number of each entry's first link.
    """

    problem: Problem
    number: Ints

    def columns(self, group: Transfers, index: int, seed: int, n: int) -> Ints:
        """Return the links of each of `n` transfers in order, shape (hops, n); -1 is none."""
        ends, between = self._between(group, index, seed, n)
        first, last = (uniforms(seed, f"transfer-{use}", index, n) for use in ("source", "target"))
        ends = _to_another_host(ends, self.problem.graph, first, last)
        up = self._host_links(UP, ends.source, ends.source_host, first)
        down = self._host_links(DOWN, ends.target, ends.target_host, last)
        return np.concatenate([up[None], between, down[None]])

    def _between(self, group: Transfers, index: int, seed: int, n: int) -> tuple[_Ends, Ints]:
        """Return the ends, and the links between routers."""
        texts: Mapping[str, Sequence[str]] = {} if group.table is None else group.table.texts
        u = uniforms(seed, "transfer-path", index, n)
        if not any(any(texts.get(name, ())) for name in ("source", "target", "route")):
            path = np.searchsorted(np.cumsum(self.problem.share), u * self.problem.share.sum())
            path = np.minimum(path, len(self.problem.share) - 1)
            none = np.full(n, -1)
            ends = _Ends(self.problem.source[path], self.problem.target[path], none, none)
            return ends, self._links_of(path)
        ends = self._with_drawn(self._ends(texts, n), uniforms(seed, "transfer-pair", index, n))
        return ends, self._of_pairs(ends, texts.get("route", ()), u)

    def _links_of(self, path: Ints) -> Ints:
        """Return the links between routers of each path; -1 is none."""
        graph = self.problem.graph
        kinds = np.append(graph.kind, -1)
        steps = self.problem.paths[:, path]
        numbers = np.append(self.number, -1)
        return np.where(kinds[steps] == BETWEEN, numbers[steps], -1)

    def _ends(self, texts: Mapping[str, Sequence[str]], n: int) -> _Ends:
        routers = {name: place for place, name in enumerate(self.problem.graph.names)}
        blank = [""] * n
        routes = texts.get("route", blank)
        columns: list[list[int]] = [[], [], [], []]
        places = (("source", 0), ("target", -1))
        for row in range(n):
            for side, (name, end) in enumerate(places):
                written = texts.get(name, blank)[row]
                if not written and routes[row]:
                    written = routes[row].split(";")[end].split("->")[end].strip()
                router, host = self._end(written, routers, row, name)
                columns[side].append(router)
                columns[2 + side].append(host)
        return _Ends(*(np.array(column) for column in columns))

    def _end(self, text: str, routers: dict[str, int], row: int, column: str) -> tuple[int, int]:
        if not text:
            return -1, -1
        name, _, host = text.partition("#")
        router = routers.get(name)
        if router is None:
            raise _wrong(row, "bad-transfers.router", column=column, name=name)
        if not host:
            return router, -1
        hosts = int(self.problem.graph.hosts[router])
        if not (host.isdigit() and 1 <= int(host) <= hosts):
            raise _wrong(
                row, "bad-transfers.host", column=column, name=name, hosts=hosts, host=host
            )
        return router, int(host) - 1

    def _with_drawn(self, ends: _Ends, u: Floats) -> _Ends:
        """Return the ends with those drawn by the demands that are not given, as -1."""
        problem, pairs = self.problem, np.stack([ends.source, ends.target])
        open_ = np.flatnonzero((pairs < 0).any(axis=0))
        for source, target in sorted(set(zip(*pairs[:, open_].tolist(), strict=True))):
            rows = open_[(ends.source[open_] == source) & (ends.target[open_] == target)]
            fits = (source < 0) | (problem.source == source)
            paths = np.flatnonzero(fits & ((target < 0) | (problem.target == target)))
            sums = np.cumsum(problem.share[paths])
            if not len(paths) or sums[-1] <= 0:
                name = problem.graph.names[max(source, target)]
                raise _wrong(int(rows[0]), "bad-transfers.demand", name=name, to=source < 0)
            chosen = np.minimum(np.searchsorted(sums, u[rows] * sums[-1]), len(paths) - 1)
            pairs[:, rows] = problem.source[paths[chosen]], problem.target[paths[chosen]]
        return ends._replace(source=pairs[0], target=pairs[1])

    def _of_pairs(self, ends: _Ends, routes: Sequence[str], u: Floats) -> Ints:
        """Return the links between routers: a route's own, else those of a path of the pair."""
        problem = self.problem
        many = len(problem.graph.names)
        key = problem.source * many + problem.target
        order = np.argsort(key, kind="stable")
        sums = np.append(0.0, np.cumsum(problem.share[order]))
        wanted = ends.source * many + ends.target
        first, last = (np.searchsorted(key[order], wanted, side=s) for s in ("left", "right"))
        at = np.searchsorted(sums, sums[first] + u * (sums[last] - sums[first]), side="right") - 1
        path = order[np.clip(at, 0, len(order) - 1)]
        links = np.where(first < last, self._links_of(path), -1)
        apart = (first == last) & (ends.source != ends.target)
        given = np.array([bool(text) for text in routes] or [False] * len(apart))
        if (apart & ~given).any():
            row = int((apart & ~given).argmax())
            source, target = (problem.graph.names[end[row]] for end in ends[:2])
            raise _wrong(row, "bad-transfers.pair", source=source, target=target)
        return self._with_routes(links, ends, routes) if given.any() else links

    def _with_routes(self, links: Ints, ends: _Ends, routes: Sequence[str]) -> Ints:
        graph = self.problem.graph
        named = {name: place for place, name in enumerate(graph.link_names)}
        parsed: list[list[int]] = []
        for row, text in enumerate(routes):
            names = [name.strip() for name in text.split(";") if name.strip()]
            if unknown := [name for name in names if name not in named]:
                raise _wrong(row, "bad-transfers.link", name=unknown[0])
            parsed.append([named[name] for name in names])
        hops = max([links.shape[0], *map(len, parsed)])
        paths = np.pad(links, ((0, hops - links.shape[0]), (0, 0)), constant_values=-1)
        for row, route in enumerate(parsed):
            if not route:
                continue
            via = [*(graph.source[link] for link in route), ends.target[row]]
            on = [ends.source[row], *(graph.target[link] for link in route)]
            if via != on or any(graph.kind[link] != BETWEEN for link in route):
                raise _wrong(row, "bad-transfers.route")
            paths[:, row] = -1
            paths[: len(route), row] = self.number[route]
        return paths

    def _host_links(self, kind: int, router: Ints, host: Ints, u: Floats) -> Ints:
        """Return the link of each host, -1 where hosts have none of their own."""
        graph = self.problem.graph
        entries = np.flatnonzero(graph.kind == kind)
        if not len(entries):
            return np.full(len(router), -1)
        entries = entries[np.argsort(graph.source[entries], kind="stable")]
        count = graph.count[entries]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        every = np.repeat(self.number[entries], count) + within
        hosts = np.bincount(graph.source[entries], weights=count, minlength=len(graph.names))
        hosts = hosts.astype(np.int64)
        begin = np.cumsum(hosts) - hosts
        if (hosts[router] == 0).any():
            row = int((hosts[router] == 0).argmax())
            raise _wrong(row, "bad-transfers.no-hosts", name=graph.names[router[row]])
        drawn = np.minimum((u * hosts[router]).astype(np.int64), hosts[router] - 1)
        return np.asarray(every[begin[router] + np.where(host < 0, drawn, host)])


def _to_another_host(ends: _Ends, graph: Graph, first: Floats, last: Floats) -> _Ends:
    """Return the ends, with other hosts drawn where both are on one router and would be one.

    Raises ScenarioError for a transfer that has only one host to go from and to.
    """
    source_host, target_host = ends.source_host.copy(), ends.target_host.copy()
    for row in np.flatnonzero(ends.source == ends.target).tolist():
        router = int(ends.source[row])
        hosts, name = int(graph.hosts[router]), graph.names[router]
        if not (graph.kind == UP).any():
            raise _wrong(row, "bad-transfers.one-router", name=name)
        here, there = int(source_host[row]), int(target_host[row])
        if hosts < 2 or (here == there and here >= 0):
            raise _wrong(row, "bad-transfers.one-host", name=name, host=max(here, 0) + 1)
        if here < 0 and there < 0:
            here = int(first[row] * hosts)
        if here < 0:
            here = _but(there, hosts, first[row])
        if there < 0:
            there = _but(here, hosts, last[row])
        source_host[row], target_host[row] = here, there
    return ends._replace(source_host=source_host, target_host=target_host)


def _but(host: int, hosts: int, u: float) -> int:
    """Return one of so many hosts, drawn by ``u``, but not this one."""
    drawn = int(u * (hosts - 1))
    return drawn + (drawn >= host)


def _wrong(row: int, kind: str, **values: object) -> ScenarioError:
    what = Fact(kind, **values)
    return ScenarioError("bad-transfers.row", field="traffic", row=row + 1, what=what)


def route_transfers(layout: Layout, scenario: Scenario, workload: Workload, seed: int) -> Layout:
    """Return a network's layout with a route for each transfer of a replication.

    Raises ScenarioError: a row names a router, a host or a link that does not exist, or a route
    that leads elsewhere.
    """
    flows = layout.flows
    if flows is None or flows.transfers is None:
        return layout
    routes, parts = list(layout.routes), []
    delay = [link.delay_ps for link in (*layout.links, *flows.hosts)]
    back = _reverse(layout, flows.transfers.problem)
    taken = 0
    for index, group in enumerate(scenario.traffic):
        n = workload.flows_of(index)
        if not isinstance(group, Transfers):
            own = slice(taken, taken + n)
            parts.append((flows.route[own], flows.rtt_ps[own]))
            taken += n
            continue
        columns = flows.transfers.columns(group, index, seed, n)
        number, own_routes = _distinct(columns, back)
        trips = np.array([sum(delay[link] for way in pair for link in way) for pair in own_routes])
        parts.append((number.astype(np.int32) + len(routes), trips[number]))
        routes += own_routes
    route, rtt = (np.concatenate(column) for column in zip(*parts, strict=True))
    both = replace(flows, route=route.astype(np.int32), rtt_ps=np.maximum(rtt.astype(np.int64), 1))
    return replace(layout, routes=routes, flows=both)


def _reverse(layout: Layout, problem: Problem) -> list[int]:
    """Return the link in the other direction of each link of the simulator, -1 without one."""
    graph = problem.graph
    assert layout.flows is not None and layout.flows.transfers is not None, "of transfers"
    number = layout.flows.transfers.number
    opposite = [-1] * (len(layout.links) + len(layout.flows.hosts))
    between = np.flatnonzero(graph.kind == BETWEEN)
    ends = zip(graph.source[between].tolist(), graph.target[between].tolist(), strict=True)
    known: dict[tuple[int, int], list[int]] = {}
    for link, pair in zip(between.tolist(), ends, strict=True):
        known.setdefault(pair, []).append(int(number[link]))
    for (here, there), links in known.items():
        for link, other in zip(links, known.get((there, here), ()), strict=False):
            opposite[link] = other
    ups, downs = (np.flatnonzero(graph.kind == kind) for kind in (UP, DOWN))
    for up, down in zip(ups.tolist(), downs.tolist(), strict=True):
        for host in range(int(graph.count[up])):
            opposite[number[up] + host] = int(number[down]) + host
            opposite[number[down] + host] = int(number[up]) + host
    return opposite


def _distinct(columns: Ints, back: list[int]) -> tuple[Ints, list[Route]]:
    """Return which of the distinct routes each column is, and these."""
    key = np.zeros(columns.shape[1], dtype=np.int64)
    for row in columns:
        _, key = np.unique(key * (len(back) + 1) + row + 1, return_inverse=True)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    routes = []
    for place in first.tolist():
        forward = [link for link in columns[:, place].tolist() if link >= 0]
        backward = [back[link] for link in reversed(forward)]
        routes.append((forward, backward if min(backward) >= 0 else []))
    return number, routes
