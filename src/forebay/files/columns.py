"""Tables in files, by rows or by blocks of columns: CSV, or Parquet where pyarrow is installed."""

import csv
import io
import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay._core import csv_rows
from forebay.files.atomic import replacing
from forebay.packages import import_package

Block = dict[str, NDArray[Any]]
"""Columns by name, each of shape (rows,); in floating point, NaN is what there is none of."""
BLOCK_ROWS = 100_000
"""Rows that are written at a time."""


def write_columns(
    path: str | os.PathLike[str], blocks: Iterable[Block], whole: tuple[str, ...] = ()
) -> None:
    """Write blocks (at least one) of the same columns; no file is left half written.

    ``whole`` names columns of floating point that hold whole numbers, or none.

    Raises OSError, MissingPackage: the file cannot be written; pyarrow is missing.
    """
    if is_parquet(path):
        _write_parquet(path, blocks, whole)
        return
    with replacing(path) as file:
        for number, block in enumerate(blocks):
            if number == 0:
                file.write(csv_rows([[name] for name in block], [False] * len(block)))
            cells = [_cells(column) for column in block.values()]
            file.write(csv_rows(cells, [name in whole for name in block]))


def record_batch(block: Block, whole: tuple[str, ...] = ()) -> Any:
    """Return a pyarrow.RecordBatch. Raises MissingPackage."""
    pyarrow = import_package("an Arrow stream", "pyarrow")
    arrays = {name: _array(pyarrow, of, name in whole) for name, of in block.items()}
    return pyarrow.record_batch(arrays)


def _write_parquet(
    path: str | os.PathLike[str], blocks: Iterable[Block], whole: tuple[str, ...]
) -> None:
    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    batches = (record_batch(block, whole) for block in blocks)
    first = next(batches)
    # Words repeat; numbers hardly do, and a dictionary of them costs time and no less space.
    words = [field.name for field in first.schema if field.type == pyarrow.string()]
    with (
        replacing(path) as raw,
        parquet.ParquetWriter(raw, first.schema, use_dictionary=words) as writer,
    ):
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


def _cells(column: NDArray[Any]) -> NDArray[Any] | list[str]:
    """Return a column as the core takes it for a CSV file."""
    if column.dtype.kind == "O":
        return list(column.tolist())
    kinds = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}
    return np.ascontiguousarray(column, dtype=kinds[column.dtype.kind])


def _array(pyarrow: Any, column: NDArray[Any], whole: bool) -> Any:
    """Return an Arrow array, made of buffers: ``pyarrow.array`` imports pandas, for seconds."""
    if column.dtype.kind == "O":
        return _words(pyarrow, [word.encode() for word in column.tolist()])
    known = None
    if column.dtype.kind == "f":
        there = ~np.isnan(column)
        known = None if there.all() else _bits(pyarrow, there)
        if whole:
            column = np.where(there, column, 0.0).astype(np.int64)
    values = (
        _bits(pyarrow, column)
        if column.dtype.kind == "b"
        else pyarrow.py_buffer(np.ascontiguousarray(column))
    )
    kind = pyarrow.from_numpy_dtype(column.dtype)
    return pyarrow.Array.from_buffers(kind, len(column), [known, values])


def _words(pyarrow: Any, words: list[bytes]) -> Any:
    ends = np.cumsum([0, *map(len, words)], dtype=np.int32)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(words))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(words), buffers)


def _bits(pyarrow: Any, flags: NDArray[np.bool_]) -> Any:
    return pyarrow.py_buffer(np.packbits(flags, bitorder="little"))


Row = tuple[Any, ...]


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether the name ends in .parquet."""
    return os.fspath(path).lower().endswith(".parquet")


def write_table(path: str | os.PathLike[str], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write rows in the format of the name's ending; no file is left half written."""
    with replacing(path) as raw:
        if is_parquet(path):
            _parquet_of_rows(raw, columns, rows)
            return
        with io.TextIOWrapper(raw, "utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(columns)
            out.writerows(rows)


def _parquet_of_rows(raw: Any, columns: Sequence[str], rows: Sequence[Row]) -> None:
    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    table = pyarrow.table({name: list(of) for name, of in zip(columns, values, strict=True)})
    parquet.write_table(table, raw)
