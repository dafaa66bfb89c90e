"""The version of the code that makes replications: a digest of the files that decide them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from forebay import engines, plugins

_PACKAGE = Path(__file__).resolve().parents[1]
_ROOMS = ("catalogue", "scenario", "workload", "topology", "outcome", "engines/replication")
"""Rooms between a scenario and its readings; the engine's own room comes with it."""


_OF_ENGINE = {
    "theory": ("engines/theory", "laws"),
    "network": ("engines/fixed_point", "laws"),
}
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
    made = hashlib.sha256()
    for path in sorted({path for path in paths if path.is_file()}):
        made.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.hexdigest()[:32]
