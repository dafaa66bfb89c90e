"""Claims of a paper as checkable statements: our number and a band for it.

An artefact has its claims, with each band and its reason, in ``claims.toml``, and passes its
numbers by name. The format is the same for all artefacts::

    title = "Appenzeller et al. 2004, section 5.1.4: …"
    notes = ["…"]                            # on the whole artefact
    open = "…"                               # which variants of the set-up the paper may have had
    kind = "formula against print"           # of all claims; else simulation against print

    [[claim]]
    name = "small-buffer"                    # name of the number that the artefact passes
    says = "99 % with 165 packets"           # the paper's statement, in our words
    where = "5.1.4"
    unit = "%"
    at_least = 98.9                          # the band: one end or both
    because = "printed without decimals …"   # where the band comes from
    published = 99                           # only if the paper prints a number
    miss = "…"                               # only for a miss: what is known of its cause
    cause = "misprint"                       # with miss: which of CAUSES it is
    testbed_miss = "…"                       # the same for the testbed, if it differs
    if_never_idle = 100                      # the number of a link that is never idle
    kind = "ours against ours"               # if it differs from the artefact's kind

A number that cannot fail, because the scenario itself sets it, has no band and no verdict::

    cannot_fail = "the scenario sets it"
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from forebay.outcome import Metric
from forebay.report.picture import Picture
from forebay.reproduction.result import (
    CAUSES,
    KERNEL,
    SIMULATION,
    UNEXPLAINED,
    Check,
    Ours,
    Reproduction,
    Variants,
    plain,
)

COLUMNS = ["claim", "where", "published", "band", "ours", "unit"]
TESTBED = "Exp. ours"
"""The column for the testbed's numbers, next to "ours"."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement and its band; it holds if our number is in the band."""

    name: str
    says: str
    where: str
    because: str
    unit: str = ""
    published: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    miss: str = ""
    cause: str = ""
    testbed_miss: str = ""
    if_never_idle: float | None = None
    kind: str = ""
    cannot_fail: str = ""

    def __post_init__(self) -> None:
        if (self.at_least is None and self.at_most is None) != bool(self.cannot_fail):
            raise ValueError(
                f"claim {self.name!r}: write at_least, at_most, or both; or cannot_fail"
            )
        if self.cause not in ("", *CAUSES):
            raise ValueError(f"claim {self.name!r}: cause is none of {', '.join(CAUSES)}")

    def note(self, ours: Ours) -> str:
        """Return the note on a number that cannot fail."""
        value = ours.value if isinstance(ours, Metric) else ours
        shown = "not measured" if value is None else f"{plain(value)} {self.unit}".rstrip()
        printed = "" if self.published is None else f", printed {plain(self.published)}"
        return f"{self.says} ({self.where}): {shown}{printed}; {self.cannot_fail}"

    def holds(self, ours: Ours) -> bool:
        """Whether a number is in the band."""
        return not self.reason(ours)

    @property
    def full_passes(self) -> bool | None:
        """Whether a link that is never idle would pass; None if the claim is not about that."""
        return None if self.if_never_idle is None else self.holds(self.if_never_idle)

    @property
    def prints_wrong(self) -> bool:
        """Whether the band is about what the print should say: the printed number is not in it."""
        return self.published is not None and not self.holds(self.published)

    @property
    def band(self) -> str:
        """The band as text; empty for a number that cannot fail."""
        low, high = self.at_least, self.at_most
        if low is not None and high is not None:
            return f"{plain(low)} to {plain(high)}"
        if high is not None:
            return f"at most {plain(high)}"
        return "" if low is None else f"at least {plain(low)}"

    def reason(self, ours: Ours) -> str:
        """Why the claim does not hold; "" if it does. An interval does not widen the band."""
        return self._reason(ours, self.miss)

    def testbed_reason(self, testbed: Ours, ours: Ours) -> str:
        """Why it does not hold on the testbed; "" if it does, or was not run there."""
        if testbed is None:
            return ""
        same = "the same cause" if self.miss and self.reason(ours) else ""
        why = self._reason(testbed, self.testbed_miss or same)
        return f"{TESTBED}: {why}" if why else ""

    def _reason(self, ours: Ours, miss: str) -> str:
        value = ours.value if isinstance(ours, Metric) else ours
        if value is None or math.isnan(value):
            return "not measured"
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        if low <= value <= high:
            return ""
        cause = miss or "cause not known"
        return f"{plain(value)} {self.unit}".rstrip() + f", band {self.band}; {cause}"


def read_claims(folder: Path) -> list[Claim]:
    """Return the claims of ``folder/claims.toml``, in their order."""
    with (folder / "claims.toml").open("rb") as file:
        return [Claim(**each) for each in tomllib.load(file)["claim"]]


