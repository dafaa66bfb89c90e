"""The metrics of single replications as rows of numbers, which a table of a study is made of.

A row is a blob of little-endian float64. The names and kinds of its numbers are a layout, which
rows of one kind of scenario share. So a million rows are read without decoding replications.
"""

import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["f", "i", "b"]
"""A number, a whole number, or a truth value."""
Column = tuple[str, Kind]
OF = (
    "scenario = (SELECT id FROM scenarios WHERE sha256 = ?) "
    "AND maker = (SELECT id FROM makers WHERE engine = ? AND code = ?)"
)
"""Chooses the rows of a scenario's hash, of an engine, and of its code."""


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
        return set(self._each("seed FROM metrics", sha256, engine, code))

    def replicated(self, sha256: str, engine: str, code: str) -> set[int]:
        """Return the seeds of a scenario whose replications are stored."""
        return set(self._each("seed FROM replications", sha256, engine, code))

    def layouts(self, sha256: str, engine: str, code: str) -> list[int]:
        """Return the numbers of the layouts of a scenario's rows."""
        return list(self._each("DISTINCT layout FROM metrics", sha256, engine, code))

    def _each(self, what: str, *key: str) -> Iterator[int]:
        rows = self._connection.execute(f"SELECT {what} WHERE {OF}", key)
        return (number for (number,) in rows)

    def put(self, rows: Iterable[MetricRow]) -> int:
        """Store rows with their replications, all of them or none; those that are there stay.

        Returns the number of rows that were not there.
        """
        now, added = time.time(), 0
        with self._connection as write:
            write.execute("BEGIN IMMEDIATE")
            keys = Keys(write)
            for row in rows:
                of = keys.of(row.sha256, row.document, row.engine, row.code)
                layout = keys.layout(row.version, row.columns)
                if row.replication is not None:
                    insert = "INSERT OR IGNORE INTO replications VALUES (?, ?, ?, ?, ?)"
                    write.execute(insert, (*of, row.seed, now, row.replication))
                insert = "INSERT OR IGNORE INTO metrics VALUES (?, ?, ?, ?, ?, ?)"
                added += write.execute(insert, (*of, row.seed, now, layout, row.numbers)).rowcount
        return added

    def read(
        self, sha256: str, engine: str, code: str, seeds: Sequence[int]
    ) -> Iterator[tuple[int, str, tuple[Column, ...], NDArray[np.float64]]]:
        """Yield seed, version, columns and values, shape (columns,), of the stored seeds in order.

        A row that cannot be read is left out.
        """
        query = f"SELECT seed, layout, numbers FROM metrics WHERE {OF} AND seed BETWEEN ? AND ?"
        query, key = f"{query} ORDER BY seed", (sha256, engine, code, min(seeds), max(seeds))
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
            return any(
                8 * len(self.columns(number)) != size
                for number, size in self._connection.execute(query).fetchall()
            )
        except (ValueError, TypeError):
            return True

    def columns(self, layout: int) -> tuple[Column, ...]:
        """Return the columns of a layout."""
        return self._layout(layout)[1]

    def _layout(self, number: int) -> tuple[str, tuple[Column, ...]]:
        if number not in self._layouts:
            query = "SELECT version, columns FROM layouts WHERE id = ?"
            version, text = self._connection.execute(query, (number,)).fetchone()
            self._layouts[number] = version, tuple((name, kind) for name, kind in json.loads(text))
        return self._layouts[number]


class Keys:
    """Numbers of scenarios, makers and layouts, each looked up once in a transaction."""

    def __init__(self, write: sqlite3.Connection) -> None:
        self._write = write
        self._known: dict[tuple[str, ...], int] = {}
        self._text = cache(json.dumps)

    def of(self, sha256: str, document: str, engine: str, code: str) -> tuple[int, int]:
        """Return the numbers of a scenario and of what made its rows."""
        scenario = self._number("scenarios", {"sha256": sha256}, document)
        return scenario, self._number("makers", {"engine": engine, "code": code})

    def layout(self, version: str, columns: tuple[Column, ...]) -> int:
        """Return the number of a layout."""
        return self._number("layouts", {"version": version, "columns": self._text(columns)})

    def _number(self, table: str, key: Mapping[str, str], *more: str) -> int:
        """Return the number of a row by its key; add it if there is none."""
        values = tuple(key.values())
        if (table, *values) not in self._known:
            where = " AND ".join(f"{name} = ?" for name in key)
            row = self._write.execute(f"SELECT id FROM {table} WHERE {where}", values).fetchone()
            if row is None:
                places = ", ".join("?" * (1 + len(values) + len(more)))
                insert = f"INSERT INTO {table} VALUES ({places})"
                row = (self._write.execute(insert, (None, *values, *more)).lastrowid or 0,)
            self._known[table, *values] = int(row[0])
        return self._known[table, *values]
