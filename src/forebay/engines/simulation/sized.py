"""One link of a network, or all of a class, under a buffer that is looked for.

The whole network is simulated each time, all other buffers as the scenario says. What is read of
several links is the worst of each: a goal that is met there is met at every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from forebay.engines.errors import CannotPlay
from forebay.network import choose_links
from forebay.network.fair_shares import fair_rates
from forebay.network.graph import BETWEEN
from forebay.outcome import LINK
from forebay.outcome.worst import worst
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.engines.simulation import SimulationEngine
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario


@dataclass(frozen=True, slots=True)
class NetworkTraffic:
    """What a simulation of a network has to move.

    Attributes
    ----------
    packets_per_second : from sender to receiver, in a simulated second.
    hops : mean number of links that one of them crosses.
    paths : of equal connections.
    """

    packets_per_second: float
    hops: float
    paths: int


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
        engine: SimulationEngine,
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

    @cached_property
    def traffic(self) -> NetworkTraffic:
        """How many packets cross the network, and how many links each, by fair shares."""
        problem = self.links.problem
        offered = sum(kind.offered_bps for kind in problem.kinds)
        rate_bps = fair_rates(problem) + problem.share * offered
        total_bps = float(rate_bps.sum())
        hops = float(rate_bps @ problem.hops) / total_bps if total_bps else 0.0
        packets = total_bps / (8.0 * problem.packet_bytes)
        return NetworkTraffic(packets, hops, len(problem.share))

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
