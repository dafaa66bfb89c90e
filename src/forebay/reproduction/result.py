"""A published table or figure compared with our numbers, with a verdict for each row."""

import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import starmap
from textwrap import wrap
from typing import Any

from forebay.outcome import Metric
from forebay.report.picture import Line, Panel, Picture
from forebay.report.tables import NOT_MEASURED, console, show, show_table, table

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
class Row:
    """One row of a reproduction.

    Attributes
    ----------
    cells : as many as there are columns.
    reason : why it is out of its band; "" if it is in the band.
    checks : the comparisons of its verdict.
    cause : which of `CAUSES` it is out of its band for, if it is.
    unit : of its numbers, if rows have different units.
    prints_wrong : whether the band is about what the print should say.
    """

    cells: list[Any]
    reason: str
    checks: Sequence[Check]
    cause: str = UNEXPLAINED
    unit: str = ""
    prints_wrong: bool = False


class Comparison(ABC):
    """A quantity of ours against that of others: how far apart they are, and why beyond the band.

    ``band``: largest allowed difference, in points of the unit, or with ``relative`` in per cent of
    the others' value.
    """

    band: float
    relative: bool

    @property
    @abstractmethod
    def apart(self) -> float | None:
        """Ours less theirs; None if one was not measured."""

    @property
    @abstractmethod
    def miss(self) -> Mapping[str, Any]:
        """Why it misses, as ``why`` and ``cause``, where that is known."""

    @property
    def unit(self) -> str:
        """Unit of `apart` and the band."""
        return "%" if self.relative else "points"

    def away(self, value: float, of: float) -> float:
        """Return how far a value is from another."""
        return 100 * (value - of) / of if self.relative else value - of

    @property
    def reason(self) -> str:
        """Why it is out of the band; "" if it is not. An interval does not widen it."""
        if self.apart is None:
            return "the kernel was not measured"
        if abs(self.apart) <= self.band:
            return ""
        why = self.miss.get("why", "cause not known")
        return f"{self.apart:+.2g} {self.unit}, band ±{self.band:g}; {why}"

    @property
    def cause(self) -> str:
        """Which of `CAUSES` it is out of its band for; "" if it is in the band."""
        return self.miss.get("cause", UNEXPLAINED) if self.reason else ""

    @property
    def ends(self) -> list[str]:
        """The last cells of its row: how far apart, and the band."""
        apart = "" if self.apart is None else f"{self.apart:+.2f} {self.unit}"
        return [apart, f"±{self.band:g} {self.unit}"]


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
        body = [[name, band, *starmap(_shown, numbers)] for name, band, numbers in self.rows]
        columns = zip(*(numbers for _, _, numbers in self.rows), strict=True)
        inside = [str(sum(good for _, good in column)) for column in columns]
        return [*body, [f"in their band, of {len(body)}", "", *inside]]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types only."""
        rows = [
            {"row": name, "band": band, "cells": [[_json(v), good] for v, good in numbers]}
            for name, band, numbers in self.rows
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
    fields = _read(document["made"])
    variants, picture = fields["variants"], fields["picture"]
    if variants is not None:
        rows = [(name, band, [*map(tuple, numbers)]) for name, band, numbers in variants["rows"]]
        fields["variants"] = Variants(variants["says"], variants["names"], rows)
    if picture is not None:
        panels = [Panel(**{**p, "lines": [*map(_line, p["lines"])]}) for p in picture["panels"]]
        fields["picture"] = Picture(panels, picture["columns"])
    fields["checks"] = [Check(**check) for check in fields["checks"]]
    fields["drawn"] = tuple(fields["drawn"])
    seeds, quick, wall_s = (document[name] for name in ("seeds", "quick", "wall_s"))
    return CachedResult(Reproduction(**fields), seeds, quick, wall_s)


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


def print_reproduction(made: Reproduction) -> None:
    """Print the table with a verdict for each row, then the reasons, then the notes."""
    out = console()
    out.print(made.title, style="bold")
    headings = [c.replace(" ", "\n", 1) if len(c) > 9 else c for c in made.columns]
    body = table(*headings, "verdict", left=0)
    for row, word in zip(cells(made), made.words, strict=True):
        body.add_row(*row, word, style="bold red" if word == "OUT" else None)
    show_table(out, body)
    for row, reason in zip(made.rows, made.reasons, strict=True):
        if reason:
            out.print(f"{row_name(made, row)}: {reason}", style="red")
    for note in [*made.notes, *(f"No verdict: {line}" for line in made.unjudged)]:
        out.print(note)
    if made.variants is not None:
        out.print("What the paper leaves open, side by side", style="bold")
        body = table(*("\n".join(wrap(name, 16)) for name in made.variants.columns), left=1)
        for cell in made.variants.cells():
            body.add_row(*cell)
        show_table(out, body)
        out.print(made.variants.says)
    out.print(f"{made.summary}.", style="bold green" if made.agrees else "bold red")


def cells(made: Reproduction) -> list[list[str]]:
    """Return the rows as text; the numbers of a column have the same decimals."""
    decimals = [_decimals(column) for column in zip(*made.rows, strict=True)]
    return [
        [_cell(cell, places) for cell, places in zip(row, decimals, strict=True)]
        for row in made.rows
    ]


def _decimals(column: Iterable[Any]) -> int:
    """Decimals for four digits of each float of a column; 0 for a column of integers."""
    floats = (f"{cell:.4g}" for cell in column if isinstance(cell, float))
    return max((len(text.partition(".")[2]) for text in floats), default=0)


def _cell(cell: Any, decimals: int) -> str:
    if cell is None:
        return NOT_MEASURED
    if isinstance(cell, Metric):
        return show(cell, digits=digits(cell))
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return str(cell)
    if cell and math.isfinite(cell):  # with different units, 150 and 0.002 may be in one column
        return f"{cell:.{min(decimals, max(3 - math.floor(math.log10(abs(cell))), 0))}f}"
    return f"{cell:.{min(decimals, 4)}f}"


def by_cause(made: Iterable[Reproduction]) -> dict[str, int]:
    """Return the number of rows that are out of their band, by cause, the most first."""
    return dict(Counter(cause for result in made for cause in result.causes if cause).most_common())


def causes_in_words(made: Iterable[Reproduction]) -> list[str]:
    """Return lines on rows that agree that a print is wrong, and on the causes of the others."""
    made = list(made)
    wrong = sum(result.words.count("print wrong") for result in made)
    lines = [f"Of the rows in their band, {wrong} agree that the print is wrong."] if wrong else []
    out = ", ".join(f"{cause} {many}" for cause, many in by_cause(made).items())
    return [*lines, *([f"Rows out of their band, by cause: {out}."] if out else [])]


@dataclass(frozen=True, slots=True)
class Count:
    """Counts of one kind of comparison.

    Attributes
    ----------
    kind : kind of comparison, one of KINDS.
    rows, inside : number of rows of this kind, and of those in their band.
    published : number of rows with a printed number; the others have a statement.
    open_to_full, of_utilization : number of rows about utilization that would also pass if the
        link were never idle, for any buffer; and number of all rows about utilization.
    """

    kind: str
    rows: int
    inside: int
    published: int
    open_to_full: int
    of_utilization: int

    def to_dict(self) -> dict[str, Any]:
        """Return its form in the document of ``reproduce --json``."""
        return {
            "kind": self.kind,
            "rows": self.rows,
            "in_band": self.inside,
            "with_published_number": self.published,
            "of_utilization": self.of_utilization,
            "passed_by_a_link_never_idle": self.open_to_full,
        }


def count(made: Iterable[Reproduction]) -> list[Count]:
    """Count the checks of some reproductions by kind; a kind without checks has no entry.

    A row with verdicts for both the simulation and the testbed counts in both kinds.
    """
    checks = [check for result in made for check in result.checks]
    counts = []
    for kind in KINDS:
        own = [check for check in checks if check.kind == kind]
        full = [check.full_passes for check in own if check.full_passes is not None]
        if own:
            good, numbers = sum(c.good for c in own), sum(c.published for c in own)
            counts.append(Count(kind, len(own), good, numbers, sum(full), len(full)))
    return counts


def in_words(counts: Iterable[Count]) -> list[str]:
    """Return a line for each kind, and one on rows that a link which is never idle would pass."""
    counts = list(counts)
    lines = [
        f"{tally.kind}: {tally.inside} of {tally.rows} rows in their band; "
        f"{tally.published} of the {tally.rows} have a number in print"
        for tally in counts
    ]
    busy = sum(tally.of_utilization for tally in counts)
    if busy:
        full = sum(tally.open_to_full for tally in counts)
        lines.append(
            f"Of {busy} checks of how busy a link is, {full} would also pass with a link that is "
            f"never idle, whatever its buffer; the other {busy - full} would not."
        )
    return lines
