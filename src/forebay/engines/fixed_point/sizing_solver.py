"""Sizing of one link of a network, or of all links of a class.

Only the buffers of these links change, so the network is built and routed once. Each metric of
several links is that of the worst one: a goal that it meets is met at every link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.engines.base import LinksEngine
from forebay.engines.fixed_point.errors import NoNetwork
from forebay.engines.fixed_point.to_outcome import NAME, to_outcome
from forebay.outcome.worst_link import worst_link

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.progress import Progress
    from forebay.scenario import Scenario


class SizingSolver(LinksEngine):
    """Engine that solves a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals.

    Raises
    ------
    ScenarioError
        See `forebay.topology.choose_links`.
    Unsupported
        The scenario has no topology.
    """

    def __init__(self, scenario: Scenario, *, link: str | None, link_class: str | None) -> None:
        if scenario.topology is None:
            raise NoNetwork
        from forebay.topology import choose_links

        self.scenario, self.topology = scenario, scenario.topology
        self.links = choose_links(scenario, link=link, link_class=link_class)

    @property
    def name(self) -> str:
        """Name of the network engine."""
        return NAME

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Solve with `scenario`'s buffer at the sized links; link ``bottleneck`` is their worst."""
        import numpy as np

        from forebay.engines.fixed_point.balance import make_balance
        from forebay.engines.fixed_point.solver import solve

        problem = self.links.problem
        buffers = problem.buffer_packets.copy()
        buffers[self.links.links] = max(1, scenario.buffer_packets)
        balance = make_balance(replace(problem, buffer_packets=buffers), self.topology)
        solution = solve(balance, progress=progress)
        places = np.flatnonzero(np.isin(balance.used, self.links.links))
        found = to_outcome(self.scenario, list(seeds), solution, 0.0, sized=places)
        sized = [found.links[name] for name in self.links.names if name in found.links]
        return found.model_copy(update={"links": {BOTTLENECK: worst_link(sized), **found.links}})
