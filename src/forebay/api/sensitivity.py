"""The verb `sensitivity`."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from forebay.scenario import Scenario, ScenarioError, expect_scenario
from forebay.scenario.errors import show

if TYPE_CHECKING:
    from forebay.progress import Progress
    from forebay.studies.sensitivity import Sensitivity


def sensitivity(
    scenario: Scenario,
    engine: str = "theory",
    *,
    change: float = 0.2,
    seeds: int = 5,
    seed: int = 1,
    budget: str | None = None,
    store: str | PathLike[str] | None = None,
    jobs: int = 0,
    memory_limit: str | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Say which input moves the smallest buffer how much: rate, flows, round trips, load, start.

    Each input is changed alone, so two that act together (as n and the rate at a fixed load do) are
    not seen together. Every sizing is a cell of a `sweep`, whose other parameters these are.

    Parameters
    ----------
    engine : str
        ``"theory"`` answers at once; ``"simulation"`` needs two sizings for each input.
    change : float
        Share by which an input is changed, down and up, above 0 and below 1.

    Returns
    -------
    Sensitivity
        For each input the packets below and above, and the elasticity of the answer; the strongest
        first. ``str()`` is a table.

    Raises
    ------
    ScenarioError
        `scenario` is not a Scenario; `change` out of range.
    """
    from forebay.api.sweep import sweep
    from forebay.studies.sensitivity import influences, inputs_of
    from forebay.studies.table import as_cell

    expect_scenario(scenario)
    if not 0.0 < change < 1.0:
        hint = "write a share above 0 and below 1, such as 0.2"
        raise ScenarioError("out-of-range", show(change), hint, field="change")
    inputs = inputs_of(scenario, change)
    names = tuple(each.path for each in inputs)
    base = tuple(each.value for each in inputs)
    keys, points = [("", 0)], [base]
    for place, each in enumerate(inputs):
        for side, value in ((-1, each.low), (1, each.high)):
            keys.append((each.path, side))
            points.append((*base[:place], value, *base[place + 1 :]))
    made = sweep(
        scenario, {names: points}, engine=engine, ask="size", seeds=seeds, seed=seed,
        budget=budget, store=store, jobs=jobs, memory_limit=memory_limit, progress=progress,
    )  # fmt: skip
    found = made.means("buffer.packets")
    cells = (tuple(map(as_cell, point)) for point in points)
    answers = {key: found.get(cell) for key, cell in zip(keys, cells, strict=True)}
    return influences(engine, answers.pop(("", 0)), change, inputs, answers)
