"""The plan of a study: every cell checked, counted and priced before the first run."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from forebay.engines.base import Engine
from forebay.errors import ForebayError
from forebay.scenario import Scenario, ScenarioError
from forebay.scenario.overrides import blames
from forebay.search.cost import Speed, in_words
from forebay.studies.grid import MAX_CELLS, Grid
from forebay.words import Fact, Notation, toml

_SHORT_S = {"theory": 0.002, "atlas": 0.004, "network": 1.0}
SHORT_SIZING_S = {"theory": 0.04, "atlas": 0.2}
"""Seconds of an answer, and of a sizing, whose time does not depend on packets."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the values of the axes, its scenario, and the scenario's hash."""

    values: tuple[Any, ...]
    scenario: Scenario
    sha256: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A cell that cannot be run: the values of the axes, and why."""

    values: tuple[Any, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to one engine, with what identifies its rows in a store.

    Attributes
    ----------
    ask : "run" or "size".
    code : digest of the code and options that decide a row.
    budget_s : predicted seconds of a sizing.
    """

    ask: str
    engine: str
    code: str
    memory_limit: str | None = None
    budget_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study runs.

    Attributes
    ----------
    seeds : of each cell. A sizing uses all of them for one row, which has the first.
    most_bytes : of one replication of the largest cell, by estimate; 0 if not known.
    """

    grid: Grid
    asked: tuple[Asked, ...]
    cells: tuple[Cell, ...]
    refused: tuple[Refusal, ...]
    seeds: range
    most_bytes: float
    _prices: dict[tuple[str, str], float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def row_seeds(self) -> range:
        """The seeds that have a row of their own."""
        return self.seeds[:1] if self.asked[0].ask == "size" else self.seeds

    @property
    def names(self) -> tuple[str, ...]:
        """What tells its cells apart: the axes, and the engine if there are several."""
        return (*self.grid.names, *(["engine"] if len(self.asked) > 1 else []))

    @property
    def runs(self) -> int:
        """Number of rows in the whole."""
        return len(self.cells) * len(self.row_seeds) * len(self.asked)

    def price_s(self, asked: Asked, cell: Cell) -> float:
        """Return the predicted seconds of one row on one processor."""
        key = (asked.engine, cell.sha256)
        if key not in self._prices:
            self._prices[key] = self._price_s(asked, cell.scenario)
        return self._prices[key]

    def _price_s(self, asked: Asked, scenario: Scenario) -> float:
        if asked.ask == "size":
            return SHORT_SIZING_S.get(asked.engine, asked.budget_s)
        if asked.engine in _SHORT_S:
            return _SHORT_S[asked.engine]
        if asked.engine == "testbed":
            return float(scenario.measure.warmup + scenario.measure.duration)
        return Speed(1).replication_s(scenario)

    def announce(self, missing: int, wall_s: float, where: Fact | None = None) -> str:
        """Return the line before the first run: "1,200 runs, about 40 s on 2 cores"."""
        kept = self.runs - missing
        parts = [Fact("plan.runs", runs=self.runs, sizings=self.asked[0].ask == "size")]
        parts += [Fact("plan.stored", runs=kept)] if kept else []
        parts += [Fact("plan.time", time=in_words(wall_s), where=where)] if missing else []
        if self.refused:
            first, cells = self.refused[0], len(self.refused)
            values = of_values(self.grid.names, first.values)
            parts.append(Fact("plan.refused", cells=cells, values=values, why=first.why))
        return ", ".join(map(str, parts))


def of_values(names: Iterable[str], values: Iterable[Any]) -> str:
    """Return a cell in words: 'queue.size = "64 packets", traffic.0.flows = 100'."""
    return ", ".join(f"{n} = {toml(v)}" for n, v in zip(names, values, strict=True)) or "base"


def plan_of(
    grid: Grid,
    engines: Sequence[tuple[Asked, Engine]],
    seeds: range,
    standing: Callable[[], None] = lambda: None,
) -> Plan:
    """Check every cell.

    Raises ScenarioError: no cell is left, or a value is refused wherever it stands.

    ``standing``: called for each cell; KeyboardInterrupt raised in it stops the plan.
    """
    checks = [check for _, engine in engines if (check := engine.capabilities.check)]
    cells: list[Cell] = []
    refused: list[tuple[Refusal, ForebayError]] = []
    most = 0.0
    for values in grid.points():
        standing()
        if len(cells) + len(refused) >= MAX_CELLS:
            raise ScenarioError("bad-grid.cells", field="axes", most=MAX_CELLS)
        try:
            scenario = grid.base.replace(dict(zip(grid.names, values, strict=True)))
            most = max([most, *(check(scenario) for check in checks)])
        except ForebayError as error:
            refused.append((Refusal(values, error.worded(Notation.FILE)), error))
        else:
            cells.append(Cell(values, scenario, scenario.sha256()))
    _refuse_values(grid, cells, refused)
    asked = tuple(question for question, _ in engines)
    return Plan(grid, asked, tuple(cells), tuple(refusal for refusal, _ in refused), seeds, most)


def _refuse_values(
    grid: Grid, cells: Sequence[Cell], refused: Sequence[tuple[Refusal, ForebayError]]
) -> None:
    """Refuse the grid if a value is wrong by itself: every cell that has it was refused."""
    if not cells and not refused:
        raise ScenarioError("bad-grid.no-cell", field="leave_out")
    good = [{repr(cell.values[i]) for cell in cells} for i in range(len(grid.names))]
    for refusal, error in refused:
        for name, value, known in zip(grid.names, refusal.values, good, strict=True):
            if repr(value) in known:
                continue
            if isinstance(error, ScenarioError) and blames([name], error.field):
                raise error.at("axes")
            if not cells or not grid.is_drawn:
                raise ScenarioError(
                    "bad-grid.value", field=f"axes.{name}", value=value, name=name,
                    why=error.but(hint="").worded(Notation.FILE),
                )  # fmt: skip
    if not cells and refused:
        raise ScenarioError("bad-grid.every-cell", field="axes", why=refused[0][0].why)


def cores(jobs: int) -> int:
    """Return the number of workers for ``jobs``; 0 is one for each core."""
    return jobs or os.cpu_count() or 1
