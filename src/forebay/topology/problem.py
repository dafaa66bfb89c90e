"""A network and its connections as the arrays of the equations."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from forebay.catalogue import KINDS
from forebay.progress import Progress, enter
from forebay.scenario import Long, Scenario, ScenarioError, Traffic
from forebay.topology import routing
from forebay.topology.building import build, takes_demand
from forebay.topology.graph import DOWN, UP, Floats, Graph, Ints, sums
from forebay.topology.routing import NetworkCost

_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of routers and their share of the connections; shares sum to 1.

    ``drawn`` means that they are a sample of more pairs, by weight.
    """

    source: Ints
    target: Ints
    share: Floats
    drawn: bool = False


def draw_pairs(graph: Graph, most: int) -> Pairs:
    """Return at most ``most`` pairs of a network.

    A router's weight is its number of hosts, a pair's weight is the product of both (slide 8).
    Connections between hosts of one router are omitted: slide 19 has none of two hops.
    """
    if graph.demands is not None:
        source, target, weight = graph.demands
        return Pairs(source, target, weight / weight.sum())
    with_hosts = np.flatnonzero(graph.hosts > 0)
    if len(with_hosts) < 2:
        raise ScenarioError("topology.one-with-hosts", field="topology.nodes")
    if len(with_hosts) * (len(with_hosts) - 1) > most:
        return _drawn(graph, with_hosts, most)
    here, there = np.meshgrid(with_hosts, with_hosts, indexing="ij")
    apart = here != there
    source, target = here[apart], there[apart]
    weight = graph.hosts[source].astype(np.float64) * graph.hosts[target]
    return Pairs(source, target, weight / weight.sum())


