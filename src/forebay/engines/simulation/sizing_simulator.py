"""Sizing of one link of a network, or of all links of a class.

The whole network is simulated each time, with the scenario's sizes of all other buffers. Each
metric of several links is that of the worst one: a goal that it meets is met at every link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from forebay.catalogue import KINDS
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import LinksEngine, NetworkTraffic
from forebay.engines.errors import Unsupported
from forebay.engines.replication import problem_of
from forebay.engines.simulation.routing import traffic_of
from forebay.outcome import ClassOutcome, HopsOutcome, LinkOutcome, Metric, NetworkOutcome
from forebay.scenario import ScenarioError
from forebay.topology import choose_links
from forebay.topology.graph import BETWEEN
from forebay.topology.sized_links import worst_link

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.scenario import Scenario


class SizingSimulator(LinksEngine):
    """Engine that simulates a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals, ``simulate`` is `SimulationEngine.run_with`.

    Raises
    ------
    ScenarioError
        See `forebay.topology.choose_links`; also for links of hosts, which are not reported singly.
    Unsupported
        The scenario has no topology.
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
            raise Unsupported("simulation", "a link by name in a scenario of one link", "link")
        self.scenario, self._simulate = scenario, simulate
        self.links = choose_links(scenario, link=link, link_class=link_class, route=problem_of)
        if (self.links.problem.graph.kind[self.links.links] != BETWEEN).any():
            wrong = "the simulator does not measure queues of hosts' own links"
            raise ScenarioError("link", wrong, "name a link between routers", field="link")

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
    long = [each for each in classes if KINDS[each.kind].lasts]
    by_hops = [_of_hops(hops, long) for hops in sorted({_hops(each) for each in long})]
    return named, NetworkOutcome(
        connections=float(sum(each.flows for each in long)),
        mean_propagation_s=problem.mean_rtt_s,
        mean_rtt_s=_weighted([(each.connections, each.rtt_s) for each in by_hops]),
        mean_throughput_bps=_weighted([(e.connections, e.throughput_bps) for e in by_hops]),
        residual=None,
        by_hops=by_hops,
    )


def _of_hops(hops: int, classes: list[ClassOutcome]) -> HopsOutcome:
    mine = [each for each in classes if _hops(each) == hops]
    return HopsOutcome(
        hops=hops,
        connections=float(sum(each.flows for each in mine)),
        throughput_bps=_weighted([(e.flows, _a_flow(e)) for e in mine]),
        rtt_s=_weighted([(e.flows, _value(e.rtt_s.mean if e.rtt_s else None)) for e in mine]),
        loss_rate=_weighted([(e.flows, _value(e.loss_rate)) for e in mine]),
    )


def _a_flow(of: ClassOutcome) -> float | None:
    throughput = _value(of.throughput_bps)
    return None if throughput is None else throughput / of.flows


def _value(metric: Metric | None) -> float | None:
    return None if metric is None else metric.value


def _hops(each: ClassOutcome) -> int:
    match = _HOPS.search(each.name)
    return int(match[1]) if match else 0


def _weighted(values: Sequence[tuple[float, float | None]]) -> float | None:
    """Return the mean over connections; None if one of the values is None."""
    known = [(weight, value) for weight, value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(weight * value for weight, value in known) / sum(weight for weight, _ in known)
