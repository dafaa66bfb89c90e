"""What rows of reproductions hold against what, and how many of each kind lie in their band."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from forebay.reproduction.result import KINDS, Reproduction

TITLE = "in band"


@dataclass(frozen=True, slots=True)
class Count:
    """How one kind of comparison came out.

    Attributes
    ----------
    kind : what is held against what, one of KINDS.
    rows, inside : how many rows are judged so, and how many of them lie in their band.
    published : how many of the rows have a number in print; the others have a statement.
    open_to_full, of_utilization : of the rows on how busy a link is, how many would also pass if
        the link were never idle, whatever the buffer; and how many such rows there are.
    """

    kind: str
    rows: int
    inside: int
    published: int
    open_to_full: int
    of_utilization: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as the document of ``reproduce --json`` has it."""
        return {
            "kind": self.kind,
            "rows": self.rows,
            "in_band": self.inside,
            "with_published_number": self.published,
            "of_utilization": self.of_utilization,
            "passed_by_a_link_never_idle": self.open_to_full,
        }


def count(made: Iterable[Reproduction]) -> list[Count]:
    """Count the checks of some reproductions apart, by kind; a kind without any has no entry.

    A row that both the simulation and the testbed's recorded runs are judged by counts in each of
    the two kinds.
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
    """Return a line for each kind, and one on the rows that a link never idle would pass."""
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
