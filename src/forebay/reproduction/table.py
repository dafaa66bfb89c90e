"""A reproduction as a table for a terminal, its cells as text, and counts over many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from forebay.outcome import Metric
from forebay.report.tables import NOT_MEASURED, console, show, show_table, table
from forebay.reproduction.result import KINDS, Reproduction, digits, row_name


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
    for note in [*made.notes, *(f"No verdict: {each}" for each in made.unjudged)]:
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
    return dict(Counter(cause for each in made for cause in each.causes if cause).most_common())


def causes_in_words(made: Iterable[Reproduction]) -> list[str]:
    """Return lines on rows that agree that a print is wrong, and on the causes of the others."""
    made = list(made)
    wrong = sum(each.words.count("print wrong") for each in made)
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
    checks = [check for each in made for check in each.checks]
    found = []
    for kind in KINDS:
        own = [check for check in checks if check.kind == kind]
        full = [check.full_passes for check in own if check.full_passes is not None]
        if own:
            good, numbers = sum(c.good for c in own), sum(c.published for c in own)
            found.append(Count(kind, len(own), good, numbers, sum(full), len(full)))
    return found


def in_words(counts: Iterable[Count]) -> list[str]:
    """Return a line for each kind, and one on rows that a link which is never idle would pass."""
    counts = list(counts)
    lines = [
        f"{each.kind}: {each.inside} of {each.rows} rows in their band; "
        f"{each.published} of the {each.rows} have a number in print"
        for each in counts
    ]
    busy = sum(each.of_utilization for each in counts)
    if busy:
        full = sum(each.open_to_full for each in counts)
        lines.append(
            f"Of {busy} checks of how busy a link is, {full} would also pass with a link that is "
            f"never idle, whatever its buffer; the other {busy - full} would not."
        )
    return lines