def judge(
    artefact: str,
    title: str,
    folder: Path,
    ours: Mapping[str, Ours],
    *,
    testbed: Mapping[str, Ours] | None = None,
    notes: Iterable[str] = (),
    picture: Picture | None = None,
    kind: str = SIMULATION,
    left_out: Collection[str] = (),
    variants: Variants | None = None,
) -> Reproduction:
    """Compare numbers with the claims of ``folder/claims.toml``, one row for each.

    Parameters
    ----------
    testbed : mapping, optional
        The testbed's numbers, for another column. A row then holds if both numbers are in the
        band; a number that was not run there is not judged.
    left_out : claims that a quick run omits; they are named, not shown.
    kind : kind of comparison of all claims without their own kind.

    Raises
    ------
    ValueError
        A claim has no number, or a number has no claim.
    """
    every = [claim for claim in read_claims(folder) if claim.name not in left_out]
    ours = {name: value for name, value in ours.items() if name not in left_out}
    claims = [claim for claim in every if not claim.cannot_fail]
    if {claim.name for claim in every} != set(ours):
        odd = sorted({claim.name for claim in every} ^ set(ours))
        raise ValueError(f"{artefact}: {', '.join(odd)} stand on one side only")
    if stray := sorted(set(testbed or {}) - set(ours)):
        raise ValueError(f"{artefact}: no claim is called {', '.join(stray)}")
    reasons = [
        _reasons(claim, ours[claim.name], (testbed or {}).get(claim.name)) for claim in claims
    ]
    made = Reproduction(
        artefact=artefact,
        title=title,
        columns=COLUMNS,
        rows=[_row(claim, ours[claim.name]) for claim in claims],
        reasons=reasons,
        causes=[
            (claim.cause or UNEXPLAINED) if why else ""
            for claim, why in zip(claims, reasons, strict=True)
        ],
        prints_wrong=[claim.prints_wrong for claim in claims],
        notes=[*notes, *_left_out(folder, left_out)],
        drawn=("published", "ours"),
        units=[claim.unit for claim in claims],
        picture=picture,
        checks=[check for claim in claims for check in _checks(claim, ours, testbed or {}, kind)],
        unjudged=[claim.note(ours[claim.name]) for claim in every if claim.cannot_fail],
        variants=variants,
    )
    return (
        made
        if testbed is None
        else _add_column(made, [testbed.get(claim.name) for claim in claims])
    )


def _left_out(folder: Path, names: Collection[str]) -> list[str]:
    said = [claim.says for claim in read_claims(folder) if claim.name in names]
    return [f"Not tried by a quick run: {each}." for each in said]


def _checks(
    claim: Claim, ours: Mapping[str, Ours], testbed: Mapping[str, Ours], kind: str
) -> list[Check]:
    found = [(claim.kind or kind, ours[claim.name])]
    played = testbed.get(claim.name)
    if played is not None:
        found.append((KERNEL, played))
    printed = claim.published is not None
    return [Check(which, claim.holds(value), printed, claim.full_passes) for which, value in found]


def side_by_side(
    folder: Path, found: Mapping[str, Mapping[str, Ours]], says: str, left_out: Collection[str] = ()
) -> Variants:
    """Tabulate the claims' numbers for several variants of the set-up.

    Parameters
    ----------
    found : numbers by variant and by claim; the first variant is the one chosen beforehand.
    says : which of the variants the paper may have used.
    left_out : claims that the variants have no number for.
    """
    every = [claim for claim in read_claims(folder) if not claim.cannot_fail]
    claims = [claim for claim in every if claim.name not in left_out]
    rows = [
        (
            claim.says,
            claim.band,
            [(each[claim.name], claim.holds(each[claim.name])) for each in found.values()],
        )
        for claim in claims
    ]
    return Variants(says, list(found), rows)


def _reasons(claim: Claim, ours: Ours, testbed: Ours) -> str:
    both = claim.reason(ours), claim.testbed_reason(testbed, ours)
    return "; ".join(each for each in both if each)


def _row(claim: Claim, ours: Ours) -> list[Any]:
    return [claim.says, claim.where, claim.published, claim.band, ours, claim.unit]


def _add_column(made: Reproduction, column: list[Ours]) -> Reproduction:
    """Return it with the testbed's column between ours and the unit."""
    rows = [[*row[:-1], cell, row[-1]] for row, cell in zip(made.rows, column, strict=True)]
    columns = [*COLUMNS[:-1], TESTBED, COLUMNS[-1]]
    return replace(made, columns=columns, rows=rows, drawn=(*made.drawn, TESTBED))
