"""Results of ``reproduce`` on disk, one file an artefact, so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import forebay
from forebay.cli.artefacts import Artefact
from forebay.report import Kept, from_document, write_document


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of results. One is used again only if nothing that made it has changed."""

    folder: Path

    def get(self, artefact: Artefact, key: str) -> Kept | None:
        """Return what is kept under `made_by`'s key, None where there is nothing or another."""
        try:
            document = json.loads(self._path(artefact).read_text())
            if document.pop("made_by") != key:
                return None
            return from_document(document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # a file that cannot be read is made again, not an error

    def put(self, artefact: Artefact, key: str, kept: Kept) -> None:
        """Write beside, then rename: a run that is cut off leaves no half a result."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_document({"made_by": key, **kept.to_document()}, self._path(artefact))

    @property
    def has_any(self) -> bool:
        """Whether any result is there."""
        return any(self.folder.glob("*.json"))

    def _path(self, artefact: Artefact) -> Path:
        return self.folder / f"{artefact.name}.json"


def made_by(artefact: Artefact, seeds: int, quick: bool) -> str:
    """Digest of what a result hangs on: the artefact's folder, our code, seeds, quick."""
    asked = f"{artefact.name} {seeds} {quick}".encode()
    papers = artefact.path.parents[1]
    shared = (path for path in papers.glob("*") if path.is_file())
    own = (path for path in artefact.path.parent.rglob("*") if path.suffix != ".pyc")
    parts = [asked, _digest([*own, *shared]), _code()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@cache
def _code() -> bytes:
    package = Path(forebay.__file__).resolve().parent
    return _digest(path for path in package.rglob("*") if path.suffix in {".py", ".so", ".pyd"})


def _digest(paths: Iterable[Path]) -> bytes:
    made = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        made.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.digest()
