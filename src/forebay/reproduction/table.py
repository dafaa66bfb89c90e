"""A reproduction as a table for a terminal, and its cells as text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from forebay.outcome import Metric
from forebay.report.tables import NOT_MEASURED, console, show, show_table, table
from forebay.reproduction.result import Reproduction, row_name
from forebay.reproduction.variants import Variants


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
        _print_variants(made.variants)
    out.print(f"{made.summary}.", style="bold green" if made.agrees else "bold red")


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
        return show(cell, digits=1 if abs(cell.value) >= 10 else 2 if abs(cell.value) >= 1 else 3)
    number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return f"{cell:.{min(decimals, _needed(cell))}f}" if number else str(cell)


def _needed(number: float) -> int:
    """Decimals for four digits of a number; with different units, 150 and 0.002 may be in one
    column."""
    if not number or not math.isfinite(number):
        return 4
    return max(3 - math.floor(math.log10(abs(number))), 0)
