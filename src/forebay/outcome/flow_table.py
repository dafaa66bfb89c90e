"""The table of flows: one row for each flow or transfer of a run, as columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.files.atomic import replacing
from forebay.files.tables import is_parquet
from forebay.packages import import_package

_BLOCK = 100_000
"""Rows that are written at a time."""
_WHOLE_OR_NONE = ("size_bytes",)
"""Columns of whole numbers in which NaN says that there is none."""


class FlowTable(dict[str, NDArray[Any]]):
    """Read-only columns by name, each of shape (rows,); docs/reference/readings.md defines them.

    ``pandas.DataFrame(table)``, ``polars.DataFrame(table)`` and ``pyarrow.table(table)`` take it as
    it is, and any reader of Arrow's stream protocol does. NaN is what there was none of.
    """

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__
    __ne__ = object.__ne__

    def __init__(self, columns: dict[str, NDArray[Any]]) -> None:
        super().__init__(columns)
        for column in self.values():
            column.setflags(write=False)

    @classmethod
    def concatenate(cls, tables: Sequence[FlowTable]) -> FlowTable:
        """Return the rows of all tables (at least one), in their order."""
        if len(tables) == 1:
            return tables[0]
        return cls({name: np.concatenate([each[name] for each in tables]) for name in tables[0]})

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values())))

    def __repr__(self) -> str:
        return f"FlowTable({self.rows} rows: {', '.join(self)})"

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame(dict(self))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write a .csv or, with pyarrow, .parquet file; none is left half written.

        Raises
        ------
        OSError, MissingPackage
            It cannot be written; pyarrow is missing.
        """
        if is_parquet(path):
            self._write_parquet(path)
            return
        with replacing(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(self)
            for block in self._blocks():
                out.writerows(zip(*(_cells(*each) for each in block.items()), strict=True))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream. Raises MissingPackage."""
        pyarrow = import_package("an Arrow stream", "pyarrow")
        batches = [_batch(pyarrow, block) for block in self._blocks()]
        return pyarrow.Table.from_batches(batches).__arrow_c_stream__(requested_schema)

    def _write_parquet(self, path: str | os.PathLike[str]) -> None:
        pyarrow = import_package("a Parquet file", "pyarrow")
        from pyarrow import parquet

        blocks = (_batch(pyarrow, block) for block in self._blocks())
        first = next(blocks)
        with replacing(path) as raw, parquet.ParquetWriter(raw, first.schema) as writer:
            writer.write_batch(first)
            for batch in blocks:
                writer.write_batch(batch)

    def _blocks(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the rows in blocks; of a table without rows, one without rows."""
        for start in range(0, max(self.rows, 1), _BLOCK):
            yield {name: column[start : start + _BLOCK] for name, column in self.items()}


def _cells(name: str, column: NDArray[Any]) -> list[Any]:
    """Return a column's values for a CSV file; NaN is an empty cell."""
    if column.dtype == np.bool_:
        column = np.where(column, "true", "false")
    whole, values = name in _WHOLE_OR_NONE, list(column.tolist())
    if column.dtype.kind != "f":
        return values
    return [(int(x) if whole else x) if x == x else "" for x in values]


def _batch(pyarrow: Any, block: dict[str, NDArray[Any]]) -> Any:
    return pyarrow.record_batch({name: _array(pyarrow, name, of) for name, of in block.items()})


def _array(pyarrow: Any, name: str, column: NDArray[Any]) -> Any:
    if column.dtype.kind == "O":
        return pyarrow.array(column, pyarrow.string())
    if column.dtype.kind != "f":
        return pyarrow.array(column)
    made = pyarrow.array(column, mask=np.isnan(column))
    return made.cast(pyarrow.int64()) if name in _WHOLE_OR_NONE else made
