"""What others measured beside what the simulator gives, one quantity a row."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture
from forebay.reproduction import OTHERS, UNEXPLAINED, Check, Metric, Reproduction, Variants

COLUMNS = ["quantity", "measured", "simulator", "apart", "band"]


@dataclass(frozen=True, slots=True)
class Compared:
    """One quantity of one cell.

    Attributes
    ----------
    cell : the cells that name it at the left of its row.
    quantity : its name with its unit.
    measured : what others measured.
    simulated : the simulator's metric in the same unit.
    band : largest allowed difference, in points of the unit, or with ``relative`` in per cent of
        ``measured``.
    full : what a link that is never idle would give; None if the row is not about utilization.
    misses : why rows miss, by a pattern of their name (its cells and quantity), as `read_toml`
        gives it: ``why``, and ``cause`` where it is known.
    """

    cell: Sequence[Any]
    quantity: str
    measured: float
    simulated: Metric
    band: float
    relative: bool = False
    full: float | None = None
    misses: dict[str, Any] | None = None

    @property
    def unit(self) -> str:
        """Unit of `apart` and the band."""
        return "%" if self.relative else "points"

    def away(self, value: float) -> float:
        """Return how far a value is from the measured one."""
        away = value - self.measured
        return 100 * away / self.measured if self.relative else away

    @property
    def apart(self) -> float:
        """The simulator less what was measured."""
        return self.away(self.simulated.value)

    @property
    def holds(self) -> bool:
        """Whether it is in the band. An interval does not widen it."""
        return abs(self.apart) <= self.band

    @property
    def _miss(self) -> dict[str, Any]:
        """Why it misses: the first entry whose pattern fits the row's name."""
        name = " ".join([*map(str, self.cell), self.quantity])
        found = (why for like, why in (self.misses or {}).items() if fnmatchcase(name, like))
        return dict(next(found, {"why": "cause not known"}))

    @property
    def reason(self) -> str:
        """Why it is out of the band; "" if it is not."""
        if self.holds:
            return ""
        return f"{self.apart:+.2g} {self.unit}, band ±{self.band:g}; {self._miss['why']}"

    @property
    def cause(self) -> str:
        """Which of `CAUSES` it is out of its band for; "" if it is in the band."""
        return "" if self.holds else self._miss.get("cause", UNEXPLAINED)

    @property
    def check(self) -> Check:
        """Its verdict, and whether a link that is never idle would have it too."""
        never_idle = None if self.full is None else abs(self.away(self.full)) <= self.band
        return Check(OTHERS, self.holds, published=True, full_passes=never_idle)

    @property
    def row(self) -> list[Any]:
        """Its row in the artefact's table."""
        apart, band = f"{self.apart:+.2f} {self.unit}", f"±{self.band:g} {self.unit}"
        return [*self.cell, self.quantity, self.measured, self.simulated, apart, band]


def reproduction(
    name: str,
    title: str,
    labels: Sequence[str],
    seen: Sequence[Compared],
    *,
    notes: Sequence[str],
    unjudged: Sequence[str] = (),
    variants: Variants | None = None,
    picture: Picture | None = None,
) -> Reproduction:
    """Return the artefact's result: a row for each quantity, named by ``labels`` at its left."""
    return Reproduction(
        artefact=f"published/{name}",
        title=title,
        columns=[*labels, *COLUMNS],
        rows=[each.row for each in seen],
        reasons=[each.reason for each in seen],
        causes=[each.cause for each in seen],
        checks=[each.check for each in seen],
        notes=[NOTE, *notes],
        labels=len(labels) + 1,
        drawn=("measured", "simulator"),
        unjudged=list(unjudged),
        variants=variants,
        picture=picture,
    )


NOTE = (
    "apart: the simulator less what was measured, in points of the unit or in percent of the "
    "measured value; 95 % intervals over the replications."
)


def scaled(metric: Metric, factor: float, added: float = 0.0) -> Metric:
    """Return a metric and its interval in another unit, or from another zero."""
    low, high = (None if e is None else factor * e + added for e in (metric.low, metric.high))
    return Metric(value=factor * metric.value + added, low=low, high=high, n=metric.n)


def read_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of ``folder/measured.csv``."""
    with (folder / "measured.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_toml(folder: Path, name: str) -> dict[str, Any]:
    """Return the content of ``folder/name.toml``."""
    with (folder / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def panel(seen: Sequence[Compared], groups: Sequence[str], title: str, log: Any = "") -> Panel:
    """Draw simulated against measured values, a colour for each group, and the line of equals."""
    lines = []
    for group in dict.fromkeys(groups):
        own = [each for each, of in zip(seen, groups, strict=True) if of == group]
        at = [each.measured for each in own]
        lines.append(Line(at, [each.simulated.value for each in own], group, "dots"))
    ends = sorted(each.measured for each in seen)
    ends = [ends[0], ends[-1]] if ends else []
    equal = Line(ends, ends, "equal", "dashes")
    return Panel([*lines, equal], "measured", "simulator", title=title, log=log)
