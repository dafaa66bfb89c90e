"""What an answer says of its runs: short windows, flows that have not settled, the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.search.cost import in_words
from forebay.search.parameter import notes_of as of_parameter
from forebay.search.rows import least
from forebay.search.windows import wanted

if TYPE_CHECKING:
    from forebay.search.level import Level
    from forebay.search.problem import Problem


def notes_of(problem: Problem, level: Level) -> tuple[str, ...]:
    """Return the notes on the runs of a link."""
    return (
        *_by_another_engine(problem, level),
        *_windows(problem, level),
        *_settled(level),
        *of_parameter(problem.scenario, problem.engine, problem.parameter),
    )


def _by_another_engine(problem: Problem, level: Level) -> list[str]:
    if level.problem.engine == problem.engine:
        return []
    return [f"no {problem.engine} fitted into the time: the {level.problem.engine} answers"]


def _windows(problem: Problem, level: Level) -> list[str]:
    link = level.links[0]
    if not level.shortened:
        return []
    full = wanted(problem.scenario, problem.first_guess, problem.law_context.sawtooths)
    ran, needs = (float(of.warmup + of.duration) for of in (link.measure, full))
    return [f"runs of {in_words(ran)} in place of {in_words(needs)}, to fit into the time"]


def _settled(level: Level) -> list[str]:
    there = least(level.rows)
    if there is None:
        return []
    late = [each for each in there.outcome.classes if each.settled is False]
    return [f"{each.name} had not settled: {each.unsettled}" for each in late]
