"""Store each outcome in a file, so that a stopped search can resume."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.outcome import Outcome
from forebay.outcome.document import DocumentError
from forebay.outcome.replacing import replacing

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Scenario


class Remembering:
    """An engine whose outcomes are stored in a folder and not computed again.

    A stored outcome is used only if engine, version, scenario and seeds are the same. A file that
    cannot be read is replaced.
    """

    def __init__(self, engine: Engine, folder: Path, version: str) -> None:
        self._engine, self._folder, self._version = engine, folder, version
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def name(self) -> str:
        """Name of the wrapped engine."""
        return self._engine.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Return the stored outcome, or run the engine and store its outcome."""
        path = self._path(scenario, seeds)
        known = _read(path)
        if known is None:
            known = self._engine.run(scenario, seeds, jobs=jobs, progress=progress)
            _write(path, known)
        return known

    def record_file(self, scenario: Scenario, seeds: Sequence[int]) -> Path:
        """Return the file for the rungs of a climb (`begun`)."""
        return self._path(scenario, seeds).with_suffix(".rungs.json")

    def _path(self, scenario: Scenario, seeds: Sequence[int]) -> Path:
        made_by = f"{self.name} {self._version} {scenario.sha256()} {list(seeds)}"
        return self._folder / f"{hashlib.sha256(made_by.encode()).hexdigest()[:32]}.json"


def _read(path: Path) -> Outcome | None:
    try:
        return Outcome.from_json(path.read_bytes(), str(path))
    except (OSError, DocumentError):
        return None


def _write(path: Path, outcome: Outcome) -> None:
    """Write the file atomically, so that a partial file of a stopped run is never read."""
    with replacing(path) as file:
        file.write(outcome.to_json(indent=None).encode())
