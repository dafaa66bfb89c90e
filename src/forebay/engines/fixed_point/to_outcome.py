"""A steady state as an Outcome."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from forebay.catalogue import DISCIPLINES, KINDS
from forebay.engines.fixed_point.bursts import burst_note
from forebay.engines.fixed_point.offered_bursts import OfferedBursts
from forebay.engines.fixed_point.summary import classes, links, network
from forebay.outcome import Outcome, Provenance

if TYPE_CHECKING:
    from forebay.engines.fixed_point.solver import Solution
    from forebay.engines.fixed_point.uniqueness import Uniqueness
    from forebay.scenario import Scenario
    from forebay.topology.graph import Ints

NAME = "network"
NO_MARKS = tuple(each.name for each in DISCIPLINES.values() if each.drops_tail)
"""Disciplines that mark and drop nothing before the buffer is full."""


def to_outcome(
    scenario: Scenario,
    seeds: list[int],
    solution: Solution,
    loading: float,
    wall_s: float = 0.0,
    sized: Ints | None = None,
    bursts: OfferedBursts | None = None,
) -> Outcome:
    """Return a steady state as an answer.

    Parameters
    ----------
    loading, wall_s : CPU seconds of loading and routing, and seconds of the whole run.
    sized : places in ``balance.used`` of links that are sized; bursts at others are not named then.
    bursts : those of the scenario's short flows, if they were computed before.
    """
    from forebay.engines.fixed_point.uniqueness import uniqueness

    left = uniqueness(solution)
    bursts = bursts or OfferedBursts(scenario, solution.balance.problem)
    return Outcome(
        scenario=scenario.to_dict(),
        engine=NAME,
        links=links(solution, bursts),
        classes=classes(scenario, solution),
        broken_assumptions=[*broken(scenario, solution, bursts, sized), *_open(left)],
        provenance=_provenance(scenario, seeds, solution, left, loading, wall_s),
        network=network(solution),
    )


def broken(
    scenario: Scenario, solution: Solution, bursts: OfferedBursts, sized: Ints | None = None
) -> list[str]:
    """Return the features of this scenario that the model does not represent."""
    found = []
    for said in (burst_note(solution, sized), bursts.note(solution)):
        if said is not None:
            found.append(said)
    if scenario.queue.discipline not in NO_MARKS:
        found.append(
            f"a queue that drops early ({scenario.queue.discipline}): treated as drop-tail"
        )
    if any(KINDS[g.kind].completes for g in scenario.traffic):
        found.append("short flows: treated as a load that does not respond to loss")
    few = solution.balance.problem.flows[solution.balance.used]
    full = solution.s > 0.0
    if full.any() and few[full].min() < 1.0:
        found.append(
            f"fewer than one connection on a full link ({few[full].min():.2g} on average): "
            "the model is for many connections"
        )
    return found


def _open(left: Uniqueness | None) -> list[str]:
    """Return the note of an answer that is one of several, or that was not tested for it."""
    from forebay.engines.fixed_point.uniqueness import MOST_LINKS

    if left is None:
        return [
            f"more than {MOST_LINKS} links affect each other: whether other steady states exist "
            "was not tested; forebay network --multistart 10 tests it"
        ]
    if not left.open_directions:
        return []
    ways = f"{left.open_directions} way{'s' if left.open_directions > 1 else ''}"
    return [
        f"one steady state: the equations leave {ways} open to move loss or queue between full "
        f"links, such as {', '.join(left.links)}; forebay network --multistart 10 shows how far "
        "the rates of several steady states differ"
    ]


def _provenance(
    scenario: Scenario,
    seeds: list[int],
    solution: Solution,
    left: Uniqueness | None,
    loading: float,
    wall_s: float,
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
        "open_directions": None if left is None else left.open_directions,
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
