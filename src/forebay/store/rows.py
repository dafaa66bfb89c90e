"""The metrics of single replications as rows of numbers, which a table of a study is made of.

A row is a blob of little-endian float64. The names and kinds of its numbers are a layout, which
rows of one kind of scenario share. So a million rows are read without decoding replications.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["f", "i", "b"]
"""A number, a whole number, or a truth value."""
Column = tuple[str, Kind]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """The metrics of one replication.

    Attributes
    ----------
    sha256, document : the scenario's hash and its JSON.
    engine, code : what made it; see `forebay.store`.
    version : Forebay's version.
    columns, numbers : names and kinds, and the values as bytes.
    replication : the replication as bytes (`forebay.store.file`), None where there is none.
    """

    sha256: str
    document: str
    engine: str
    code: str
    version: str
    seed: int
    columns: tuple[Column, ...]
    numbers: bytes
    replication: bytes | None


def to_numbers(row: dict[str, float]) -> tuple[tuple[Column, ...], bytes]:
    """Return the columns of a flat dict of numbers, and its values as bytes."""
    columns = tuple((name, _kind(value)) for name, value in row.items())
    return columns, np.fromiter(row.values(), "<f8", len(row)).tobytes()


def _kind(value: float) -> Kind:
    if isinstance(value, bool):
        return "b"
    return "i" if isinstance(value, int) else "f"


class StoredRows:
    """Rows of metrics in a store's file. Its callers turn errors of SQLite into a StoreError."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._layouts: dict[int, tuple[str, tuple[Column, ...]]] = {}

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self._connection.execute("SELECT count(*) FROM metrics").fetchone()[0])

    def seeds(self, sha256: str, engine: str, code: str) -> set[int]:
        """Return the seeds of a scenario whose rows are stored."""
        return self._seeds("metrics", sha256, engine, code)

    def replicated(self, sha256: str, engine: str, code: str) -> set[int]:
        """Return the seeds of a scenario whose replications are stored."""
        return self._seeds("replications", sha256, engine, code)

    def _seeds(self, table: str, sha256: str, engine: str, code: str) -> set[int]:
        query = (
            f"SELECT seed FROM {table} "
            "WHERE scenario = (SELECT id FROM scenarios WHERE sha256 = ?) "
            "AND maker = (SELECT id FROM makers WHERE engine = ? AND code = ?)"
        )
        return {seed for (seed,) in self._connection.execute(query, (sha256, engine, code))}

    def put(self, rows: Iterable[MetricRow]) -> int:
        """Store rows with their replications, all of them or none; those that are there stay.

        Returns the number of rows that were not there.
        """
        now = time.time()
        with self._connection as write:
            write.execute("BEGIN IMMEDIATE")
            keys = _Keys(write)
            return sum(self._put(write, row, keys, now) for row in rows)

    def _put(self, write: sqlite3.Connection, row: MetricRow, keys: _Keys, now: float) -> int:
        of = keys.scenario(row.sha256, row.document), keys.maker(row.engine, row.code)
        layout = keys.layout(row.version, row.columns)
        if row.replication is not None:
            insert = "INSERT OR IGNORE INTO replications VALUES (?, ?, ?, ?, ?)"
            write.execute(insert, (*of, row.seed, now, row.replication))
        insert = "INSERT OR IGNORE INTO metrics VALUES (?, ?, ?, ?, ?, ?)"
        return write.execute(insert, (*of, row.seed, now, layout, row.numbers)).rowcount

    def read(
        self, sha256: str, engine: str, code: str, seeds: Sequence[int]
    ) -> Iterator[tuple[int, str, tuple[Column, ...], NDArray[np.float64]]]:
        """Yield seed, version, columns and values, shape (columns,), of the stored seeds in order.

        A row that cannot be read is left out.
        """
        query = (
            "SELECT seed, layout, numbers FROM metrics "
            "WHERE scenario = (SELECT id FROM scenarios WHERE sha256 = ?) "
            "AND maker = (SELECT id FROM makers WHERE engine = ? AND code = ?) "
            "AND seed BETWEEN ? AND ? ORDER BY seed"
        )
        key = (sha256, engine, code, min(seeds), max(seeds))
        for seed, layout, numbers in self._connection.execute(query, key):
            version, columns = self._layout(layout)
            if seed in seeds and len(numbers) == 8 * len(columns):
                yield seed, version, columns, np.frombuffer(numbers, "<f8")

    def is_damaged(self) -> bool:
        """Return whether a replication, or a row of metrics, is not what was written."""
        for (blob,) in self._connection.execute("SELECT replication FROM replications"):
            try:
                zlib.decompress(blob)  # which has a checksum
            except zlib.error:
                return True
        query = "SELECT DISTINCT layout, length(numbers) FROM metrics"
        try:
            sizes = [
                (len(self.columns(number)), size)
                for number, size in self._connection.execute(query)
            ]
        except (ValueError, TypeError):
            return True
        return any(8 * columns != size for columns, size in sizes)

    def layouts(self, sha256: str, engine: str, code: str) -> list[int]:
        """Return the numbers of the layouts of a scenario's rows."""
        query = (
            "SELECT DISTINCT layout FROM metrics "
            "WHERE scenario = (SELECT id FROM scenarios WHERE sha256 = ?) "
            "AND maker = (SELECT id FROM makers WHERE engine = ? AND code = ?)"
        )
        found = self._connection.execute(query, (sha256, engine, code))
        return [number for (number,) in found]

    def columns(self, layout: int) -> tuple[Column, ...]:
        """Return the columns of a layout."""
        return self._layout(layout)[1]

    def _layout(self, number: int) -> tuple[str, tuple[Column, ...]]:
        if number not in self._layouts:
            query = "SELECT version, columns FROM layouts WHERE id = ?"
            version, text = self._connection.execute(query, (number,)).fetchone()
            self._layouts[number] = version, tuple((name, kind) for name, kind in json.loads(text))
        return self._layouts[number]


class _Keys:
    """Numbers of scenarios, makers and layouts, each looked up once in a transaction."""

    def __init__(self, write: sqlite3.Connection) -> None:
        self._write = write
        self._known: dict[tuple[object, ...], int] = {}

    def scenario(self, sha256: str, document: str) -> int:
        key = (sha256,)
        if key not in self._known:
            more = (document,)
            self._known[key] = _number_of(self._write, "scenarios", ("sha256",), key, more)
        return self._known[key]

    def maker(self, engine: str, code: str) -> int:
        key = (engine, code)
        if key not in self._known:
            self._known[key] = _number_of(self._write, "makers", ("engine", "code"), key)
        return self._known[key]

    def layout(self, version: str, columns: tuple[Column, ...]) -> int:
        key = (version, columns)
        if key not in self._known:
            stored = (version, json.dumps(columns))
            self._known[key] = _number_of(self._write, "layouts", ("version", "columns"), stored)
        return self._known[key]


def _number_of(
    write: sqlite3.Connection,
    table: str,
    names: Sequence[str],
    key: Sequence[str],
    more: Sequence[str] = (),
) -> int:
    """Return the number of a row by its key; add it if there is none."""
    query = f"SELECT id FROM {table} WHERE {' AND '.join(f'{name} = ?' for name in names)}"
    found = write.execute(query, key).fetchone()
    if found is None:
        places = ", ".join("?" * (1 + len(key) + len(more)))
        done = write.execute(f"INSERT INTO {table} VALUES ({places})", (None, *key, *more))
        return int(done.lastrowid or 0)
    return int(found[0])