def _drawn(graph: Graph, with_hosts: Ints, most: int) -> Pairs:
    """Draw pairs by weight; each end alone follows the hosts closely (systematic sampling)."""
    random = np.random.default_rng(_SEED)
    ends = np.cumsum(graph.hosts[with_hosts], dtype=np.float64)
    comb = (np.arange(most) + 0.5) / most * ends[-1]
    source = with_hosts[np.searchsorted(ends, comb)]
    target = source[random.permutation(most)]
    apart = source != target
    if not apart.any():
        raise ScenarioError("topology.no-pairs", field="topology.max_pairs", value=most)
    both = np.stack([source[apart], target[apart]])
    key, times = np.unique(both[0] * len(graph.names) + both[1], return_counts=True)
    return Pairs(key // len(graph.names), key % len(graph.names), times / times.sum(), drawn=True)


_MOST_BUFFER = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    """All connections of the network of one traffic class and one congestion control.

    Attributes
    ----------
    traffic : index into the scenario's traffic.
    control : Linux name; "" for traffic that does not respond to loss.
    flows : connections; for short flows and datagrams, the number in the class.
    offered_bps : fixed rate of unresponsive traffic; 0 for connections that respond to loss.
    packet_bytes : size of a full packet.
    max_window : packets; infinite if not set.
    least_rto_s : minimum retransmission timeout.
    sack : whether the sender has SACK.
    burst : packets that are sent at once: two if every second packet is acknowledged.
    """

    traffic: int
    control: str
    flows: float
    offered_bps: float
    packet_bytes: int
    max_window: float = math.inf
    least_rto_s: float = 0.2
    sack: bool = True
    burst: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Parameters of the equations. Rates in bit/s, times in seconds.

    Attributes
    ----------
    paths : shape (hops, paths), links in order; beyond the last ``graph.links``, a dummy link of
        unlimited capacity.
    share : shape (paths,), share of the connections of every kind; sums to 1.
    hops, rtt_s : shape (paths,); two-way propagation delay, equal in both directions.
    source, target : shape (paths,), routers.
    flows : shape (links,), connections that respond to loss on each of an entry's links.
    connections : shape (links,), these and those of the offered load, as far as it says them.
    offered_bps : shape (links,), load of the traffic that does not respond, were nothing lost.
    mean_rtt_s : mean two-way propagation delay over all connections.
    link_rtt_s : shape (links,), the same over the connections on the link.
    buffer_packets, bdp_packets : shape (links,); the bdp is that of buffer rules, with mean_rtt_s.
    packet_bytes : packet size of buffers.
    """

    graph: Graph
    kinds: tuple[Kind, ...]
    paths: Ints
    share: Floats
    hops: Ints
    rtt_s: Floats
    source: Ints
    target: Ints
    flows: Floats
    connections: Floats
    offered_bps: Floats
    mean_rtt_s: float
    link_rtt_s: Floats
    buffer_packets: Floats
    bdp_packets: Floats
    packet_bytes: int
    pairs: int
    drawn: bool

    @property
    def long_flows(self) -> float:
        """Number of long-lived connections that respond to loss."""
        return sum(kind.flows for kind in self.kinds if kind.control)


def make_problem(
    scenario: Scenario,
    check: Callable[[NetworkCost], None] | None = None,
    progress: Progress | None = None,
    check_graph: Callable[[Graph], None] | None = None,
) -> Problem:
    """Route a scenario's connections over its topology.

    Parameters
    ----------
    check : called before routes are searched for, with what they will take; may raise.
    progress : of the routes.
    check_graph : called before anything is routed; may raise.

    Raises ScenarioError: an invalid network; see `building.build`.
    """
    graph = build(scenario)
    if check_graph is not None:
        check_graph(graph)
    topology = scenario.topology
    assert topology is not None, "build has seen to it"
    pairs = draw_pairs(graph, topology.max_pairs)
    way = (graph, pairs.source, pairs.target, topology.metric, topology.max_paths)
    if check is not None:
        check(_with_rates(graph, pairs, routing.estimate_cost(*way)))
    enter(progress, "routes")
    paths = routing.route(*way, progress)
    share = pairs.share[paths.pair] * paths.share
    links, share, pair = _with_access(graph, pairs, paths, share)
    hops = (links >= 0).sum(axis=0)
    links = np.where(links < 0, graph.links, links)
    rtt = 2.0 * np.append(graph.delay_s, 0.0)[links].sum(axis=0)
    kinds = tuple(_kinds(scenario, graph))
    on_link = _on_links(graph, links, share)
    mean_rtt = float(share @ rtt)
    lasting = sum(kind.flows for kind in kinds if kind.control)
    bdp = graph.rate_bps * mean_rtt / (8 * scenario.packet)
    flows = on_link * lasting
    connections = flows + _offered_connections(scenario, graph, links, share, rtt)
    return Problem(
        graph=graph,
        kinds=kinds,
        paths=links.astype(np.int32),
        share=share,
        hops=hops,
        rtt_s=rtt,
        source=pairs.source[pair],
        target=pairs.target[pair],
        flows=flows,
        connections=connections,
        offered_bps=on_link * sum(kind.offered_bps for kind in kinds),
        mean_rtt_s=mean_rtt,
        link_rtt_s=_on_links(graph, links, share * rtt) / np.where(on_link > 0, on_link, 1.0),
        buffer_packets=_buffers(scenario, graph, bdp, connections),
        bdp_packets=bdp,
        packet_bytes=int(scenario.packet),
        pairs=len(pairs.source),
        drawn=pairs.drawn,
    )


def _with_rates(graph: Graph, pairs: Pairs, routes: NetworkCost) -> NetworkCost:
    """Multiply paths by the rates of hosts' links at both ends, as `_with_access` does."""
    if not np.any(graph.kind == UP):
        return routes
    rates = _access_of(graph, UP).counts
    times = float(np.mean(np.maximum(rates[pairs.source] * rates[pairs.target], 1)))
    return replace(routes, paths=routes.paths * times, cells=routes.cells * times)


def _with_access(
    graph: Graph, pairs: Pairs, paths: routing.Paths, share: Floats
) -> tuple[Ints, Floats, Ints]:
    """Add the hosts' own links at both ends: each rate at one end with each at the other."""
    if not np.any(graph.kind == UP):
        return paths.links, share, paths.pair
    first, last = pairs.source[paths.pair], pairs.target[paths.pair]
    ups, downs = _access_of(graph, UP), _access_of(graph, DOWN)
    at = np.arange(len(share))
    for side, of in ((first, ups), (last, downs)):
        bare = of.counts[side] == 0
        if bare.any():
            name = graph.names[side[np.flatnonzero(bare)[0]]]
            raise ScenarioError("topology.without-hosts", field="topology.nodes", name=name)
    for side, of in ((first, ups), (last, downs)):
        times = of.counts[side[at]]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        at = np.repeat(at, times)
        link = of.order[of.begin[side[at]] + within]
        share = np.repeat(share, times) * graph.count[link] / of.hosts[side[at]]
        if of is ups:
            up = link
        else:
            up, down = np.repeat(up, times), link
    links = np.concatenate([up[None], paths.links[:, at], down[None]])
    return routing.packed(links), share, paths.pair[at]


@dataclass(frozen=True, slots=True)
class _Access:
    order: Ints
    begin: Ints
    counts: Ints
    hosts: Ints


def _access_of(graph: Graph, kind: int) -> _Access:
    links = np.flatnonzero(graph.kind == kind)
    order = links[np.argsort(graph.source[links], kind="stable")]
    counts = np.bincount(graph.source[links], minlength=len(graph.names))
    hosts = np.bincount(
        graph.source[links], weights=graph.count[links], minlength=len(graph.names)
    ).astype(np.int64)
    return _Access(order, np.cumsum(counts) - counts, counts, hosts)


def _on_links(graph: Graph, links: Ints, amount: Floats) -> Floats:
    """Return the paths' amount on each single link of an entry."""
    return np.asarray(sums(links, amount, graph.links + 1)[:-1] / graph.count)


def _buffers(scenario: Scenario, graph: Graph, bdp: Floats, flows: Floats) -> Floats:
    """Return packets by each link's own rule; n is the number of connections on that link."""
    packets, size_of = np.empty(graph.links), int(scenario.packet)
    for link, index in enumerate(graph.buffer.tolist()):
        packets[link] = graph.buffers[index].packets(
            rate_bps=graph.rate_bps[link], packet_bytes=size_of, bdp=bdp[link], flows=flows[link]
        )
    return _in_range(graph, packets, flows)


def _in_range(graph: Graph, packets: Floats, flows: Floats) -> Floats:
    """Return at least one packet for each link; refuse sizes out of range at used links."""
    rules = np.array([size.unit in ("bdp", "bdp/sqrt(n)") for size in graph.buffers])
    packets = np.where(rules[graph.buffer], np.maximum(packets, 1.0), packets)
    wrong = (flows > 0.0) & ~((packets >= 1.0) & (packets <= _MOST_BUFFER))
    if wrong.any():
        link = int(np.flatnonzero(wrong)[0])
        raise ScenarioError(
            "topology.size", field="topology.classes", value=graph.buffers[graph.buffer[link]],
            packets=packets[link], link=graph.link_names[link], most=_MOST_BUFFER,
        )  # fmt: skip
    return np.maximum(packets, 1.0)


def _offered_connections(
    scenario: Scenario, graph: Graph, links: Ints, share: Floats, rtt: Floats
) -> Floats:
    """Return the connections of the offered load on each link; 0 if nothing says how many."""
    topology = scenario.topology
    assert topology is not None, "make_problem has seen to it"
    if topology.connection_rate is not None:
        of_one = np.full(rtt.shape, 1.0 / float(topology.connection_rate))
    elif topology.connection_window is not None:
        of_one = rtt / (8.0 * int(scenario.packet) * topology.connection_window)
    else:
        return np.zeros(graph.links)
    load = sum(_offered(scenario, graph, each) for each in scenario.traffic if takes_demand(each))
    return _on_links(graph, links, share * of_one * load)


def _kinds(scenario: Scenario, graph: Graph) -> list[Kind]:
    kinds = []
    for index, group in enumerate(scenario.traffic):
        packet = int(group.packet)
        if KINDS[group.kind].has_no_steady_state:
            continue  # each has a route of its own, which only the simulator gives it
        if isinstance(group, Long):
            window = math.inf if group.max_window is None else float(group.max_window)
            rto = 0.2 if group.min_rto is None else float(group.min_rto)
            linux = group.sender == "linux"
            sack = linux if group.sack is None else group.sack
            delayed = linux if group.delayed_ack is None else group.delayed_ack
            burst = 1.0 + delayed
            kinds += [
                Kind(index, name, group.flows * share, 0.0, packet, window, rto, sack, burst)
                for name, share in group.shares.items()
                if share > 0.0
            ]
        else:
            load = _offered(scenario, graph, group)
            kinds.append(Kind(index, "", float(group.flows), load, packet))
    return kinds


def _offered(scenario: Scenario, graph: Graph, group: Traffic) -> float:
    """Return the bit/s of all unresponsive connections of a class; a load is of the demand."""
    offered = group.offered(graph.offered_bps or scenario.link.rate)
    if offered is not None and KINDS[group.kind].in_fixed_point:
        return offered
    *first, last = (kind.name for kind in KINDS.values() if kind.in_fixed_point)
    raise ScenarioError(
        "topology.traffic", field="topology", value=group.kind, known=", ".join(first), last=last
    )


MOST_ROUNDS = 30
_NO_ROOM = 1e-9  # of a capacity


def fair_rates(problem: Problem, rounds: int = MOST_ROUNDS) -> Floats:
    """Return the bit/s of all connections of each path that respond to loss, shape (paths,).

    Progressive filling: a path whose slowest link is the slowest of all that cross it keeps that
    link's equal share. What is not decided after ``rounds`` gets its share of that round, so that
    links are never overfilled. Traffic that does not respond comes first.
    """
    links, flows = problem.graph.links, problem.share * problem.long_flows
    offered = sum(kind.offered_bps for kind in problem.kinds)
    room = np.append(problem.graph.rate_bps, np.inf)
    room = np.maximum(room - _brought(problem, problem.share * offered), 0.0)
    rate, fair, active = np.zeros(len(flows)), np.zeros(len(flows)), flows > 0.0
    for _ in range(rounds):
        if not active.any():
            break
        crossing = _brought(problem, flows * active)
        share = np.full(links + 1, np.inf)
        np.divide(room, crossing, out=share, where=crossing > 0.0)
        fair = share[problem.paths].min(axis=0)
        slowest = np.full(links + 1, np.inf)
        for row in problem.paths:
            np.minimum.at(slowest, row[active], fair[active])
        settled = slowest >= share * (1.0 - _NO_ROOM)
        at_it = (share[problem.paths] <= fair * (1.0 + _NO_ROOM)) & settled[problem.paths]
        done = active & at_it.any(axis=0)
        rate[done] = (flows * fair)[done]
        room = np.maximum(room - _brought(problem, np.where(done, rate, 0.0)), 0.0)
        active &= ~done
    rate[active] = (flows * fair)[active]
    return rate


def _brought(problem: Problem, amount: Floats) -> Floats:
    """Return what the paths bring to each of an entry's links; nothing beyond the last hop."""
    return np.append(_on_links(problem.graph, problem.paths, amount), 0.0)
