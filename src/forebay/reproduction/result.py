"""A published table or figure against ours, a verdict a row."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from forebay.outcome import Metric
from forebay.report.picture import Picture
from forebay.reproduction.variants import Variants

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


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction:
    """What an artefact gives back: its rows, a verdict each, and the reasons.

    Attributes
    ----------
    artefact : its name, such as "appenzeller-2004/fig15".
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

    def __repr__(self) -> str:
        return f"<Reproduction {self.summary}>"

    def _repr_html_(self) -> str:
        """Return the title, the table and the notes as a notebook shows them."""
        from forebay.reproduction.html import section

        return section(self)

    @property
    def summary(self) -> str:
        """One line: how many rows lie in their band."""
        return f"{self.artefact}: {sum(self.verdicts)} of {len(self.rows)} rows lie in their band"

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

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


def row_name(made: Reproduction, row: list[Any]) -> str:
    """Return what a row is called: its label cells, such as "100, 0.5, 64"."""
    cells = row[: made.labels]
    return ", ".join(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells)


def _json(cell: Any) -> Any:
    return cell.model_dump(mode="json") if isinstance(cell, Metric) else cell
