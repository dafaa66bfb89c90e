"""A network's steady state as an engine, which also sizes one link or all links of a class.

The solution is deterministic: metrics have no interval and n = 0, like those of laws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from forebay.catalogue import KINDS
from forebay.catalogue.metrics import BOTTLENECK
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Engine, LinksEngine
from forebay.engines.errors import Unsupported, refuse_features
from forebay.engines.fixed_point.balance import MARKED, make_balance
from forebay.engines.fixed_point.solver import Solution, solve, solve_with, topology_of
from forebay.engines.fixed_point.summary import NAME, NO_MARKS, OfferedBursts, links, to_outcome
from forebay.engines.footprint import Limit, resident
from forebay.errors import entry
from forebay.outcome import Outcome
from forebay.progress import Progress, enter, of_stages
from forebay.scenario import Scenario, ScenarioError
from forebay.topology import choose_links, make_problem
from forebay.topology.graph import refuse
from forebay.topology.routing import NetworkCost
from forebay.topology.sized_links import worst_link


class NetworkEngine(Engine):
    """Engine for scenarios that have a topology."""

    name = NAME

    def __init__(self) -> None:
        self._octets: int | None = None

    def limit_memory(self, octets: int) -> None:
        """Set the memory limit of a solution, in bytes."""
        self._octets = octets

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Solve `scenario`; `seeds` are recorded, but do not change the result."""
        started = time.perf_counter()
        solution, loading = self.solution(scenario, effort.progress)
        effort.tell(1.0)
        wall_s = time.perf_counter() - started
        return to_outcome(scenario, list(seeds), solution, loading, wall_s)

    def size_links(
        self, scenario: Scenario, *, link: str | None, link_class: str | None
    ) -> SizingSolver:
        """See `SizingSolver`."""
        return SizingSolver(scenario, link=link, link_class=link_class)

    def solution(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        expect: Callable[[float], None] | None = None,
    ) -> tuple[Solution, float]:
        """Return the steady state, and the CPU seconds of loading and routing.

        ``expect`` is called once with the predicted CPU seconds, before the routes of many pairs.
        Raises TooMuchMemory: the paths would take more than the limit.
        """
        topology = topology_of(scenario)

        def check(cost: NetworkCost) -> None:
            limit, held = Limit(self._octets), resident()
            pairs = cost.pairs_within(max(limit.octets - held, 0))
            smaller = f"{entry('topology.max_pairs', pairs)}, fewer max_paths"
            limit.check_octets(held + cost.octets, smaller)
            if expect is not None:
                expect(cost.seconds)

        begun = time.process_time()
        refuse_features(NAME, scenario, "stop")
        for index, group in enumerate(scenario.traffic):
            if KINDS[group.kind].has_no_steady_state:  # but a simulated network has it
                raise Unsupported(NAME, group.kind, f"traffic.{index}.kind")
        check_marks(scenario)
        progress = of_stages(progress)
        enter(progress, "reading")
        problem = make_problem(scenario, check, progress)
        enter(progress, "equations")
        balance = make_balance(problem, topology)
        loading = time.process_time() - begun
        return solve(balance, progress=progress), loading


def check_marks(scenario: Scenario) -> None:
    """Refuse controls that respond to marks if the queue may mark. Raises ScenarioError."""
    names = {name for group in scenario.traffic for name in getattr(group, "shares", ())}
    for name in MARKED:
        if name in names and scenario.queue.discipline not in NO_MARKS:
            wrong = f"the network engine has no response function of {name} to marks"
            raise refuse(wrong, 'write queue.discipline = "drop-tail", or another control')


class SizingSolver(LinksEngine):
    """Engine that solves a network with the buffer of some links set to ``queue.size``.

    ``links`` has these links and their goals. Raises ScenarioError (see
    `forebay.topology.choose_links`) and NoNetwork.
    """

    name = NAME

    def __init__(self, scenario: Scenario, *, link: str | None, link_class: str | None) -> None:
        self.scenario, self.topology = scenario, topology_of(scenario)
        self.links = choose_links(scenario, link=link, link_class=link_class)

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Solve with `scenario`'s buffer at the sized links; link ``bottleneck`` is their worst."""
        packets, progress = max(1, scenario.buffer_packets), of_stages(effort.progress)
        problem, links = self.links.problem, self.links.links
        solution = solve_with(problem, self.topology, links, packets, progress)
        places = np.flatnonzero(np.isin(solution.balance.used, self.links.links))
        found = to_outcome(
            self.scenario, list(seeds), solution, 0.0, sized=places, bursts=self._bursts
        )
        sized = {name: found.links[name] for name in self.links.names if name in found.links}
        filled = [each for name, each in sized.items() if name in self._filled]
        combined = worst_link(list(sized.values()), filled)
        return found.model_copy(update={"links": {BOTTLENECK: combined, **found.links}})

    @cached_property
    def _bursts(self) -> OfferedBursts:
        return OfferedBursts(self.scenario, self.links.problem)

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The links to which a goal on utilization applies: those that some buffer fills."""
        goal = self.scenario.goals.utilization
        if goal is None:
            return frozenset(self.links.names)
        target = float(goal)
        sized = self.links
        full = solve_with(sized.problem, self.topology, sized.links, sized.limit)
        found = links(full, self._bursts)
        used = {name: found[name].utilization for name in self.links.names if name in found}
        shares = {name: 0.0 if each is None else each.value for name, each in used.items()}
        filled = frozenset(name for name, share in shares.items() if share >= target)
        if not filled:
            most = max(shares, key=lambda name: shares[name])
            wrong = f"{most} is the fullest and is used to {100 * shares[most]:.3g} % by any buffer"
            hint = "write a goal below that"
            raise ScenarioError("goals", wrong, hint, field="goals.utilization")
        return filled
