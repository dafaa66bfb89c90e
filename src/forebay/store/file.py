"""The store itself.

What it guarantees
------------------
* A replication is stored whole or not at all, also if the process is killed or the disk is full.
* It is found again only for the same scenario, engine, seed and code; it is never overwritten.
* Several processes read and write one store at a time. If two make the same replication, one of
  the two equal rows is kept.
* A row that cannot be read counts as absent.
* A power failure may lose what was stored last; it does not damage the rest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from forebay.store.codec import NotReadable, from_blob, to_blob
from forebay.store.errors import StoreError
from forebay.store.rows import MetricRow, StoredRows
from forebay.store.schema import DAMAGED, open_checked, refusals

if TYPE_CHECKING:
    from forebay.engines.base import Replication
    from forebay.scenario import Scenario


class Store:
    """Replications by scenario, engine, seed and code, and documents by kind and name.

    A connection belongs to the thread that opened it.

    Raises
    ------
    StoreError
        The path is a folder, another program's file, a newer store, or cannot be written.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._connection = open_checked(self.path)
        self._rows = StoredRows(self._connection)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the log beside it is merged if no other process uses it."""
        self._connection.close()

    def check(self) -> None:
        """Read the whole file once. Raises StoreError if anything in it is damaged."""
        with refusals(self.path):
            found = [each[0] for each in self._connection.execute("PRAGMA integrity_check(1)")]
            damaged = found != ["ok"] or self._rows.is_damaged()
        if damaged:
            raise StoreError(str(self.path), *DAMAGED)

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
        query = (
            "SELECT replication FROM replications AS r JOIN scenarios AS s ON s.id = r.scenario "
            "JOIN makers AS m ON m.id = r.maker "
            "WHERE s.sha256 = ? AND m.engine = ? AND m.code = ? AND r.seed = ?"
        )
        sha, known = scenario.sha256(), {}
        with refusals(self.path):
            for seed in seeds:
                row = self._connection.execute(query, (sha, engine, code, seed)).fetchone()
                if row is not None and (found := _read(row[0])) is not None:
                    known[seed] = found
        return known

    def add(
        self, scenario: Scenario, engine: str, code: str, made: Mapping[int, Replication]
    ) -> None:
        """Store replications by seed, all of them or none."""
        now = time.time()
        blobs = {seed: to_blob(each) for seed, each in made.items()}
        sha, document = scenario.sha256(), json.dumps(scenario.to_dict())
        with refusals(self.path), self._connection as write:
            write.execute("BEGIN IMMEDIATE")
            write.execute("INSERT OR IGNORE INTO scenarios VALUES (NULL, ?, ?)", (sha, document))
            write.execute("INSERT OR IGNORE INTO makers VALUES (NULL, ?, ?)", (engine, code))
            insert = (
                "INSERT OR REPLACE INTO replications SELECT s.id, m.id, ?, ?, ? "
                "FROM scenarios AS s, makers AS m "
                "WHERE s.sha256 = ? AND m.engine = ? AND m.code = ?"
            )
            write.executemany(
                insert, [(seed, now, blob, sha, engine, code) for seed, blob in blobs.items()]
            )

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


def _read(blob: bytes) -> Replication | None:
    try:
        return from_blob(blob)
    except NotReadable:
        return None
