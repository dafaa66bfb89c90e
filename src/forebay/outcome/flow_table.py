"""The table of flows: one row for each flow or transfer of a run, as columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from forebay.files.columns import BLOCK_ROWS, record_batch, write_columns
from forebay.packages import import_package

if TYPE_CHECKING:
    pass


_WHOLE_OR_NONE = ("size_bytes", "application_bytes")
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
        write_columns(path, self.blocks(), _WHOLE_OR_NONE)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream. Raises MissingPackage."""
        pyarrow = import_package("an Arrow stream", "pyarrow")
        batches = [record_batch(block, _WHOLE_OR_NONE) for block in self.blocks()]
        return pyarrow.Table.from_batches(batches).__arrow_c_stream__(requested_schema)

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks; of a table without rows, one without rows."""
        for first in range(0, max(self.rows, 1), BLOCK_ROWS):
            part = {name: column[first : first + BLOCK_ROWS] for name, column in self.items()}
            yield FlowTable(part)


class RowsInBlocks(Protocol):
    """Rows of the table of flows, all or of one replication."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def blocks(self) -> Iterator[FlowTable]:
        """Yield the rows in blocks, at least one."""


class KeptFlows:
    """The rows that a run kept. A file of them is made without the table, which is larger."""

    def __init__(self, parts: Sequence[RowsInBlocks]) -> None:
        self._parts = list(parts)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(part.rows for part in self._parts)

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write them as `FlowTable.export` does."""
        write_columns(path, self._blocks(), _WHOLE_OR_NONE)

    def table(self) -> FlowTable:
        """Return the table, which is kept instead of what it was made of."""
        match self._parts:
            case [FlowTable() as table]:
                return table
        table = FlowTable.concatenate(list(self._blocks()))
        self._parts = [table]
        return table

    def __reduce__(self) -> tuple[type[KeptFlows], tuple[list[FlowTable]]]:
        return KeptFlows, ([self.table()],)

    def _blocks(self) -> Iterator[FlowTable]:
        return (block for part in self._parts for block in part.blocks())
