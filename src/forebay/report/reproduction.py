"""A published table or figure against ours, a verdict a row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from textwrap import wrap
from typing import Any

from forebay.outcome import Metric
from forebay.report.console import console, show_table, table
from forebay.report.numbers import NOT_MEASURED, show
from forebay.report.picture import Picture
from forebay.report.variants import Variants

FORMULA = "formula against print"
SIMULATION = "simulation against print"
KERNEL = "kernel against print"
OURS = "ours against ours"
KINDS = (FORMULA, SIMULATION, KERNEL, OURS)
"""What a row may hold against what: evidence of one kind says nothing of another."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: a row has one, or two where the testbed's number is judged as well.

    Attributes
    ----------
    kind : one of KINDS.
    good : whether the number lies in the band.
    published : whether the band is about a number in print, not a statement.
    full_passes : whether 100 % utilization would pass; None where the row is of something else.
    """

    kind: str
    good: bool
    published: bool
    full_passes: bool | None = None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What an artefact in papers/ gives back.

    Attributes
    ----------
    artefact : its name, such as "A.fig15".
    title : one line: paper, place, what is compared.
    columns : names of the cells of a row.
    rows : one list of cells a row: str, int, float, None (nothing printed), or a Metric.
    reasons : one a row: why it is out of its band, "" where it is in.
    notes : what to know about the whole, such as where the print is wrong.
    labels : how many columns at the left name the row; a figure draws the others.
    drawn : names of the columns that a figure draws; empty means all numbers but labels.
    unit : unit of the drawn columns.
    units : where rows have units of their own, one a row: a figure gives each unit a panel.
    picture : the paper's own figure; drawn in place of the rows where there is one.
    checks : what the rows' verdicts are made of; empty means one of `OURS` a row, for a row whose
        maker says no more claims no more.
    unjudged : what is shown without a verdict since it could not fail, a sentence each.
    variants : the rows under other readings of what the paper leaves open.
    """

    artefact: str
    title: str
    columns: list[str]
    rows: list[list[Any]]
    reasons: list[str]
    notes: list[str] = field(default_factory=list)
    labels: int = 1
    drawn: tuple[str, ...] = ()
    unit: str = ""
    units: list[str] = field(default_factory=list)
    picture: Picture | None = None
    checks: list[Check] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)
    variants: Variants | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            checks = [Check(OURS, not reason, published=False) for reason in self.reasons]
            object.__setattr__(self, "checks", checks)
        if strange := {check.kind for check in self.checks} - set(KINDS):
            raise ValueError(f"{self.artefact}: {', '.join(strange)} is no kind of comparison")
        wrong = any(len(row) != len(self.columns) for row in self.rows)
        if wrong or len(self.rows) != len(self.reasons):
            raise ValueError(f"{self.artefact}: rows, reasons, columns do not match")
        if len(self.units) not in (0, len(self.rows)):
            raise ValueError(f"{self.artefact}: {len(self.rows)} rows and {len(self.units)} units")

    @property
    def verdicts(self) -> list[bool]:
        """One a row: True where ours lies in the row's band."""
        return [not reason for reason in self.reasons]

    @property
    def agrees(self) -> bool:
        """Whether every row lies in its band."""
        return all(self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``reproduce --json`` (schema 1): JSON types only."""
        return {
            "schema": 1,
            "artefact": self.artefact,
            "title": self.title,
            "agrees": self.agrees,
            "columns": list(self.columns),
            "rows": [
                {"cells": [_json(cell) for cell in row], "in_band": verdict, "reason": reason}
                for row, verdict, reason in zip(self.rows, self.verdicts, self.reasons, strict=True)
            ],
            "notes": list(self.notes),
            "checks": [asdict(check) for check in self.checks],
            "unjudged": list(self.unjudged),
            "variants": None if self.variants is None else self.variants.to_dict(),
        }


def print_reproduction(made: Reproduction) -> None:
    """Print the table with a verdict a row, then the reasons, then the notes."""
    out = console()
    out.print(made.title, style="bold")
    headings = [c.replace(" ", "\n", 1) if len(c) > 9 else c for c in made.columns]
    body = table(*headings, "verdict", left=0)
    for row, verdict in zip(cells(made), made.verdicts, strict=True):
        body.add_row(*row, "ok" if verdict else "OUT", style=None if verdict else "bold red")
    show_table(out, body)
    for row, reason in zip(made.rows, made.reasons, strict=True):
        if reason:
            out.print(f"{row_name(made, row)}: {reason}", style="red")
    for note in [*made.notes, *(f"No verdict: {each}" for each in made.unjudged)]:
        out.print(note)
    if made.variants is not None:
        _print_variants(made.variants)
    out.print(_summary(made), style="bold green" if made.agrees else "bold red")


_HEADING = 16  # characters of a line


def _print_variants(variants: Variants) -> None:
    out = console()
    out.print("What the paper leaves open, side by side", style="bold")
    headings = ["\n".join(wrap(name, _HEADING)) for name in variants.columns]
    body = table(*headings, left=1)
    for row in variants.cells():
        body.add_row(*row)
    show_table(out, body)
    out.print(variants.says)


def cells(made: Reproduction) -> list[list[str]]:
    """Return the rows as a person reads them: a column's numbers to the same decimals."""
    decimals = [_decimals(column) for column in zip(*made.rows, strict=True)]
    return [
        [_cell(cell, places) for cell, places in zip(row, decimals, strict=True)]
        for row in made.rows
    ]


def _summary(made: Reproduction) -> str:
    inside = sum(made.verdicts)
    return f"{made.artefact}: {inside} of {len(made.verdicts)} rows lie in their band."


def _decimals(column: Iterable[Any]) -> int:
    """Decimals that show each float of a column to four digits; 0 for a column of integers."""
    floats = (f"{cell:.4g}" for cell in column if isinstance(cell, float))
    return max((len(text.partition(".")[2]) for text in floats), default=0)


def _cell(cell: Any, decimals: int) -> str:
    if cell is None:
        return NOT_MEASURED
    if isinstance(cell, Metric):
        return show(cell, digits=1 if abs(cell.value) >= 10 else 2 if abs(cell.value) >= 1 else 3)
    number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return f"{cell:.{min(decimals, _needed(cell))}f}" if number else str(cell)


def _needed(number: float) -> int:
    """Decimals that show a number to four digits: where rows have units of their own, 150 and
    0.002 stand in one column."""
    if not number or not math.isfinite(number):
        return 4
    return max(3 - math.floor(math.log10(abs(number))), 0)


def row_name(made: Reproduction, row: list[Any]) -> str:
    """Return what a row is called: its label cells, such as "100, 0.5, 64"."""
    cells = row[: made.labels]
    return ", ".join(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells)


def _json(cell: Any) -> Any:
    return cell.model_dump(mode="json") if isinstance(cell, Metric) else cell
