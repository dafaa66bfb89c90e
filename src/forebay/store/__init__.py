"""One store of replications and documents: an SQLite file, shared by every verb that takes one."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from forebay import engines, plugins
from forebay.effort import DEFAULT, Effort
from forebay.engines.base import Decorator, Engine, ReplicatingEngine
from forebay.outcome import Outcome
from forebay.scenario import Scenario
from forebay.store.file import Store, StoreError, to_blob
from forebay.store.rows import Column, MetricRow, to_numbers

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOMS = ("catalogue", "scenario", "workload", "topology", "outcome", "engines/replication")
"""Rooms between a scenario and its readings; the engine's own room comes with it."""
_OF_ENGINE = {"theory": ("engines/theory", "laws"), "network": ("engines/fixed_point", "laws")}
"""An engine's own rooms, if they are not ``engines/<name>`` alone."""


@cache
def code_of(engine: str) -> str:
    """Return the digest of the code that makes this engine's replications, 32 hex digits.

    Code that only reads answers (reports, searches, the command line) does not count.
    """
    if engines.is_of_others(engine):
        return plugins.digest(engines.GROUP, engine)
    rooms = [*_ROOMS, *_OF_ENGINE.get(engine, (f"engines/{engine}",))]
    files = [path for room in rooms for path in (_PACKAGE / room).rglob("*.py")]
    return digest_of_files([*files, *_PACKAGE.glob("_core*"), *_PACKAGE.glob("engines/*.py")])


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return the digest of files, by their names and contents."""
    digest = hashlib.sha256()
    for path in sorted({path for path in paths if path.is_file()}):
        digest.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def with_store(engine: Engine, store: Store) -> Engine:
    """Return the engine with a store; one without replications answers at once and needs none."""
    return StoredEngine(engine, store) if isinstance(engine, ReplicatingEngine) else engine


class StoredEngine(Decorator):
    """Makes only the replications that the store does not have."""

    def __init__(self, engine: ReplicatingEngine, store: Store) -> None:
        super().__init__(engine)
        self._made_by, self._store, self._code = engine, store, code_of(engine.name)

    def run(self, scenario: Scenario, seeds: Sequence[int], effort: Effort = DEFAULT) -> Outcome:
        """Read what is stored, make the rest, and store it."""
        started, name = time.perf_counter(), self.name
        known = self._store.replications(scenario, name, self._code, seeds)
        missing = [seed for seed in dict.fromkeys(seeds) if seed not in known]
        if missing:
            rest = self._made_by.replications(scenario, missing, effort)
            self._store.add(scenario, name, self._code, rest)
            known |= rest
        effort.tell(1.0)
        replications = [known[seed] for seed in seeds]
        return self._made_by.outcome(scenario, replications, time.perf_counter() - started)


__all__ = [
    "Column", "MetricRow", "Store", "StoreError", "StoredEngine", "code_of", "digest_of_files",
    "to_blob", "to_numbers", "with_store",
]  # fmt: skip
