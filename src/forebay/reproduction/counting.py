"""Counts of the rows of reproductions by kind of comparison, and of those in their band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forebay.reproduction.result import KINDS, Reproduction

TITLE = "in band"


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
