"""A network's steady state as an engine.

The solution is deterministic. Metrics therefore have no interval and n = 0, like those of laws.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from forebay.engines.errors import CannotPlay
from forebay.engines.network.summary import classes, links, network
from forebay.outcome import Outcome, Provenance

if TYPE_CHECKING:
    from forebay.engines.network.sized import SizingSolver
    from forebay.engines.network.solver import Solution
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_NO_MARKS = ("drop-tail", "bfifo")


class NetworkEngine:
    """Engine for scenarios that have a topology."""

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "network"

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Solve `scenario`; `seeds` are recorded, but do not change the result."""
        started = time.perf_counter()
        solution, loading = self.solution(scenario, progress)
        if progress is not None:
            progress(1.0)
        wall_s = time.perf_counter() - started
        return self.outcome(scenario, list(seeds), solution, loading, wall_s)

    def outcome(
        self,
        scenario: Scenario,
        seeds: list[int],
        solution: Solution,
        loading: float,
        wall_s: float = 0.0,
    ) -> Outcome:
        """Return a steady state as an Outcome."""
        return Outcome(
            scenario=scenario.to_dict(),
            engine=self.name,
            links=links(solution),
            classes=classes(scenario, solution),
            broken_assumptions=broken(scenario, solution),
            provenance=_provenance(scenario, seeds, solution, loading, wall_s),
            network=network(solution),
        )

    def sized(
        self, scenario: Scenario, *, link: str | None, link_class: str | None
    ) -> SizingSolver:
        """Return an engine that varies the buffer of one link of a network, or of one link class.

        Raises
        ------
        ScenarioError, CannotPlay
            See `SizingSolver`.
        """
        from forebay.engines.network.sized import SizingSolver

        return SizingSolver(scenario, link=link, link_class=link_class)

    def solution(
        self, scenario: Scenario, progress: Progress | None = None
    ) -> tuple[Solution, float]:
        """Return the steady state, and the CPU seconds of loading and routing."""
        if scenario.topology is None:
            raise CannotPlay(self.name, "a single link", "topology")
        from forebay.engines.network.balance import make_balance
        from forebay.engines.network.solver import solve
        from forebay.network import make_problem

        begun = time.process_time()
        check_marks(scenario)
        problem = make_problem(scenario)
        balance = make_balance(problem, scenario.topology)
        loading = time.process_time() - begun
        return solve(balance, progress=progress), loading


def check_marks(scenario: Scenario) -> None:
    """Refuse controls that respond to marks if the queue may mark. Raises ScenarioError."""
    from forebay.engines.network.response import MARKED
    from forebay.network.errors import refuse

    names = {name for group in scenario.traffic for name in getattr(group, "shares", ())}
    for name in MARKED:
        if name in names and scenario.queue.discipline not in _NO_MARKS:
            wrong = f"the network engine has no response function of {name} to marks"
            raise refuse(wrong, 'write queue.discipline = "drop-tail", or another control')


def broken(scenario: Scenario, solution: Solution) -> list[str]:
    """Return the features of this scenario that the model does not represent."""
    found = []
    kinds = {group.kind for group in scenario.traffic}
    if scenario.queue.discipline not in _NO_MARKS:
        found.append(
            f"a queue that drops early ({scenario.queue.discipline}): treated as drop-tail"
        )
    if "short" in kinds:
        found.append("short flows: treated as a load that does not respond to loss")
    few = solution.balance.problem.flows[solution.balance.used]
    full = solution.s > 0.0
    if full.any() and few[full].min() < 1.0:
        found.append(
            f"fewer than one connection on a full link ({few[full].min():.2g} on average): "
            "the model is for many connections"
        )
    return found


def _provenance(
    scenario: Scenario, seeds: list[int], solution: Solution, loading: float, wall_s: float
) -> Provenance:
    problem = solution.balance.problem
    facts: dict[str, Any] = {
        "version": _version(),
        "seeds": seeds,
        "scenario_sha256": scenario.sha256(),
        "wall_s": wall_s,
        "cpu_s": solution.cpu_s,
        "loading_cpu_s": loading,
        "model": solution.balance.topology.model,
        "steps": solution.steps,
        "conservation": solution.conservation,
        "paths": len(problem.share),
        "pairs": problem.pairs,
        "pairs_drawn": problem.drawn,
    }
    return Provenance.model_validate(facts)


@cache
def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return version("forebay")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
