"""A published table or figure compared with our numbers, with a verdict for each row."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from forebay.outcome import Metric
from forebay.report.figures.style import Picture
from forebay.reproduction.variants import Variants

FORMULA = "formula against print"
SIMULATION = "simulation against print"
KERNEL = "kernel against print"
OURS = "ours against ours"
OTHERS = "simulation against measurements of others"
KINDS = (FORMULA, SIMULATION, KERNEL, OURS, OTHERS)
"""Kinds of comparison; evidence of one kind says nothing about another."""


UNEXPLAINED = "unexplained"
CAUSES = (
    "misprint", "unknown set-up", "the paper's law is wrong for real TCP", "band or measure",
    "too short", UNEXPLAINED,
)  # fmt: skip
"""Causes of rows that are out of their band."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: a row has one, or two if the testbed's number is judged too.

    Attributes
    ----------
    kind : one of KINDS.
    good : whether the number is in the band.
    published : whether the band is about a printed number, not a statement.
    full_passes : whether 100 % utilization would pass; None if the row is not about utilization.
    """

    kind: str
    good: bool
    published: bool
    full_passes: bool | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Reproduction:
    """Result of an artefact: its rows, with a verdict and a reason for each.

    Attributes
    ----------
    artefact : its name, such as "appenzeller-2004/fig15".
    title : one line: paper, place, what is compared.
    columns : names of the cells of a row.
    rows : one list of cells for each row: str, int, float, None (not printed), or a Metric.
    reasons : for each row, why it is out of its band; "" if it is in the band.
    notes : notes on the whole artefact, such as errors in the paper.
    labels : number of columns at the left that name the row; a figure draws the others.
    drawn : names of the columns that a figure draws; empty means all numbers except labels.
    unit : unit of the drawn columns.
    units : one for each row, if rows have different units; a figure has a panel for each unit.
    picture : the paper's own figure, which is drawn instead of the rows.
    checks : the comparisons of the verdicts; empty means one of kind `OURS` for each row.
    unjudged : sentences about numbers without a verdict, because they cannot fail.
    variants : the rows for other choices of what the paper leaves open.
    causes : for each row, which of `CAUSES` it is out of its band for; "" if it is in the band.
    prints_wrong : for each row, whether the band is about what the print should say.
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
    causes: list[str] = field(default_factory=list)
    prints_wrong: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.checks:
            checks = [Check(OURS, not reason, published=False) for reason in self.reasons]
            object.__setattr__(self, "checks", checks)
        if not self.causes:
            causes = [UNEXPLAINED if reason else "" for reason in self.reasons]
            object.__setattr__(self, "causes", causes)
        if not self.prints_wrong:
            object.__setattr__(self, "prints_wrong", [False] * len(self.rows))
        if strange := {check.kind for check in self.checks} - set(KINDS):
            raise ValueError(f"{self.artefact}: {', '.join(strange)} is no kind of comparison")
        wrong = any(len(row) != len(self.columns) for row in self.rows)
        if wrong or len(self.rows) != len(self.reasons):
            raise ValueError(f"{self.artefact}: rows, reasons, columns do not match")
        if len(self.units) not in (0, len(self.rows)):
            raise ValueError(f"{self.artefact}: {len(self.rows)} rows and {len(self.units)} units")

    @property
    def verdicts(self) -> list[bool]:
        """For each row, whether our number is in the row's band."""
        return [not reason for reason in self.reasons]

    @property
    def words(self) -> list[str]:
        """For each row "ok"; "print wrong" where ours agrees that it is; or "OUT"."""
        return [
            "OUT" if reason else "print wrong" if wrong else "ok"
            for reason, wrong in zip(self.reasons, self.prints_wrong, strict=True)
        ]

    @property
    def agrees(self) -> bool:
        """Whether every row is in its band."""
        return all(self.verdicts)

    def __repr__(self) -> str:
        return f"<Reproduction {self.summary}>"

    def _repr_html_(self) -> str:
        """Return title, table and notes for a notebook."""
        from forebay.reproduction.html import section

        return section(self)

    @property
    def summary(self) -> str:
        """One line: the number of rows in their band."""
        return f"{self.artefact}: {sum(self.verdicts)} of {len(self.rows)} rows are in their band"

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
                {
                    "cells": [_json(cell) for cell in row],
                    "in_band": not reason,
                    "verdict": word,
                    "reason": reason,
                    "cause": cause,
                }
                for row, word, reason, cause in zip(
                    self.rows, self.words, self.reasons, self.causes, strict=True
                )
            ],
            "notes": list(self.notes),
            "checks": [asdict(check) for check in self.checks],
            "unjudged": list(self.unjudged),
            "variants": None if self.variants is None else self.variants.to_dict(),
        }


def row_name(made: Reproduction, row: list[Any]) -> str:
    """Return the name of a row: its label cells, such as "100, 0.5, 64"."""
    cells = row[: made.labels]
    return ", ".join(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells)


def _json(cell: Any) -> Any:
    return cell.model_dump(mode="json") if isinstance(cell, Metric) else cell
