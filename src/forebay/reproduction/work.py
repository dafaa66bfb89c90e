"""The frame of an artefact: what it is asked, and the run of one that ships.

An artefact of this package is a function with the name of its folder, which has its claims, its
scenario and its page::

    @artefact(testbed=cells, testbed_seeds=3)
    def fig16(work: Work) -> Reproduction:
        found = work.over(points, watch)     # watch(work, *point) for each point
        return work.judge(numbers(found), picture=picture(found))
"""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

import forebay
from forebay.effort import DEFAULT, Effort
from forebay.progress import Progress
from forebay.report.picture import Line, Panel, Picture
from forebay.reproduction.claims import TESTBED, Claim, read_claims
from forebay.reproduction.measured import Cell, record
from forebay.reproduction.result import (
    KERNEL,
    SIMULATION,
    UNEXPLAINED,
    Ours,
    Reproduction,
    Row,
    Variants,
)

Point = TypeVar("Point")
Value = TypeVar("Value")
LINK = "bottleneck"


@runtime_checkable
class Artefact(Protocol):
    """One table or figure of one paper: a module or an object with this function.

    Other packages declare artefacts by entry points of the group ``forebay.artefacts``::

        [project.entry-points."forebay.artefacts"]
        "mylab-2026/fig1" = "mylab.fig1"
    """

    def reproduce(self, effort: Effort = ..., quick: bool = ...) -> Reproduction:
        """Reproduce it and judge each row.

        Parameters
        ----------
        effort : replications, which an artefact without randomness ignores, threads and progress.
        quick : fewer points and shorter windows for the same claims; ignored by artefacts that
            only calculate.
        """
        ...


@runtime_checkable
class MeasuredArtefact(Artefact, Protocol):
    """An artefact with testbed runs."""

    def measure(
        self, *, seeds: int = ..., progress: Progress | None = ..., again: bool = ...
    ) -> list[str]:
        """Record missing runs, or all with ``again``; return a line for each rejected run."""
        ...


