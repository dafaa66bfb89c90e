"""Networks: routed within the memory limit before anything is simulated, sized, summarized.

To size one link, or all links of a class, the whole network is simulated each time, with the
scenario's sizes of all other buffers. Each metric of several links is that of the worst one: a goal
that it meets is met at every link.
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from forebay.catalogue import KINDS
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import LinksEngine, NetworkTraffic
from forebay.engines.errors import Unsupported
from forebay.engines.footprint import NETWORK_LINK, ROUTE_CELL, Limit
from forebay.engines.replication.layout import problem_of
from forebay.outcome import ClassOutcome, HopsOutcome, LinkOutcome, Metric, NetworkOutcome, Outcome
from forebay.progress import Progress
from forebay.scenario import Scenario, ScenarioError
from forebay.topology import Problem, choose_links
from forebay.topology.graph import BETWEEN
from forebay.topology.problem import MOST_ROUNDS, fair_rates
from forebay.topology.routing import NetworkCost
from forebay.topology.sized_links import worst_link
from forebay.words import Fact

_CELLS = 20_000_000  # links of paths, in all rounds


def route(
    scenario: Scenario,
    limit: Limit,
    progress: Progress | None = None,
    afford: Callable[[int, float], None] | None = None,
) -> tuple[Problem, float]:
    """Route a scenario's network unless it is the one that was routed last.

    Also returns the bytes that its routes took; 0 if it was known, or has few. ``afford`` is that
    of `forebay.engines.base.Capabilities`.

    Raises TooMuchMemory: its links, or its routes, exceed the limit.
    """
    links, octets = 0, 0.0

    def check_links(many: int) -> None:
        nonlocal links
        links = many
        limit.check_octets(NETWORK_LINK * many, "too-much-memory.links")

    def check_routes(cost: NetworkCost) -> None:
        nonlocal octets
        octets = ROUTE_CELL * cost.cells
        pairs = int(cost.pairs * limit.octets / max(octets, 1.0))
        limit.check_octets(octets, "too-much-memory.routes", pairs=pairs)
        if afford is not None:
            afford(links, cost.routes_s)

    problem = problem_of(scenario, _before_packets(progress), check_routes, check_links)
    limit.look()
    return problem, octets


def traffic_of(problem: Problem) -> NetworkTraffic:
    """Return how many packets cross a network, and how many links each, by fair shares."""
    offered = sum(kind.offered_bps for kind in problem.kinds)
    # So many rounds of filling take about a second; fewer give somewhat fewer packets.
    rounds = max(1, min(MOST_ROUNDS, _CELLS // max(problem.paths.size, 1)))
    rate_bps = fair_rates(problem, rounds) + problem.share * offered
    total_bps = float(rate_bps.sum())
    hops = float(rate_bps @ problem.hops) / total_bps if total_bps else 0.0
    packets = total_bps / (8.0 * problem.packet_bytes)
    return NetworkTraffic(packets, hops, len(problem.share), problem.graph.links)


def _before_packets(progress: Progress | None) -> Progress | None:
    """Return a callback for the routes; one that shows no stages sees that nothing is done yet."""
    if progress is None or hasattr(progress, "stage"):
        return progress
    return lambda _: progress(0.0)


class SizingSimulator(LinksEngine):
    """Engine that simulates a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals, ``simulate`` is `SimulationEngine.run_with`. Raises
    ScenarioError (see `forebay.topology.choose_links`; also for links of hosts, which are not
    reported singly) and Unsupported, without a topology.
    """

    name = "simulation"

    def __init__(
        self,
        simulate: Callable[..., Outcome],
        scenario: Scenario,
        *,
        link: str | None,
        link_class: str | None,
    ) -> None:
        if scenario.topology is None:
            raise Unsupported("simulation", Fact("unsupported.link-by-name"), "link")
        self.scenario, self._simulate = scenario, simulate
        self.links = choose_links(scenario, link=link, link_class=link_class, route=problem_of)
        if (self.links.problem.graph.kind[self.links.links] != BETWEEN).any():
            raise ScenarioError("link.of-a-host", field="link")

    @cached_property
    def traffic(self) -> NetworkTraffic:
        """How many packets cross the network, and how many links each, by fair shares."""
        return traffic_of(self.links.problem)

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Simulate with `scenario`'s buffer at the sized links; ``bottleneck`` is their worst."""
        packets = max(1, scenario.buffer_packets)
        buffers = dict.fromkeys(self.links.names, packets)
        outcome = self._simulate(self.scenario, buffers, seeds, effort)
        sized = worst_link([outcome.links[name] for name in self.links.names])
        return outcome.model_copy(update={"links": {BOTTLENECK: sized, **outcome.links}})


_HOPS = re.compile(r", (\d+) hops$")


def summarize_network(
    scenario: Scenario, links: dict[str, LinkOutcome], classes: list[ClassOutcome]
) -> tuple[dict[str, LinkOutcome], NetworkOutcome]:
    """Return the links with their class and connections, and the network's totals."""
    problem = problem_of(scenario)
    graph = problem.graph
    numbers = {name: place for place, name in enumerate(graph.link_names)}
    named = {}
    for name, link in links.items():
        number = numbers[name]
        facts = {
            "link_class": graph.classes[graph.link_class[number]],
            "flows": float(problem.flows[number]),
            "bdp_packets": float(problem.bdp_packets[number]),
        }
        named[name] = link.model_copy(update=facts)
    long = [one for one in classes if KINDS[one.kind].lasts]
    by_hops = [_of_hops(hops, long) for hops in sorted({_hops(kind) for kind in long})]
    return named, NetworkOutcome(
        connections=float(sum(kind.flows for kind in long)),
        mean_propagation_s=problem.mean_rtt_s,
        mean_rtt_s=_weighted([(hop.connections, hop.rtt_s) for hop in by_hops]),
        mean_throughput_bps=_weighted([(e.connections, e.throughput_bps) for e in by_hops]),
        residual=None,
        by_hops=by_hops,
    )


def _of_hops(hops: int, classes: list[ClassOutcome]) -> HopsOutcome:
    mine = [kind for kind in classes if _hops(kind) == hops]
    return HopsOutcome(
        hops=hops,
        connections=float(sum(kind.flows for kind in mine)),
        throughput_bps=_weighted([(e.flows, _value(e.throughput_bps, over=e.flows)) for e in mine]),
        rtt_s=_weighted([(e.flows, _value(e.rtt_s.mean if e.rtt_s else None)) for e in mine]),
        loss_rate=_weighted([(e.flows, _value(e.loss_rate)) for e in mine]),
    )


def _value(metric: Metric | None, *, over: float = 1.0) -> float | None:
    return None if metric is None else metric.value / over


def _hops(kind: ClassOutcome) -> int:
    match = _HOPS.search(kind.name)
    return int(match[1]) if match else 0


def _weighted(values: Sequence[tuple[float, float | None]]) -> float | None:
    """Return the mean over connections; None if one of the values is None."""
    known = [(weight, value) for weight, value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(weight * value for weight, value in known) / sum(weight for weight, _ in known)
