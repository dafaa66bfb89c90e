"""Layout of a network's connections: classes by hops, a route and an RTT for each connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.catalogue import KINDS
from forebay.engines.replication.layout import FlowRoutes, Layout, LinkSpec, linux_name
from forebay.engines.replication.transfer_routes import TransferRoutes
from forebay.errors import option
from forebay.scenario import Distribution, Duration, Long, ScenarioError, Transfers
from forebay.topology import Problem, make_problem
from forebay.topology.graph import BETWEEN, UP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.progress import Progress
    from forebay.scenario import Link, Scenario
    from forebay.topology.cost import NetworkCost
    from forebay.topology.graph import Graph

    Ints = NDArray[np.int64]

_PS_PER_S = 1e12
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
    sha = _of_routes(scenario).sha256()
    if not _LATEST or _LATEST[0][0] != sha:

        def check_graph(graph: Graph) -> None:
            check_links(graph)
            if check_size is not None:
                check_size(int((graph.kind == BETWEEN).sum()))

        _LATEST[:] = [(sha, make_problem(scenario, check, progress, check_graph))]
    return _LATEST[0][1]


def _of_routes(scenario: Scenario) -> Scenario:
    """Return the scenario with the default window, which routes do not depend on."""
    from forebay.scenario import Measure

    return scenario.model_copy(update={"measure": Measure()})


def expand(scenario: Scenario, buffers: Mapping[str, int] | None = None) -> tuple[Scenario, Layout]:
    """Return the scenario with a class for each traffic class and number of hops, and its layout.

    ``buffers`` are packets by link name; they replace the scenario's sizes of these links.
    Connections are distributed over paths by largest remainder, and over the hosts of a router in
    turn. ACKs meet no queue.

    Raises
    ------
    ScenarioError
        Traffic without a fixed number of connections; an invalid topology.
    """
    problem = problem_of(scenario)
    classes, paths = [], []
    for index, group in enumerate(scenario.traffic):
        if not KINDS[group.kind].in_simulated_network:
            known = [each.name for each in KINDS.values() if each.in_simulated_network]
            wrong, hint = f"{group.kind} over a network", f"write kind {' or '.join(known)}"
            raise ScenarioError("topology", wrong, hint, field=f"traffic.{index}.kind")
        if problem.graph.offered_bps is not None and getattr(group, "load", None) is not None:
            wrong = "a share of the network's offered load is not simulated"
            hint = f"write rate, or {option('engine', 'network')}"
            raise ScenarioError("topology", wrong, hint, field=f"traffic.{index}.load")
        if isinstance(group, Transfers):
            classes.append(_of_transfers(problem, group, scenario.link))
            continue
        each = _apportioned(problem.share, int(group.flows))
        for hops in np.unique(problem.hops[each > 0]):
            mine = np.flatnonzero((problem.hops == hops) & (each > 0))
            paths.append(np.repeat(mine, each[mine]))
            classes.append(_class(scenario, problem, index, int(hops), len(paths[-1])))
    expanded = scenario.model_copy(update={"traffic": tuple(classes)})
    none = [np.zeros(0, dtype=np.int64)]
    layout = _layout(scenario, problem, np.concatenate([*none, *paths]))
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


def check_links(graph: Graph) -> None:
    """Refuse more links between routers than the simulator numbers, before anything is routed."""
    _check_number(int((graph.kind == BETWEEN).sum()))


def _check_number(links: int) -> None:
    if links > MOST_LINKS:
        wrong = f"the network has {links} links, and the simulator numbers at most {MOST_LINKS}"
        hint = f"write a smaller network, or {option('engine', 'network')}"
        raise ScenarioError("out-of-range", wrong, hint, field="topology")


def _class(scenario: Scenario, problem: Problem, index: int, hops: int, flows: int) -> Any:
    group = scenario.traffic[index]
    update: dict[str, Any] = {
        "name": f"{scenario.class_names[index]}, {hops} hops",
        "flows": type(group.flows)(flows),
    }
    if isinstance(group, Long):
        update["rtt"] = Distribution.constant(Duration(problem.mean_rtt_s))
    return group.model_copy(update=update)


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
    made = []
    for link, place in zip(entry.tolist(), (used - number[entry] + 1).tolist(), strict=True):
        spec = specs[link]
        several = graph.count[link] > 1
        made.append(replace(spec, name=f"{spec.name}#{place}") if several else spec)
    return made


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
        discipline=linux_name(queue.discipline),
        transmit_ring=queue.transmit_ring,
        delay_ps=round(float(graph.delay_s[link]) * _PS_PER_S),
        alpha=None,
        parameters=queue.parameters,
    )
