"""The store itself.

What it guarantees
------------------
* A replication is stored whole or not at all, also if the process is killed or the disk is full.
* It is found again only for the same scenario, engine, seed and code.
* Several processes read and write one store at a time. If two make the same replication, the
  later of the two equal rows is kept.
* A row that cannot be read counts as absent.
* A power failure may lose what was stored last; it does not damage the rest.

The bytes of a replication are a compressed JSON tree with the arrays behind it. An array stands in
the tree by its number; equal arrays (the edges of histograms) are written once. The bytes of an
array's items are regrouped by place, which makes them a third smaller.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.engines.base import Replication
from forebay.errors import ForebayError
from forebay.outcome import reading
from forebay.scenario import Scenario
from forebay.store.rows import OF, Keys, MetricRow, StoredRows

_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Replication, reading.Reading, reading.LinkReading, reading.ClassReading,
        reading.ControllerReading, reading.LongFlows, reading.RoundTrips, reading.Histogram,
        reading.Slowdowns,
    )
}  # fmt: skip
_TYPES = ("<f8", "<i8")
_MOST_BYTES = 2**30
"""A larger replication is not read: bytes may claim any size."""

Array = NDArray[Any]


class NotReadable(ValueError):
    """Bytes that are no replication."""


def to_blob(replication: Replication) -> bytes:
    """Return a replication as bytes."""
    arrays: dict[tuple[str, tuple[int, ...], bytes], int] = {}
    tree = _to_tree(replication, arrays)
    shapes = [[kind, *shape] for kind, shape, _ in arrays]
    head = json.dumps([tree, shapes]).encode()
    # Of each array the first bytes of all items, then the second ones, and so on.
    body = b"".join(np.frombuffer(data, np.uint8).reshape(-1, 8).T.tobytes() for *_, data in arrays)
    return zlib.compress(len(head).to_bytes(8, "little") + head + body, 1)


def from_blob(blob: bytes) -> Replication:
    """Read what `to_blob` wrote. Raises NotReadable."""
    try:
        unpacked = zlib.decompressobj()
        data = unpacked.decompress(blob, _MOST_BYTES)
        end = 8 + int.from_bytes(data[:8], "little")
        tree, shapes = json.loads(data[8:end])
        replication = _from_tree(tree, _arrays(data, end, shapes))
    except (zlib.error, ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        raise NotReadable(str(error)) from error
    if not isinstance(replication, Replication):
        raise NotReadable("not a replication")
    return replication


def _to_tree(value: Any, arrays: dict[tuple[str, tuple[int, ...], bytes], int]) -> Any:
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value, _TYPES[value.dtype.kind == "i"])
        key = (plain.dtype.str, plain.shape, plain.tobytes())
        return {"array": arrays.setdefault(key, len(arrays))}
    if type(value).__name__ in _KINDS:
        names = _names(type(value).__name__)
        return {type(value).__name__: [_to_tree(getattr(value, name), arrays) for name in names]}
    if isinstance(value, dict):
        return {"dict": {name: _to_tree(part, arrays) for name, part in value.items()}}
    if isinstance(value, list | tuple):
        return [_to_tree(part, arrays) for part in value]
    return value.item() if isinstance(value, np.generic) else value


@cache
def _names(kind: str) -> tuple[str, ...]:
    """Return the fields of a class of `_KINDS`, in order."""
    return tuple(field.name for field in fields(_KINDS[kind]))


def _from_tree(tree: Any, arrays: list[Array]) -> Any:
    if isinstance(tree, list):
        return [_from_tree(part, arrays) for part in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, inside),) = tree.items()
    if kind == "array":
        return arrays[inside]
    if kind == "dict":
        return {name: _from_tree(part, arrays) for name, part in inside.items()}
    return _KINDS[kind](*(_from_tree(part, arrays) for part in inside))


def _arrays(data: bytes, start: int, shapes: list[list[Any]]) -> list[Array]:
    arrays = []
    for kind, *shape in shapes:
        if kind not in _TYPES or any(size < 0 for size in shape):
            raise NotReadable("an array of an unknown type")
        end = start + 8 * math.prod(shape)
        items = np.frombuffer(data[start:end], np.uint8).reshape(8, -1).T.tobytes()
        arrays.append(np.frombuffer(items, kind).reshape(shape))
        start = end
    return arrays


class StoreError(ForebayError):
    """A store cannot be opened, read or written."""

    def __init__(self, kind: str, path: Path, **values: Any) -> None:
        super().__init__(kind, file=f"store {path}", **values)


APPLICATION_ID = 0x466F7265
"""Marks the file as ours in its header ("Fore")."""
SCHEMA = 1
"""Increased if an older Forebay can no longer read the tables."""
BUSY_S = 60.0
"""Seconds to wait for another process that writes."""
_PAUSE_S = 0.01
"""Seconds between two attempts where SQLite does not wait itself."""

_TABLES = """
CREATE TABLE IF NOT EXISTS scenarios (
    id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, document TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS makers (
    id INTEGER PRIMARY KEY, engine TEXT NOT NULL, code TEXT NOT NULL, UNIQUE (engine, code)
);
CREATE TABLE IF NOT EXISTS replications (
    scenario INTEGER NOT NULL REFERENCES scenarios (id),
    maker INTEGER NOT NULL REFERENCES makers (id),
    seed INTEGER NOT NULL,
    made_at REAL NOT NULL,
    replication BLOB NOT NULL,
    UNIQUE (scenario, maker, seed)
);
CREATE TABLE IF NOT EXISTS documents (
    kind TEXT NOT NULL, name TEXT NOT NULL, key TEXT NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE TABLE IF NOT EXISTS layouts (
    id INTEGER PRIMARY KEY, version TEXT NOT NULL, columns TEXT NOT NULL, UNIQUE (version, columns)
);
CREATE TABLE IF NOT EXISTS metrics (
    scenario INTEGER NOT NULL REFERENCES scenarios (id),
    maker INTEGER NOT NULL REFERENCES makers (id),
    seed INTEGER NOT NULL,
    made_at REAL NOT NULL,
    layout INTEGER NOT NULL REFERENCES layouts (id),
    numbers BLOB NOT NULL,
    UNIQUE (scenario, maker, seed)
)
"""
_N_TABLES = _TABLES.count("CREATE TABLE")
"""A store of an earlier version lacks the later tables; they are added."""


def open_checked(path: Path) -> sqlite3.Connection:
    """Open a store, or make it where there is no file yet. Raises StoreError."""
    if os.path.isdir(path):
        raise StoreError("store.folder", path)
    if not os.path.lexists(path.parent) and os.access(path.parent.parent, os.X_OK):
        raise StoreError("store.without-folder", path, folder=path.parent)
    with refusals(path):
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
        try:
            _check(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    _refuse_foreign(connection, path)
    if _journal(connection) != "wal":
        raise StoreError("store.without-log", path)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("BEGIN IMMEDIATE")  # of two processes that make it, one waits here
    tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
    if tables.fetchone()[0] < _N_TABLES:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA}")
    connection.execute("COMMIT")


def _journal(connection: sqlite3.Connection) -> str:
    """Switch the file to a write-ahead log. SQLite does not wait here for others that do the same.

    Returns the journal that it has now.
    """
    ends = time.monotonic() + BUSY_S
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > ends:
                raise
            time.sleep(_PAUSE_S)


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that another program wrote, or a newer Forebay; an empty one is new."""
    connection.execute("BEGIN")  # another process may make the store between two of these reads
    owner, schema = _number(connection, "application_id"), _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if owner != APPLICATION_ID and (tables or owner or schema):
        raise StoreError("store.of-others", path)
    if schema > SCHEMA:
        raise StoreError("store.newer", path, schema=schema, here=SCHEMA)


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn an error of SQLite into a StoreError that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "")
        kind = next((kind for begin, kind in _REFUSALS if code.startswith(begin)), "store.unusable")
        raise StoreError(kind, path, why=str(error), seconds=BUSY_S) from error
    except UnicodeDecodeError as error:  # of SQLite's own message, which quotes a damaged schema
        raise StoreError("store.damaged", path) from error


_REFUSALS = (
    ("SQLITE_NOTADB", "store.none"), ("SQLITE_CORRUPT", "store.damaged"),
    ("SQLITE_FULL", "store.no-room"), ("SQLITE_IOERR", "store.no-room"),
    ("SQLITE_READONLY", "store.not-writable"), ("SQLITE_CANTOPEN", "store.not-writable"),
    ("SQLITE_PERM", "store.not-writable"),
    ("SQLITE_BUSY", "store.busy"), ("SQLITE_LOCKED", "store.busy"),
)  # fmt: skip
"""What is wrong, by how the name of SQLite's error code begins."""


class Store:
    """Replications by scenario, engine, seed and code, and documents by kind and name.

    A connection belongs to the thread that opened it.

    Raises StoreError: the path is a folder, another program's file or a newer store, or it cannot
    be written.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._connection = open_checked(self.path)
        self._rows = StoredRows(self._connection)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the log beside it is merged if no other process uses it."""
        self._connection.close()

    def check(self) -> None:
        """Read the whole file once. Raises StoreError if anything in it is damaged."""
        with refusals(self.path):
            answers = [row[0] for row in self._connection.execute("PRAGMA integrity_check(1)")]
            damaged = answers != ["ok"] or self._rows.is_damaged()
        if damaged:
            raise StoreError("store.damaged", self.path)

    @contextmanager
    def rows(self) -> Iterator[StoredRows]:
        """Yield the rows of metrics to read; an error of SQLite becomes a StoreError."""
        with refusals(self.path):
            yield self._rows

    def add_rows(self, made: Iterable[MetricRow]) -> int:
        """Store rows of metrics with their replications, all of them or none.

        Returns the number of rows that were not there.
        """
        with refusals(self.path):
            return self._rows.put(made)

    @property
    def count(self) -> int:
        """Number of replications and documents."""
        with refusals(self.path):
            query = "SELECT (SELECT count(*) FROM replications) + (SELECT count(*) FROM documents)"
            return int(self._connection.execute(query).fetchone()[0])

    def replications(
        self, scenario: Scenario, engine: str, code: str, seeds: Sequence[int]
    ) -> dict[int, Replication]:
        """Return what is stored of these seeds."""
        query = f"SELECT replication FROM replications WHERE {OF} AND seed = ?"
        sha, known = scenario.sha256(), dict[int, Replication]()
        with refusals(self.path):
            for seed in seeds:
                row = self._connection.execute(query, (sha, engine, code, seed)).fetchone()
                if row is not None:
                    with suppress(NotReadable):
                        known[seed] = from_blob(row[0])
        return known

    def add(
        self, scenario: Scenario, engine: str, code: str, made: Mapping[int, Replication]
    ) -> None:
        """Store replications by seed, all of them or none."""
        now = time.time()
        blobs = {seed: to_blob(replication) for seed, replication in made.items()}
        sha, document = scenario.sha256(), json.dumps(scenario.to_dict())
        with refusals(self.path), self._connection as write:
            write.execute("BEGIN IMMEDIATE")
            of = Keys(write).of(sha, document, engine, code)
            insert = "INSERT OR REPLACE INTO replications VALUES (?, ?, ?, ?, ?)"
            write.executemany(insert, [(*of, seed, now, blob) for seed, blob in blobs.items()])

    def document(self, kind: str, name: str, key: str) -> str | None:
        """Return the document of this kind and name, if it was stored with the same key."""
        query = "SELECT document FROM documents WHERE kind = ? AND name = ? AND key = ?"
        with refusals(self.path):
            row = self._connection.execute(query, (kind, name, key)).fetchone()
        return None if row is None else str(row[0])

    def put_document(self, kind: str, name: str, key: str, document: str) -> None:
        """Store a document in place of the one of the same kind and name."""
        with refusals(self.path):
            self._connection.execute(
                "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", (kind, name, key, document)
            )
