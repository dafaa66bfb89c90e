"""The tables of a store, and the checks of a file before it is used as one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forebay.store.errors import StoreError

APPLICATION_ID = 0x466F7265
"""Marks the file as ours in its header ("Fore")."""
SCHEMA = 1
"""Increased if an older Forebay can no longer read the tables."""
DAMAGED = ("is damaged", "write another file, or remove it")
"""What is wrong with such a file, and what to do."""
BUSY_S = 60.0
"""Seconds to wait for another process that writes."""

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
        hint = f"a store is one file: write another name, such as {path}.sqlite"
        raise StoreError(str(path), "is a folder", hint)
    if not os.path.lexists(path.parent) and os.access(path.parent.parent, os.X_OK):
        raise StoreError(str(path), "its folder does not exist", f"make {path.parent} first")
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
    (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        wrong = "its file system does not allow a write-ahead log (WAL)"
        raise StoreError(str(path), wrong, "write a file on a local disk")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("BEGIN IMMEDIATE")  # of two processes that make it, one waits here
    tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'")
    if tables.fetchone()[0] < _N_TABLES:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA}")
    connection.execute("COMMIT")


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that another program wrote, or a newer Forebay; an empty one is new."""
    connection.execute("BEGIN")  # another process may make the store between two of these reads
    owner, schema = _number(connection, "application_id"), _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("COMMIT")
    if owner != APPLICATION_ID and (tables or owner or schema):
        raise StoreError(str(path), "is another program's database", "write another file")
    if schema > SCHEMA:
        wrong = f"was written by a newer Forebay (schema {schema}, here {SCHEMA})"
        raise StoreError(str(path), wrong, "update Forebay, or write another file")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Turn an error of SQLite into a StoreError that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "")
        wrong, hint = _said(code, str(error))
        raise StoreError(str(path), wrong, hint) from error


def _said(code: str, text: str) -> tuple[str, str]:
    """Return what is wrong and what to do, by the name of SQLite's error code."""
    if code.startswith("SQLITE_NOTADB"):
        return "is not a store", "write another file"
    if code.startswith("SQLITE_CORRUPT"):
        return DAMAGED
    if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"cannot be written ({text})", "free some room on its disk; what it has is kept"
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return "cannot be written there", "write a file in a folder that you may write to"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"another process has written for {BUSY_S:.0f} s", "try again when it has ended"
    return f"cannot be used ({text})", "write another file"
