"""Sizing of one link of a network, or of all links of a class.

The whole network is simulated each time, with the scenario's sizes of all other buffers. Each
metric of several links is that of the worst one: a goal that it meets is met at every link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from forebay.catalogue.link_names import BOTTLENECK
from forebay.engines.base import LinksEngine, NetworkTraffic
from forebay.engines.errors import Unsupported
from forebay.engines.replication import problem_of
from forebay.engines.simulation.routing import traffic_of
from forebay.outcome.worst_link import worst_link
from forebay.scenario import ScenarioError
from forebay.topology import choose_links
from forebay.topology.graph import BETWEEN

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario


class SimulatesNetworks(Protocol):
    """Simulates a network under given buffers of some links: `SimulationEngine`."""

    def run_with(
        self,
        scenario: Scenario,
        buffers: Mapping[str, int],
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Simulate with these buffers, in packets by link name."""


class SizingSimulator(LinksEngine):
    """Engine that simulates a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals.

    Raises
    ------
    ScenarioError
        See `forebay.topology.choose_links`; also for links of hosts, which are not reported singly.
    Unsupported
        The scenario has no topology.
    """

    def __init__(
        self,
        engine: SimulatesNetworks,
        scenario: Scenario,
        *,
        link: str | None,
        link_class: str | None,
    ) -> None:
        if scenario.topology is None:
            raise Unsupported("simulation", "a link by name in a scenario of one link", "link")
        self.scenario, self._engine = scenario, engine
        self.links = choose_links(scenario, link=link, link_class=link_class, route=problem_of)
        if (self.links.problem.graph.kind[self.links.links] != BETWEEN).any():
            wrong = "the simulator does not measure queues of hosts' own links"
            raise ScenarioError("link", wrong, "name a link between routers", field="link")

    @property
    def name(self) -> str:
        """Name of the simulation engine."""
        return "simulation"

    @cached_property
    def traffic(self) -> NetworkTraffic:
        """How many packets cross the network, and how many links each, by fair shares."""
        return traffic_of(self.links.problem)

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Simulate with `scenario`'s buffer at the sized links; ``bottleneck`` is their worst."""
        packets = max(1, scenario.buffer_packets)
        buffers = dict.fromkeys(self.links.names, packets)
        found = self._engine.run_with(self.scenario, buffers, seeds, jobs=jobs, progress=progress)
        sized = worst_link([found.links[name] for name in self.links.names])
        return found.model_copy(update={"links": {BOTTLENECK: sized, **found.links}})
