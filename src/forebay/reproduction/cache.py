"""Results of ``reproduce`` on disk, one file for each artefact, for interrupted runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import forebay
from forebay.reproduction.catalogue import Entry
from forebay.reproduction.document import CachedResult, from_document, write_document

_PACKAGE = Path(__file__).resolve().parents[1]
_PAPERS = Path(__file__).resolve().parent / "papers"


def default_folder() -> Path:
    """Return the folder in the user's cache (XDG_CACHE_HOME, else ~/.cache)."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "forebay" / "reproduce"


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of results. A result is used only if nothing that it depends on has changed."""

    folder: Path

    def get(self, entry: Entry, key: str) -> CachedResult | None:
        """Return the result with this key of `digest`, or None."""
        try:
            document = json.loads(self._path(entry).read_text())
            if document.pop("made_by") != key:
                return None
            return from_document(document)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # an unreadable file is replaced, without an error

    def put(self, entry: Entry, key: str, result: CachedResult) -> None:
        """Write a temporary file, then rename it, so that no partial file is left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_document({"made_by": key, **result.to_document()}, self._path(entry))

    @property
    def has_any(self) -> bool:
        """Whether there is any result."""
        return any(self.folder.glob("*.json"))

    def _path(self, entry: Entry) -> Path:
        return self.folder / f"{entry.name.replace('/', '.')}.json"


def digest(entry: Entry, seeds: int, quick: bool) -> str | None:
    """Digest of a result's inputs: the artefact's files, our code, seeds, quick.

    None for an artefact of another package, because the files that it depends on are unknown.
    """
    if entry.folder is None:
        return None
    key = f"{entry.name} {seeds} {quick}".encode()
    shared = entry.folder.parent.glob("*")
    parts = [key, _of_files([*entry.folder.rglob("*"), *shared]), _of_code()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@cache
def _of_code() -> bytes:
    own = {".py", ".so", ".pyd", ".toml"}
    files = [*_PACKAGE.rglob("*"), *(_PACKAGE / "scenarios").glob("*")]
    return _of_files(p for p in files if p.suffix in own and not p.is_relative_to(_PAPERS))


def _of_files(paths: Iterable[Path]) -> bytes:
    made = hashlib.sha256(forebay.__version__.encode())
    for path in sorted({path for path in paths if path.is_file() and path.suffix != ".pyc"}):
        made.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return made.digest()
