"""One link of a network, or all of a class, under a buffer that is looked for.

The whole network is simulated each time, all other buffers as the scenario says. What is read of
several links is the worst of each: a goal that is met there is met at every one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from forebay.engines.errors import CannotPlay
from forebay.network import choose_links
from forebay.network.graph import BETWEEN
from forebay.outcome import LINK
from forebay.outcome.worst import worst
from forebay.scenario import ScenarioError

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
        """Simulate with so many packets before links of these names."""


class SizingSimulator:
    """Simulates `scenario` with the buffer of some of its links set to that of ``queue.size``.

    ``links`` says which, and what to ask of them.

    Raises
    ------
    ScenarioError
        See `forebay.network.choose_links`; links of hosts, which are not reported one by one.
    CannotPlay
        There is no network.
    """

    name = "simulation"

    def __init__(
        self,
        engine: SimulatesNetworks,
        scenario: Scenario,
        *,
        link: str | None,
        link_class: str | None,
    ) -> None:
        if scenario.topology is None:
            raise CannotPlay(self.name, "a link by name where there is one", "link")
        self.scenario, self._engine = scenario, engine
        self.links = choose_links(scenario, link=link, link_class=link_class)
        if (self.links.problem.graph.kind[self.links.links] != BETWEEN).any():
            wrong = "the simulator reads no queue of hosts' own links"
            raise ScenarioError("link", wrong, "name a link between routers", field="link")

    @property
    def packets_per_second(self) -> float:
        """Packets that cross links in a simulated second, were each link between routers full."""
        problem = self.links.problem
        crossed = np.unique(problem.paths)
        graph = problem.graph
        crossed = crossed[crossed < graph.links]
        between = crossed[graph.kind[crossed] == BETWEEN]
        bits = 8.0 * problem.packet_bytes
        hops = float(problem.share @ problem.hops)
        own = 2.0 if len(between) < len(crossed) else 0.0
        return float(graph.rate_bps[between].sum()) / bits * hops / max(hops - own, 1.0)

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Simulate `scenario`'s buffer before the sized links; their worst is ``bottleneck``."""
        packets = max(1, scenario.buffer_packets)
        buffers = dict.fromkeys(self.links.names, packets)
        found = self._engine.run_with(self.scenario, buffers, seeds, jobs=jobs, progress=progress)
        sized = worst([found.links[name] for name in self.links.names])
        return found.model_copy(update={"links": {LINK: sized, **found.links}})