@dataclass(frozen=True, slots=True)
class Work:
    """One run of an artefact, or of a part of it.

    Attributes
    ----------
    folder : where its claims, scenario and records are.
    quick : fewer points and shorter windows for the same claims.
    effort : replications, threads, and whom to tell how far it is.
    """

    folder: Path
    quick: bool
    effort: Effort

    @property
    def name(self) -> str:
        """Its name, such as "appenzeller-2004/fig15"."""
        return f"{self.folder.parent.name}/{self.folder.name}".replace("_", "-")

    def of(self, seeds: int) -> Work:
        """Return the same with so many replications."""
        return replace(self, effort=self.effort.of(seeds))

    def at_most(self, seeds: int) -> Work:
        """Return the same with no more than so many replications."""
        return self.of(min(self.effort.seeds, seeds))

    def once_if_quick(self, most: int = sys.maxsize) -> Work:
        """Return the same with one replication if it is quick, else no more than so many."""
        return self.of(1) if self.quick else self.at_most(most)

    def shares(self, count: int) -> Iterator[Work]:
        """Yield the work of each of ``count`` equal parts, in their order."""
        return (replace(self, effort=effort) for effort in self.effort.shares(count))

    def each(self, points: Sequence[Point]) -> Iterator[tuple[Point, Work]]:
        """Yield every point with the work of its part."""
        return zip(points, self.shares(len(points)), strict=True)

    def over(self, points: Sequence[Any], function: Callable[..., Value]) -> dict[Any, Value]:
        """Return ``function(work, *point)`` by point; a point may be one thing or a tuple."""
        return {
            point: function(work, *(point if isinstance(point, tuple) else (point,)))
            for point, work in self.each(points)
        }

    def over_seeds(self, function: Callable[[Work, int], Value]) -> list[Value]:
        """Return ``function(work, seed)`` for each replication."""
        return list(self.over(range(1, self.effort.seeds + 1), function).values())

    def untold(self) -> Work:
        """Return the same without a callback, for what no share of the progress was kept for."""
        return replace(self, effort=replace(self.effort, progress=None))

    def load(self, sets: Iterable[str] = ()) -> forebay.Scenario:
        """Return the artefact's scenario with settings in the notation of --set."""
        return forebay.load(self.folder / "scenario.toml", list(sets))

    def play(self, scenario: forebay.Scenario) -> forebay.Outcome:
        """Simulate a scenario."""
        effort = self.effort
        return forebay.run(scenario, seeds=effort.seeds, jobs=effort.jobs, progress=effort.progress)

    def replication(self, scenario: forebay.Scenario, seed: int) -> forebay.Outcome:
        """Simulate one replication of a scenario."""
        return forebay.run(scenario, seed=seed, jobs=1, progress=self.effort.progress)

    def run(self, sets: Iterable[str] = ()) -> forebay.Outcome:
        """Simulate the artefact's scenario."""
        return self.play(self.load(sets))

    def used(self, sets: Iterable[str] = ()) -> float:
        """Simulate it and return the link's utilization."""
        return value(self.run(sets).links[LINK].utilization)

    def trace(self, sets: Iterable[str] = (), step: str = "10 ms", seed: int = 1) -> Any:
        """Trace the first flow of the artefact's scenario."""
        return self.watch(self.load(sets), step, seed)

    def watch(
        self, scenario: forebay.Scenario, step: str = "10 ms", seed: int = 1, flows: Any = (0,)
    ) -> Any:
        """Trace some flows of a scenario."""
        told = self.effort.progress
        return forebay.trace(scenario, step=step, flows=flows, seed=seed, progress=told)

    def toml(self, name: str) -> dict[str, Any]:
        """Return the content of a file of the folder."""
        return tomllib.loads((self.folder / name).read_text("utf-8"))

    def judge(
        self,
        ours: Mapping[str, Ours],
        *,
        testbed: Mapping[str, Ours] | None = None,
        notes: Iterable[str] = (),
        picture: Picture | None = None,
        left_out: Collection[str] = (),
        variants: Variants | None = None,
    ) -> Reproduction:
        """Compare numbers with the claims of ``claims.toml``, one row for each.

        Raises ValueError: a claim has no number, or a number has no claim.

        Parameters
        ----------
        testbed : mapping, optional
            The testbed's numbers, for another column. A row then holds if both numbers are in the
            band; a number that was not run there is not judged.
        left_out : claims that a quick run omits; they are named, not shown.
        """
        page, every = self.toml("claims.toml"), read_claims(self.folder)
        claims = [claim for claim in every if claim.name not in left_out]
        ours = {name: value for name, value in ours.items() if name not in left_out}
        if odd := sorted({claim.name for claim in claims} ^ set(ours)):
            raise ValueError(f"{self.name}: {', '.join(odd)} stand on one side only")
        if stray := sorted(set(testbed or {}) - set(ours)):
            raise ValueError(f"{self.name}: no claim is called {', '.join(stray)}")
        kind, exp = page.get("kind", SIMULATION), [] if testbed is None else [TESTBED]
        rows = [_judged(c, kind, ours[c.name], testbed) for c in claims if not c.cannot_fail]
        quick = [f"Not tried by a quick run: {c.says}." for c in every if c.name in left_out]
        return self.of_rows(
            rows,
            {
                "title": page["title"],
                "columns": ["claim", "where", "published", "band", "ours", *exp, "unit"],
                "notes": [*page.get("notes", ()), *notes, *quick],
                "drawn": ("published", "ours", *exp),
            },
            picture=picture,
            unjudged=[claim.note(ours[claim.name]) for claim in claims if claim.cannot_fail],
            variants=variants,
        )

    def variants(
        self, found: Mapping[str, Mapping[str, Ours]], left_out: Collection[str] = ()
    ) -> Variants:
        """Tabulate the claims' numbers for several variants of the set-up, the chosen first.

        Claims ``left_out`` have no number.
        """
        claims = [
            claim for claim in read_claims(self.folder)
            if not claim.cannot_fail and claim.name not in left_out
        ]  # fmt: skip
        rows = [
            (claim.says, claim.band, [(numbers[claim.name], claim.holds(numbers[claim.name]))
                                      for numbers in found.values()])
            for claim in claims
        ]  # fmt: skip
        return Variants(self.toml("claims.toml")["open"], list(found), rows)

    def under_each(
        self,
        variants: Mapping[str, Any],
        chosen: Mapping[str, Ours],
        numbers: Callable[[Work, Any], Mapping[str, Ours]],
        most: int = sys.maxsize,
        left_out: Collection[str] = (),
    ) -> Variants | None:
        """Tabulate the numbers by variant; those of the first are given. None if it is quick.

        ``numbers(work, variant)`` of the others has at most so many replications.
        """
        if self.quick:
            return None
        few, (first, *others) = self.untold().at_most(most), variants
        by_variant = {first: chosen, **{name: numbers(few, variants[name]) for name in others}}
        return self.variants(by_variant, left_out)

    def table(
        self,
        rows: Sequence[Row],
        *,
        notes: Iterable[str] = (),
        picture: Picture | None = None,
        unjudged: Sequence[str] = (),
    ) -> Reproduction:
        """Return rows under the head of ``published.toml``."""
        page = self.toml("published.toml")
        page["notes"] = [*page.get("notes", ()), *notes]
        return self.of_rows(rows, page, picture=picture, unjudged=unjudged)

    def of_rows(
        self,
        rows: Sequence[Row],
        page: Mapping[str, Any],
        *,
        picture: Picture | None = None,
        unjudged: Sequence[str] = (),
        variants: Variants | None = None,
    ) -> Reproduction:
        """Return rows under a head: title and columns, perhaps notes, labels, drawn and unit."""
        return Reproduction(
            artefact=self.name, title=page["title"], columns=list(page["columns"]),
            rows=[row.cells for row in rows], reasons=[row.reason for row in rows],
            causes=[row.reason and row.cause for row in rows],
            checks=[check for row in rows for check in row.checks],
            prints_wrong=[row.prints_wrong for row in rows],
            units=[row.unit for row in rows] if any(row.unit for row in rows) else [],
            notes=list(page.get("notes", ())), labels=page.get("labels", 1),
            drawn=tuple(page.get("drawn", ())), unit=page.get("unit", ""),
            picture=picture, unjudged=list(unjudged), variants=variants,
        )  # fmt: skip


