"""The verb `sensitivity`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from forebay.scenario import Scenario, ScenarioError, expect_scenario
from forebay.scenario.errors import show

if TYPE_CHECKING:
    from forebay.outcome.sensitivity import Sensitivity
    from forebay.progress import Progress
    from forebay.studies.sweep import Sweep

_CHEAP_S = 60.0
"""Predicted seconds up to which indices are made without being asked for."""
_MOST_DRAWS = 2**16


def sensitivity(
    scenario: Scenario,
    engine: str = "theory",
    *,
    change: float = 0.2,
    uncertain: Mapping[str, Any] | None = None,
    method: str | None = None,
    draws: int = 64,
    seeds: int = 5,
    seed: int = 1,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    jobs: int = 0,
    cluster: str | None = None,
    memory_limit: str | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Say which input moves the smallest buffer how much: rate, flows, round trips, load, mix.

    Each input is changed alone, which gives the elasticity of the answer. With method ``"sobol"``
    all are also changed together, which gives the share of the answer's variance that each makes
    alone and with the others. Every sizing is a cell of a `sweep`, whose other parameters these
    are.

    Parameters
    ----------
    engine : str
        ``"theory"`` answers in seconds; ``"simulation"`` needs two sizings for each input.
    change : float
        Share by which an input is changed, down and up, above 0 and below 1.
    uncertain : dict, optional
        Ranges or distributions by path, as `size_uncertain` takes them, instead of `change` of
        every input. Alone, an input is then set to the values that 5 % and 95 % of it are below.
    method : str, optional
        ``"one-at-a-time"`` or ``"sobol"``. By default ``"sobol"`` if its sizings take up to a
        minute by prediction: there are ``draws * (inputs + 2)`` of them.
    draws : int
        Rows of Sobol's design, a power of 2.

    Returns
    -------
    Sensitivity
        For each input the packets below and above, the elasticity of the answer, and the indices;
        the strongest first. ``str()`` is a table.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; `change`, `method` or `draws` is refused; a range is.
    SizingError
        The scenario has no goal.
    """
    from forebay.api.sweep import sweep
    from forebay.api.uncertain import sized_in
    from forebay.studies import sensitivity as study
    from forebay.studies.grid import drawn_grid
    from forebay.studies.uncertain import check_goals, uncertain_inputs

    expect_scenario(scenario)
    _check(scenario, change, method, draws)
    ranges = study.inputs_of(scenario, change) if uncertain is None else uncertain
    inputs = uncertain_inputs(scenario, ranges)
    check_goals(scenario, inputs)
    ends = (0.0, 1.0) if uncertain is None else (0.05, 0.95)
    points = study.alone(scenario, inputs, ends)
    count, alone = len(inputs), len(points)
    sized = partial(
        sweep, scenario, engine=engine, ask="size", seeds=seeds, seed=seed, budget=budget,
        store=store, jobs=jobs, cluster=cluster, memory_limit=memory_limit, progress=progress,
    )  # fmt: skip
    names = [each.field for each in inputs]
    is_sobol = method == "sobol" or (
        method is None and draws * (count + 2) * _each_s(engine, budget) <= _CHEAP_S
    )
    kind = sized_in(scenario, engine, names, points)
    if is_sobol and _answers(sized(drawn_grid(scenario, names, points[:1])), points[:1], kind)[0]:
        points += study.sobol_points(inputs, draws, seed)
        sized_in(scenario, engine, names, points)
    made = sized(drawn_grid(scenario, names, points), announce=announce)
    packets = _answers(made, points, kind)
    found = study.one_at_a_time(engine, inputs, ends, points[0], packets[:alone])
    found = replace(
        found,
        change=change if uncertain is None else None,
        reason=_reason(made, packets[0]),
        sized=kind,
    )
    if len(points) == alone:
        return found
    return study.with_indices(found, inputs, packets[alone:], draws)


def _answers(made: Sweep, points: Sequence[tuple[Any, ...]], kind: str) -> list[float | None]:
    from forebay.studies.table import as_cell

    found = made.means(f"{kind}.packets")
    return [found.get(tuple(map(as_cell, point))) for point in points]


def _reason(made: Sweep, packets: float | None) -> str | None:
    """Return why the scenario as it is has no answer."""
    if packets is not None:
        return None
    said = [each.partition(": ")[2] for each in [*made.failures, *made.refused]]
    return next(iter(said), "no buffer is shown to meet the goals; forebay.size says why")


def _each_s(engine: str, budget: str | None) -> float:
    """Return the predicted seconds of a sizing."""
    from forebay.api.arguments import budget_seconds
    from forebay.studies.plan import SHORT_SIZING_S

    return SHORT_SIZING_S.get(engine) or budget_seconds(engine, budget)


def _check(scenario: Scenario, change: float, method: str | None, draws: int) -> None:
    from forebay.api.sweep import refuse_network
    from forebay.scenario.base import whole_number
    from forebay.studies.sensitivity import METHODS

    refuse_network(scenario)
    if not isinstance(change, int | float) or not 0.0 < change < 1.0:
        hint = "write a share above 0 and below 1, such as 0.2"
        raise ScenarioError("out-of-range", show(change), hint, field="change")
    if method is not None and method not in METHODS:
        hint = f"write one of: {', '.join(METHODS)}"
        raise ScenarioError("unknown-name", show(method), hint, field="method")
    if whole_number("draws", draws, 8, _MOST_DRAWS) & (draws - 1):
        hint = f"write a power of 2, such as {2 ** draws.bit_length()}"
        raise ScenarioError("out-of-range", show(draws), hint, field="draws")
