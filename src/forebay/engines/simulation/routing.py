"""A network is routed within the memory limit, before anything of it is simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from forebay.engines.base import NetworkTraffic
from forebay.engines.footprint import NETWORK_LINK, ROUTE_CELL
from forebay.engines.replication import problem_of
from forebay.errors import entry
from forebay.topology.problem import MOST_ROUNDS, fair_rates

if TYPE_CHECKING:
    from forebay.engines.footprint import Limit
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.topology import Problem
    from forebay.topology.routing import NetworkCost


_CELLS = 20_000_000  # links of paths, in all rounds


def route(
    scenario: Scenario,
    limit: Limit,
    progress: Progress | None = None,
    afford: Callable[[int, float], None] | None = None,
) -> tuple[Problem, float]:
    """Route a scenario's network unless it is the one that was routed last.

    Returns
    -------
    Problem, float
        The network, and the bytes that its routes took; 0 if it was known, or has few.

    Raises
    ------
    TooMuchMemory
        Its links, or its routes, exceed the limit. Whatever ``afford`` raises, see
        `forebay.engines.base.RoutesNetworks`.
    """
    links, octets = 0, 0.0

    def check_links(many: int) -> None:
        nonlocal links
        links = many
        limit.check_octets(NETWORK_LINK * many, "a smaller network")

    def check_routes(cost: NetworkCost) -> None:
        nonlocal octets
        octets = ROUTE_CELL * cost.cells
        pairs = int(cost.pairs * limit.octets / max(octets, 1.0))
        limit.check_octets(octets, f"{entry('topology.max_pairs', pairs)}, fewer max_paths")
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
