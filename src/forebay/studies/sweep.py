"""The result of a study: what was run, and its table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import forebay
from forebay.outcome.study import StudyTable
from forebay.packages import import_package
from forebay.report.page import study_page, study_table
from forebay.scenario.errors import ScenarioError, did_you_mean
from forebay.store import Store
from forebay.studies.batches import Count
from forebay.studies.picture import check_roles, picture
from forebay.studies.plan import Plan, of_values
from forebay.studies.summary import summary
from forebay.studies.table import Table, arrow_blocks, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SCHEMA = 1
_SHOWN = 100
"""Cells that a notebook shows."""


class Sweep:
    """A study that was run, in whole or in part. Its rows are in the store.

    Attributes
    ----------
    cells, runs : number of cells, and of rows of the whole: cells times seeds.
    ran : rows that this call made; one that another process stored first is not counted.
    stored : rows of this study that the store has.
    failed : runs that an engine could not make; `failures` has the reasons, one for each cell.
    refused : cells that were left out because they cannot be run, with the reasons.
    store : path of the store.
    """

    def __init__(self, plan: Plan, store: Path, count: Count, keep: object = None) -> None:
        self._plan, self.store, self._keep = plan, store, keep
        names = plan.grid.names
        self.cells, self.runs = len(plan.cells), plan.runs
        self.ran, self.failed = count.ran, count.failed
        self.refused = [f"{of_values(names, cell.values)}: {cell.why}" for cell in plan.refused]
        of = {cell.sha256: cell.values for cell in plan.cells}
        self.failures = [
            f"{of_values(names, of[failure.scenario.sha256()])}: {failure.why}"
            for failure in count.failures
        ]
        self.exit_status = max((failure.exit_status for failure in count.failures), default=0)
        self.stored = stored(plan, store)

    def __getstate__(self) -> dict[str, Any]:
        if self._keep is not None:
            raise ScenarioError("bad-grid.no-store", field="store")
        return self.__dict__

    def __repr__(self) -> str:
        return (
            f"Sweep({self._plan.grid.base.name!r}, {self.cells:,} cells, {self.stored:,} of "
            f"{self.runs:,} runs)"
        )

    __str__ = __repr__

    def __len__(self) -> int:
        return self.stored

    def to_dict(self) -> dict[str, Any]:
        """Return the counts, as ``forebay sweep --json`` prints them."""
        names = ("cells", "runs", "ran", "stored", "failed", "refused", "failures")
        return {"schema": SCHEMA} | {name: getattr(self, name) for name in names}

    @contextmanager
    def _table(self) -> Iterator[Table]:
        with Store(self.store) as store:
            yield Table(self._plan, store)

    @property
    def columns(self) -> list[str]:
        """Names of the table's columns: axes, engine if there are several, seed, metrics."""
        with self._table() as table:
            return [*table.keys, *table.metrics, "version"]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one dict for each replication, without metrics that were not measured."""
        with self._table() as table:
            kinds = {"f": float, "i": int, "b": bool}
            metrics = [(name, kinds[kind]) for name, kind in table.metrics.items()]
            for block in table.blocks():
                for key, numbers in zip(block.keys, block.numbers.tolist(), strict=True):
                    row = dict(zip((*table.keys, "version"), key, strict=True))
                    for (name, kind), number in zip(metrics, numbers, strict=True):
                        if number == number:
                            row[name] = kind(number)
                    yield row

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a .csv or, with pyarrow, .parquet file.

        Raises OSError, StudyError, and ScenarioError for another kind of file.
        """
        if Path(path).suffix.lower() not in (".csv", ".parquet"):
            raise ScenarioError("bad-grid.path", field="path", value=os.fspath(path))
        with self._table() as table:
            write(table, path)

    def to_dataframe(self) -> Any:
        """Return the table as a pandas.DataFrame.

        Raises
        ------
        MissingPackage
            pandas is not installed.
        """
        pandas = import_package("a DataFrame", "pandas")
        with self._table() as table:
            blocks = list(table.blocks())
            kinds = table.metrics
            keys = [key for block in blocks for key in block.keys]
            frame = pandas.DataFrame(keys, columns=[*table.keys, "version"])
            numbers = (
                np.concatenate([b.numbers for b in blocks]) if blocks else np.empty((0, len(kinds)))
            )
        metrics = pandas.DataFrame(numbers, columns=list(kinds))
        whole = {
            name: np.int64 if kind == "i" else bool
            for name, kind in kinds.items()
            if kind != "f" and not metrics[name].isna().any()
        }
        version = frame.pop("version")
        return pandas.concat([frame, metrics.astype(whole), version], axis=1)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table as an Arrow stream, as Polars and pyarrow read it; needs pyarrow."""
        pyarrow = import_package("an Arrow stream", "pyarrow")
        with self._table() as table:
            blocks = list(arrow_blocks(table, pyarrow))
        whole = pyarrow.Table.from_batches(blocks) if blocks else pyarrow.table({})
        return whole.__arrow_c_stream__(requested_schema)

    def summary(self, columns: Sequence[str] = ()) -> StudyTable:
        """Return means over seeds with 95 % intervals, cell by cell.

        A study of one axis also has the differences from its first value, paired by seed.

        Raises
        ------
        ScenarioError
            No row has such a column.
        """
        wanted = (columns,) if isinstance(columns, str) else tuple(columns)
        if wanted and self.stored:
            known = self.columns
            for name in wanted:
                if name not in known:
                    guess = did_you_mean(name, known)
                    raise ScenarioError("bad-grid.column", field="columns", value=name, guess=guess)
        return self._summary(wanted)

    def _summary(self, columns: Sequence[str] = ()) -> StudyTable:
        with Store(self.store) as store:
            return summary(self._plan, store, columns)

    def means(self, column: str) -> dict[tuple[Any, ...], float]:
        """Return the mean over seeds of a column by the values of the axes.

        Values that are no number are text, as in the table.
        """
        table = self._summary([column])
        return {row.values: float(m) for row in table.rows for m in row.metrics if m is not None}

    def check_figure(
        self,
        *,
        x: str | None = None,
        y: str | None = None,
        colour: str | None = None,
        facet: str | None = None,
    ) -> None:
        """Check what is known of the arguments of `figure` before a run. Raises ScenarioError."""
        if self._plan.grid.names:
            check_roles(self._plan, {"x": x, "y": y, "colour": colour, "facet": facet})

    def figure(
        self,
        *,
        x: str | None = None,
        y: str | None = None,
        colour: str | None = None,
        facet: str | None = None,
    ) -> Figure:
        """Return a picture: curves with bands of the 95 % intervals, or a map.

        Parameters
        ----------
        x : an axis; the first one by default.
        y : a metric, ``"link.bottleneck.utilization"`` by default, of a network that of the link
            that loses most, of sizings the recommended size, and what it uses and loses; or a
            second axis of a map, whose `colour` is then a metric.
        colour : an axis with a curve for each value; the second one by default.
        facet : an axis with a panel for each value; the third one by default.

        Raises
        ------
        ScenarioError
            There is no such axis or metric.
        """
        from forebay.report.figures.study import study_figure

        with Store(self.store) as store:
            roles = {"x": x, "y": y, "colour": colour, "facet": facet}
            return study_figure(picture(self._plan, store, roles))

    def to_html(
        self,
        *,
        x: str | None = None,
        y: str | None = None,
        colour: str | None = None,
        facet: str | None = None,
    ) -> str:
        """Return one self-contained page: the picture of `figure`, means, what was left out."""
        drawn = bool(self.stored and self._plan.grid.names)
        figure = self.figure(x=x, y=y, colour=colour, facet=facet) if drawn else None
        return study_page(self.summary(), self.to_dict(), figure, forebay.__version__)

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{study_table(self.summary(), _SHOWN)}"


def stored(plan: Plan, path: Path) -> int:
    """Return how many rows of a plan a store has."""
    wanted = set(plan.row_seeds)
    with Store(path) as store, store.rows() as rows:
        return sum(
            len(wanted & rows.seeds(cell.sha256, asked.engine, asked.code))
            for cell in plan.cells
            for asked in plan.asked
        )
