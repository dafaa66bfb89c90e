"""Sizing of one link of a network, or of all links of a class.

Only the buffers of these links change, so the network is built and routed once. Each metric of
several links is that of the worst one: a goal that it meets is met at every link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.engines.base import LinksEngine
from forebay.engines.fixed_point.errors import NoNetwork
from forebay.engines.fixed_point.to_outcome import NAME, to_outcome
from forebay.outcome.worst_link import worst_link
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.engines.fixed_point.offered_bursts import OfferedBursts
    from forebay.engines.fixed_point.solver import Solution
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

        solution = self._solve(max(1, scenario.buffer_packets), progress)
        places = np.flatnonzero(np.isin(solution.balance.used, self.links.links))
        found = to_outcome(
            self.scenario, list(seeds), solution, 0.0, sized=places, bursts=self._bursts
        )
        sized = {name: found.links[name] for name in self.links.names if name in found.links}
        filled = [each for name, each in sized.items() if name in self._filled]
        combined = worst_link(list(sized.values()), filled)
        return found.model_copy(update={"links": {BOTTLENECK: combined, **found.links}})

    def _solve(self, packets: int, progress: Progress | None = None) -> Solution:
        """Solve with this buffer at every sized link."""
        from forebay.engines.fixed_point.balance import make_balance
        from forebay.engines.fixed_point.solver import solve

        problem = self.links.problem
        buffers = problem.buffer_packets.copy()
        buffers[self.links.links] = packets
        balance = make_balance(replace(problem, buffer_packets=buffers), self.topology)
        return solve(balance, progress=progress)

    @cached_property
    def _bursts(self) -> OfferedBursts:
        from forebay.engines.fixed_point.offered_bursts import OfferedBursts

        return OfferedBursts(self.scenario, self.links.problem)

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The links to which a goal on utilization applies: those that reach it with some buffer.

        Raises
        ------
        ScenarioError
            None does, with the largest buffer of the search.
        """
        goal = self.scenario.goals.utilization
        if goal is None:
            return frozenset(self.links.names)
        from forebay.engines.fixed_point.summary import links

        target = float(goal)
        found = links(self._solve(self.links.limit), self._bursts)
        used = {name: found[name].utilization for name in self.links.names if name in found}
        shares = {name: 0.0 if each is None else each.value for name, each in used.items()}
        filled = frozenset(name for name, share in shares.items() if share >= target)
        if not filled:
            most = max(shares, key=lambda name: shares[name])
            wrong = f"{most} is the fullest and is used to {100 * shares[most]:.3g} % by any buffer"
            raise ScenarioError(
                "goals", wrong, "write a goal below that", field="goals.utilization"
            )
        return filled
