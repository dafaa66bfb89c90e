"""A network's steady state as an engine.

Nothing is repeated: metrics carry no interval and a count of zero replications, as those of laws.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from forebay.engines.errors import CannotPlay
from forebay.engines.network.summary import classes, links, network
from forebay.errors import entry
from forebay.outcome import Outcome, Provenance
from forebay.progress import enter

if TYPE_CHECKING:
    from forebay.engines.network.sized import SizingSolver
    from forebay.engines.network.solver import Solution
    from forebay.network.foresight import Foreseen
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_NO_MARKS = ("drop-tail", "bfifo")


class NetworkEngine:
    """Answers a scenario that has a topology."""

    def __init__(self) -> None:
        self._octets: int | None = None

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "network"

    def limit_memory(self, octets: int) -> None:
        """Let a solution take so many bytes of memory instead of the default."""
        self._octets = octets

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Solve `scenario`; `seeds` are recorded, and change nothing."""
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
        """Return a steady state as an answer."""
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
        """Return the engine that answers for one link of a network, or a class, under any buffer.

        Raises
        ------
        ScenarioError, CannotPlay
            See `SizingSolver`.
        """
        from forebay.engines.network.sized import SizingSolver

        return SizingSolver(scenario, link=link, link_class=link_class)

    def solution(
        self,
        scenario: Scenario,
        progress: Progress | None = None,
        expect: Callable[[float], None] | None = None,
    ) -> tuple[Solution, float]:
        """Return the steady state, and the CPU seconds of loading and routing before it.

        Parameters
        ----------
        progress : of each stage; `forebay.progress.enter` names the stage.
        expect : called once with the predicted CPU seconds, before the routes of many pairs.

        Raises
        ------
        TooMuchMemory
            The paths would take more than the limit.
        """
        if scenario.topology is None:
            raise CannotPlay(self.name, "a single link", "topology")
        from forebay.engines.network.balance import make_balance
        from forebay.engines.network.solver import solve
        from forebay.network import make_problem

        def check(foreseen: Foreseen) -> None:
            self._check(foreseen)
            if expect is not None:
                expect(foreseen.seconds)

        begun = time.process_time()
        check_marks(scenario)
        enter(progress, "reading")
        problem = make_problem(scenario, check, progress)
        enter(progress, "equations")
        balance = make_balance(problem, scenario.topology)
        loading = time.process_time() - begun
        return solve(balance, progress=progress), loading

    def _check(self, foreseen: Foreseen) -> None:
        from forebay.footprint import Limit, resident

        limit, held = Limit(self._octets), resident()
        pairs = foreseen.pairs_within(max(limit.octets - held, 0))
        smaller = f"{entry('topology.max_pairs', pairs)}, fewer max_paths"
        limit.check_octets(held + foreseen.octets, smaller)


def check_marks(scenario: Scenario) -> None:
    """Refuse controls that answer to marks beside a queue that may make some. ScenarioError."""
    from forebay.engines.network.response import MARKED
    from forebay.network.errors import refuse

    names = {name for group in scenario.traffic for name in getattr(group, "shares", ())}
    for name in MARKED:
        if name in names and scenario.queue.discipline not in _NO_MARKS:
            wrong = f"the network engine knows no answer of {name} to marks"
            raise refuse(wrong, 'write queue.discipline = "drop-tail", or another control')


def broken(scenario: Scenario, solution: Solution) -> list[str]:
    """Return what the model leaves out that this scenario has."""
    found = []
    kinds = {group.kind for group in scenario.traffic}
    if scenario.queue.discipline not in _NO_MARKS:
        found.append(f"a queue that drops early ({scenario.queue.discipline}): taken as drop-tail")
    if "short" in kinds:
        found.append("short flows: counted as a load that does not answer to loss")
    few = solution.balance.problem.flows[solution.balance.used]
    full = solution.s > 0.0
    if full.any() and few[full].min() < 1.0:
        found.append(
            f"fewer than one connection on a full link ({few[full].min():.2g} on average): "
            "what many together do is taken for each"
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
