"""Means of a study's cells over their seeds, and the table of them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from forebay.outcome import Metric
from forebay.outcome.statistics import over_replications
from forebay.outcome.study import StudyRow, StudyTable
from forebay.store import Store
from forebay.studies.columns import BySeed, bounds_of, columns_of
from forebay.studies.plan import Asked, Cell, Plan
from forebay.studies.table import key_of

_UNBOUNDED = (-math.inf, math.inf)
Key = tuple[Any, ...]


def stored_of(plan: Plan, store: Store) -> list[tuple[Key, BySeed]]:
    """Return the stored numbers by what tells the cells apart."""
    return [
        (key_of(plan, asked, cell), _by_seed(plan, store, asked, cell))
        for cell in plan.cells
        for asked in plan.asked
    ]


def _by_seed(plan: Plan, store: Store, asked: Asked, cell: Cell) -> BySeed:
    """Return the stored numbers of a cell, by seed and name."""
    with store.rows() as rows:
        stored = rows.read(cell.sha256, asked.engine, asked.code, plan.row_seeds)
        return {
            seed: dict(zip((name for name, _ in columns), values.tolist(), strict=True))
            for seed, _, columns, values in stored
        }


def is_settled(found: BySeed) -> bool:
    """Whether the long flows of every class had settled in every run, as far as is known."""
    return all(
        value == 1.0
        for row in found.values()
        for column, value in row.items()
        if column.startswith("class.") and column.endswith(".settled")
    )


def mean_of(found: BySeed, column: str) -> Metric | None:
    """Return the mean of a column over seeds; one seed has the interval of its own run.

    So has an answer that does not depend on the seed. There is no interval if flows had not
    settled, and none of a quantile: the mean of its values in short runs is not that of all
    packets, of which the rows have no histogram.
    """
    rows = [row for row in found.values() if column in row]
    own = {(row[column], row.get(f"{column}.low"), row.get(f"{column}.high")) for row in rows}
    if len(rows) == 1 or (len(own) == 1 and own != {(rows[0][column], None, None)}):
        ((value, low, high),) = own
        return Metric(value=value, low=low, high=high, n=len(rows))
    mean = over_replications([row[column] for row in rows], bounds_of(column, found))
    return _certain(mean, column, settled=is_settled(found))


def mean_over(cells: Sequence[BySeed], column: str) -> Metric | None:
    """Return the mean over seeds of the mean over cells, those that have the column.

    Cells share their seeds' flows, so runs of one seed count as one, and a seed counts if every
    cell has it.
    """
    known = [cell for cell in cells if any(column in row for row in cell.values())]
    if len(known) < 2:
        return mean_of(known[0], column) if known else None
    seeds = [s for s in known[0] if all(column in cell.get(s, {}) for cell in known)]
    values = [math.fsum(cell[s][column] for cell in known) / len(known) for s in seeds]
    lows, highs = zip(*(bounds_of(column, cell) for cell in known), strict=True)
    mean = over_replications(values, (min(lows), max(highs)))
    return _certain(mean, column, settled=all(map(is_settled, known)))


_QUANTILES = (".p50", ".p95", ".p99")


def _certain(mean: Metric | None, column: str, *, settled: bool) -> Metric | None:
    """Return a mean, without its interval where that would not hold."""
    if mean is None or (settled and not column.endswith(_QUANTILES)):
        return mean
    return mean.within(None, None)


def difference(first: BySeed, other: BySeed, column: str) -> Metric | None:
    """Return the mean of other - first over the seeds that both have."""
    pairs = [
        other[seed][column] - first[seed][column]
        for seed in first
        if seed in other and column in first[seed] and column in other[seed]
    ]
    if len(pairs) < 2:
        return None
    both = is_settled(first) and is_settled(other)
    return _certain(over_replications(pairs, _UNBOUNDED), column, settled=both)


def summary(plan: Plan, store: Store, columns: Sequence[str] = ()) -> StudyTable:
    """Return the table of a study.

    ``columns``: what to show; the link's utilization, loss and delay, or the size, if empty. Of a
    network the link is the one that loses most over all cells.
    """
    data = stored_of(plan, store)
    wanted = tuple(columns) or columns_of(plan.asked[0].ask, (seen for _, seen in data))
    rows = [
        StudyRow(values, tuple(mean_of(seen, name) for name in wanted), is_settled(seen))
        for values, seen in data
    ]
    shown = tuple(
        name for at, name in enumerate(wanted) if any(row.metrics[at] is not None for row in rows)
    )
    kept = [wanted.index(name) for name in shown]
    rows = [replace(row, metrics=tuple(row.metrics[at] for at in kept)) for row in rows]
    # A sizing has one row of all seeds.
    paired = len(plan.names) == 1 and plan.asked[0].ask != "size"
    what_if = _differences(data, shown) if paired else ()
    return StudyTable(plan.grid.base.name, plan.names, shown, tuple(rows), what_if)


def _differences(
    data: Sequence[tuple[Key, BySeed]], columns: Sequence[str]
) -> tuple[StudyRow, ...]:
    if len(data) < 2:
        return ()
    first = data[0][1]
    return tuple(
        StudyRow(
            values,
            tuple(difference(first, seen, column) for column in columns),
            is_settled(first) and is_settled(seen),
        )
        for values, seen in data[1:]
    )