def _judged(claim: Claim, kind: str, ours: Ours, testbed: Mapping[str, Ours] | None) -> Row:
    """Return a claim's row, with the testbed's number if its numbers have a column."""
    played = None if testbed is None else testbed.get(claim.name)
    both = claim.reason(ours), claim.testbed_reason(played, ours)
    checks = [claim.check(claim.kind or kind, ours)]
    checks += [] if played is None else [claim.check(KERNEL, played)]
    column = [] if testbed is None else [played]
    return Row(
        [claim.says, claim.where, claim.published, claim.band, ours, *column, claim.unit],
        "; ".join(filter(None, both)), checks, claim.cause or UNEXPLAINED, claim.unit,
        claim.prints_wrong,
    )  # fmt: skip


Made = Callable[[Work], Reproduction]


@dataclass(frozen=True, slots=True)
class Shipped:
    """An artefact of this package."""

    function: Made
    folder: Path

    def reproduce(self, effort: Effort = DEFAULT, quick: bool = False) -> Reproduction:
        """Reproduce it; see `Artefact`."""
        return self.function(Work(self.folder, quick, effort))


@dataclass(frozen=True, slots=True)
class Tested(Shipped):
    """One with a testbed part."""

    cells: Callable[[], Iterable[Cell]]
    times: int
    records: Path

    def measure(
        self, *, seeds: int = 0, progress: Progress | None = None, again: bool = False
    ) -> list[str]:
        """Record missing runs; see `MeasuredArtefact`."""
        asked = range(1, (seeds or self.times) + 1)
        return record(self.records, self.cells(), seeds=asked, progress=progress, again=again)


def artefact(
    testbed: Callable[[], Iterable[Cell]] | None = None,
    testbed_seeds: int = 3,
    records: Path | None = None,
) -> Callable[[Made], Shipped]:
    """Make a function an artefact; its data are in the folder of its name beside the module.

    Parameters
    ----------
    testbed : returns the cells that ``--testbed`` runs; each run is recorded.
    testbed_seeds : runs of each cell.
    records : folder of the records, if it is not the artefact's.
    """

    def declared(function: Made) -> Shipped:
        module = sys.modules[function.__module__]
        folder = Path(str(module.__file__)).resolve().parent / function.__name__
        if testbed is None:
            return Shipped(function, folder)
        return Tested(function, folder, testbed, testbed_seeds, records or folder)

    return declared


def value(metric: Any) -> float:
    """Return a metric's value; NaN if it was not measured."""
    return math.nan if metric is None else float(metric.value)


def mean_queue(outcome: forebay.Outcome) -> float:
    """Return the mean number of packets that wait."""
    queue = outcome.links[LINK].queue_packets
    return value(queue and queue.mean)


def need(ladder: Sequence[float], reached: Sequence[float], target: float) -> float:
    """Return the size that first reaches a target, by its logarithm; beyond the ladder, its end."""
    rising = np.maximum.accumulate(reached)
    return float(np.exp(np.interp(target, rising, np.log(ladder))))


def farthest(values: Iterable[float], of: float) -> float:
    """Return the value that differs most from another."""
    return max(values, key=lambda number: abs(number - of))


def bars(samples: Any, bins: int, name: str, within: Any = None) -> tuple[Any, Line]:
    """Return the middles of a histogram, and its densities as bars of a figure."""
    density, edges = np.histogram(samples, bins=bins, range=within, density=True)
    middles = (edges[1:] + edges[:-1]) / 2
    return middles, Line(middles.tolist(), density.tolist(), name, "bars")


def chart(lines: Sequence[Line], x: str, y: str, log: Any = "") -> Picture:
    """Return a figure of one pair of axes."""
    return Picture([Panel(lines, x, y, log=log)])
