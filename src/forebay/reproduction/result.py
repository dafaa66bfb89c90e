"""A published table or figure compared with our numbers, with a verdict for each row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import starmap
from typing import Any

from forebay.outcome import Metric
from forebay.report.picture import Line, Panel, Picture
from forebay.report.tables import NOT_MEASURED, show

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
Ours = Metric | float | None
"""A number of ours; None if it was not measured."""


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


@dataclass(frozen=True, slots=True)
class Variants:
    """The rows of a reproduction for several variants of its set-up; none is chosen as it fits.

    Attributes
    ----------
    says : which of the variants the paper may have used, in one or two sentences.
    names : names of the variants; the first is the one chosen beforehand, which has the verdict.
    rows : for each row its name, its band as text, and for each variant the number (a Metric, a
        float, or None if it was not run) and whether it is in the band.
    """

    says: str
    names: list[str]
    rows: list[tuple[str, str, list[tuple[Ours, bool]]]]

    @property
    def columns(self) -> list[str]:
        """Headings of the table."""
        first, *others = self.names
        return ["row", "band", f"{first} (verdict)", *others]

    def cells(self) -> list[list[str]]:
        """Return the table as text; numbers out of their band are marked."""
        body = [[name, band, *starmap(_shown, found)] for name, band, found in self.rows]
        columns = zip(*(found for _, _, found in self.rows), strict=True)
        inside = [str(sum(good for _, good in column)) for column in columns]
        return [*body, [f"in their band, of {len(body)}", "", *inside]]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types only."""
        rows = [
            {"row": name, "band": band, "cells": [[_json(v), good] for v, good in found]}
            for name, band, found in self.rows
        ]
        return {"says": self.says, "names": list(self.names), "rows": rows}


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

    >>> made = forebay.reproduce("A.eq6")
    >>> made.agrees, len(made.rows)
    (True, 3)
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
        from forebay.reproduction.page import section

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
        rows = zip(self.rows, self.words, self.reasons, self.causes, strict=True)
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
                for row, word, reason, cause in rows
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


def plain(number: float) -> str:
    """Return a number with four digits and without exponent: 10231, not 1.023e+04."""
    return f"{number:.4g}" if abs(number) < 1e4 else f"{number:.0f}"


def digits(metric: Metric) -> int:
    """Return the decimals with which a metric is shown."""
    return 1 if abs(metric.value) >= 10 else 2 if abs(metric.value) >= 1 else 3


def _shown(value: Ours, good: bool) -> str:
    if value is None:
        return NOT_MEASURED
    text = show(value, digits=digits(value)) if isinstance(value, Metric) else plain(value)
    return text if good else f"{text} out"


def _json(cell: Any) -> Any:
    return cell.model_dump(mode="json") if isinstance(cell, Metric) else cell


SCHEMA = 4
"""Of `CachedResult.to_document`; increased if older documents can no longer be read."""


@dataclass(frozen=True, slots=True)
class CachedResult:
    """A reproduction, its arguments, and its duration: the cache of ``reproduce --all``.

    Attributes
    ----------
    made : the reproduction.
    seeds : number of replications.
    quick : whether with fewer seeds and shorter windows.
    wall_s : wall time in seconds, on the machine that made it.
    """

    made: Reproduction
    seeds: int
    quick: bool
    wall_s: float

    def to_document(self) -> dict[str, Any]:
        """Return JSON types only; `from_document` reads them back."""
        return {"schema": SCHEMA, **_written(asdict(self))}


def from_document(document: Mapping[str, Any]) -> CachedResult:
    """Read what `CachedResult.to_document` wrote. Raises KeyError or ValueError otherwise."""
    if document["schema"] != SCHEMA:
        raise ValueError(f"schema {document['schema']}, not {SCHEMA}")
    made = _read(document["made"])
    variants, picture = made["variants"], made["picture"]
    if variants is not None:
        rows = [(name, band, [*map(tuple, found)]) for name, band, found in variants["rows"]]
        made["variants"] = Variants(variants["says"], variants["names"], rows)
    if picture is not None:
        panels = [Panel(**{**p, "lines": [*map(_line, p["lines"])]}) for p in picture["panels"]]
        made["picture"] = Picture(panels, picture["columns"])
    made["checks"] = [Check(**check) for check in made["checks"]]
    made["drawn"] = tuple(made["drawn"])
    seeds, quick, wall_s = (document[name] for name in ("seeds", "quick", "wall_s"))
    return CachedResult(Reproduction(**made), seeds, quick, wall_s)


def _written(value: Any) -> Any:
    """Return a value as JSON; NumPy's numbers become Python's."""
    if isinstance(value, Metric):
        return {"metric": value.model_dump(mode="json")}
    if isinstance(value, Mapping):
        return {name: _written(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_written(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"metric"}:
        return Metric.model_validate(value["metric"])
    return {name: _read(each) for name, each in value.items()}


def _line(document: Mapping[str, Any]) -> Line:
    bounds = {name: tuple(map(tuple, document[name])) for name in ("x_bounds", "y_bounds")}
    return Line(**{**document, **bounds})
