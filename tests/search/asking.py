"""Ask for a size, with the parts of a question as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forebay.engines.base import Engine
from forebay.outcome import SizeResult
from forebay.search.evaluator import Evaluator
from forebay.search.network_links import NetworkLinks
from forebay.search.options import Options
from forebay.search.problem import LawContext, problem_of
from forebay.search.search import search


def size(
    scenario: Any,
    engine: Engine,
    *,
    laws: Sequence[Any] = (),
    governs: Any = None,
    sawtooths: Any = None,
    limit: int | None = None,
    network: NetworkLinks | None = None,
    **options: Any,
) -> SizeResult:
    """Return the answer of `search`."""
    context = LawContext(laws, governs, sawtooths)
    problem = problem_of(scenario, engine.name, context, largest=limit, network=network)
    return search(problem, engine, Options(**options))


def size_within(scenario: Any, engine: Engine, budget_s: float, **more: Any) -> SizeResult:
    """Return the answer within a time."""
    return size(scenario, engine, budget_s=budget_s, **more)


def sized(scenario: Any, engine: Engine, budget_s: float, **more: object) -> SizeResult:
    """Return the answer within a time by the engine's own clock, from five seeds up to twenty."""
    how = {
        "seeds": range(1, 6),
        "max_seeds": 20,
        "jobs": 2,
        "clock": getattr(engine, "clock", None),
    } | more
    return size_within(scenario, engine, budget_s, **how)  # type: ignore[arg-type]


def evaluator_of(
    scenario: Any, engine: Engine, *, limit: int | None = None, **options: Any
) -> Evaluator:
    """Return an evaluator for all goals of a scenario."""
    problem = problem_of(scenario, engine.name, largest=limit)
    return Evaluator(problem, engine, Options(**options))
