"""The table of a study: one row for each replication, with the axes first."""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.files.atomic import replacing
from forebay.files.columns import is_parquet
from forebay.packages import import_package
from forebay.store import Store
from forebay.studies.plan import Asked, Cell, Plan
from forebay.studies.work import WALL
from forebay.words import toml

BLOCK = 20_000
"""Rows that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows.

    Attributes
    ----------
    keys : the values of the key columns, row by row.
    numbers : shape (rows, metrics); NaN where a metric was not measured.
    """

    keys: list[tuple[Any, ...]]
    numbers: NDArray[np.float64]


class Table:
    """The rows that a store has of a plan.

    Attributes
    ----------
    keys : the axes, the engine if there are several, and the seed.
    metrics : names and kinds ("f", "i", "b") of all metrics, in the order in which they are found.
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        self._plan, self._store = plan, store
        self.keys = (*plan.names, "seed")
        self.metrics = self._metrics()

    def _metrics(self) -> dict[str, str]:
        kinds: dict[str, str] = {}
        with self._store.rows() as rows:
            layouts = {
                layout: None
                for cell in self._plan.cells
                for asked in self._plan.asked
                for layout in rows.layouts(cell.sha256, asked.engine, asked.code)
            }
            for layout in layouts:
                for name, kind in rows.columns(layout):
                    kinds.setdefault(name, kind)
        # An interval that some rows lack stays beside its metric.
        order = {name: place for place, name in enumerate(kinds)}
        return dict(sorted(kinds.items(), key=lambda pair: _place(pair[0], order)))

    def blocks(self, most: int = BLOCK) -> Iterator[Block]:
        """Yield all rows, `most` at a time."""
        place = {name: at for at, name in enumerate(self.metrics)}
        keys: list[tuple[Any, ...]] = []
        numbers = np.full((most, len(place)), np.nan)
        places: dict[Any, NDArray[np.intp]] = {}
        with self._store.rows() as rows:
            for key, columns, values in self._rows(rows):
                if columns not in places:
                    places[columns] = np.array([place[name] for name, _ in columns], dtype=np.intp)
                numbers[len(keys), places[columns]] = values
                keys.append(key)
                if len(keys) == most:
                    yield Block(keys, numbers)
                    keys, numbers = [], np.full((most, len(place)), np.nan)
        if keys:
            yield Block(keys, numbers[: len(keys)])

    def _rows(self, rows: Any) -> Iterator[tuple[tuple[Any, ...], Any, NDArray[np.float64]]]:
        seeds = self._plan.row_seeds
        for cell in self._plan.cells:
            for asked in self._plan.asked:
                key = key_of(self._plan, asked, cell)
                for seed, version, columns, numbers in rows.read(
                    cell.sha256, asked.engine, asked.code, seeds
                ):
                    yield (*key, seed, version), columns, numbers


def as_cell(value: Any) -> Any:
    """Return a value of an axis as a number, or as text."""
    return value if isinstance(value, int | float | str) else toml(value)


def key_of(plan: Plan, asked: Asked, cell: Cell) -> tuple[Any, ...]:
    """Return what tells a cell apart, in the order of the plan's names."""
    return (*map(as_cell, cell.values), *([asked.engine] if len(plan.asked) > 1 else []))


def _place(name: str, order: dict[str, int]) -> tuple[int, int]:
    base, _, end = name.rpartition(".")
    if name == WALL:
        return len(order), 0
    if end in ("low", "high") and base in order:
        return order[base], 1 + (end == "high")
    return order[name], 0


def _texts(values: NDArray[np.float64], kind: str) -> list[str]:
    """Return a column as CSV has it: the shortest digits of each number, nothing where NaN.

    Formatting is most of an export, so a number that a whole block has is formatted once.
    """
    if values.size > 1 and (values == values[0]).all():
        return _texts(values[:1], kind) * values.size
    missing = np.isnan(values)
    texts = list(map(_FORMATS[kind], np.where(missing, 0.0, values).tolist()))
    for at in np.flatnonzero(missing):
        texts[at] = ""
    return texts


_FORMATS: dict[str, Callable[[float], str]] = {
    "f": float.__repr__,
    "i": lambda number: str(int(number)),
    "b": lambda number: str(bool(number)),
}


def write(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table to a .csv or .parquet file, block by block. Raises OSError, StudyError."""
    if is_parquet(path):
        _write_parquet(table, path)
        return
    with replacing(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="") as file:
        file.write(_line((*table.keys, *table.metrics, "version")))
        for block in table.blocks():
            kinds = enumerate(table.metrics.values())
            columns = [_texts(block.numbers[:, at], kind) for at, kind in kinds]
            *keys, version = (
                [_field(field) for field in key] for key in zip(*block.keys, strict=True)
            )
            rows = zip(*keys, *columns, version, strict=True)
            file.writelines(f"{','.join(row)}\n" for row in rows)


def _line(fields: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()


@lru_cache(maxsize=100_000)
def _field(value: Any) -> str:
    """Return a value of an axis, quoted if it needs it."""
    return _line((value,)).removesuffix("\n")


def _write_parquet(table: Table, path: str | os.PathLike[str]) -> None:
    pyarrow = import_package("a Parquet file", "pyarrow")
    from pyarrow import parquet

    schema = None
    with replacing(path) as raw:
        writer = None
        for block in arrow_blocks(table, pyarrow):
            if writer is None:
                schema = block.schema
                writer = parquet.ParquetWriter(raw, schema)
            writer.write_batch(block)
        if writer is None:
            parquet.write_table(pyarrow.table({name: [] for name in table.keys}), raw)
        else:
            writer.close()


def arrow_blocks(table: Table, pyarrow: Any) -> Iterator[Any]:
    """Yield record batches of one schema."""
    types = {"f": pyarrow.float64(), "i": pyarrow.int64(), "b": pyarrow.bool_()}
    texts = [  # whether a field of an axis has a value that is no number
        any(isinstance(as_cell(point[at]), str) for point in axis.values)
        for axis in table._plan.grid.axes for at in range(len(axis.names))
    ]  # fmt: skip
    for block in table.blocks():
        arrays = []
        for at, values in enumerate(zip(*block.keys, strict=True)):
            is_text = at < len(texts) and texts[at]
            arrays.append(pyarrow.array(list(map(str, values)) if is_text else values))
        *arrays, version = arrays
        for numbers, kind in zip(block.numbers.T, table.metrics.values(), strict=True):
            column = pyarrow.array(numbers, mask=np.isnan(numbers))
            arrays.append(column.cast(types[kind]))
        names = [*table.keys, *table.metrics, "version"]
        yield pyarrow.record_batch([*arrays, version], names)
