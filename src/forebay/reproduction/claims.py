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

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

from forebay.outcome import Metric
from forebay.reproduction.result import CAUSES, Check, Ours, plain

TESTBED = "Exp. ours"
"""The column of the testbed's numbers."""


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
            bounds = "write at_least, at_most, or both; or cannot_fail"
            raise ValueError(f"claim {self.name!r}: {bounds}")
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

    def check(self, kind: str, ours: Ours) -> Check:
        """Return the comparison with a number, and whether a link that is never idle passes."""
        full = None if self.if_never_idle is None else self.holds(self.if_never_idle)
        return Check(kind, self.holds(ours), self.published is not None, full)

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
        return [Claim(**entry) for entry in tomllib.load(file)["claim"]]
