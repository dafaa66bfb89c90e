"""Runs artefacts, for `forebay.reproduce` and the command line, and keeps their results."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import forebay
from forebay.effort import Effort
from forebay.progress import Progress
from forebay.reproduction.discovery import Entry, find
from forebay.reproduction.result import CachedResult, Reproduction, from_document
from forebay.scenario.base import whole_number

SEEDS, QUICK_SEEDS = 5, 2


def reproduce(
    artefact: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    jobs: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Reproduce one table or figure of a paper and compare it with the published values.

    Parameters
    ----------
    artefact : str
        Paper and place, such as "appenzeller-2004/fig15" or, short, "A.fig15".
        `forebay.artefacts` lists them.
    quick : bool
        Fewer seeds and shorter windows, for the same claims.
    seeds : int, optional
        Replications, with seeds 1, 2, …; the default is 5, or 2 with ``quick``.
    jobs : int
        Threads; 0 means one for each core. The result does not depend on it.
    progress : callable, optional
        Called with the fraction done, 0 to 1.

    Returns
    -------
    Reproduction
        The rows with a verdict for each; ``agrees`` is whether all are in their band.

    Raises
    ------
    UnknownArtefact
        There is no such artefact.
    ScenarioError
        ``seeds`` or ``jobs`` is not a whole number, or out of range.

    >>> forebay.reproduce("A.eq6").agrees
    True
    """
    if seeds is not None:
        whole_number("seeds", seeds, 1, 100_000)
    effort = Effort(seeds=replications(seeds, quick), jobs=jobs, progress=progress)
    return make(find(str(artefact)), effort, quick=quick).made


def replications(seeds: int | None, quick: bool) -> int:
    """Return the number of replications for these arguments."""
    return seeds or (QUICK_SEEDS if quick else SEEDS)


def make(entry: Entry, effort: Effort, *, quick: bool = False) -> CachedResult:
    """Run one artefact, and measure its wall time."""
    artefact, began = entry.load(), time.monotonic()
    made = artefact.reproduce(effort, quick)
    return CachedResult(made, effort.seeds, quick, time.monotonic() - began)


_PACKAGE = Path(forebay.__file__).resolve().parent
_PAPERS, _KIND = _PACKAGE / "reproduction" / "papers", "artefact"


def default_store() -> Path:
    """Return the file in the user's cache (XDG_CACHE_HOME, else ~/.cache); make its folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "forebay"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "store.sqlite"


class Cache:
    """Results in a store. A result is used only if nothing that it depends on has changed.

    Raises
    ------
    StoreError
        The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._store = forebay.Store(path)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def get(self, entry: Entry, key: str) -> CachedResult | None:
        """Return the result with this key of `digest`, or None."""
        document = self._store.document(_KIND, entry.name, key)
        if document is None:
            return None
        try:
            return from_document(json.loads(document))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # made anew, without an error

    def put(self, entry: Entry, key: str, result: CachedResult) -> None:
        """Store the result in place of an earlier one of the artefact."""
        self._store.put_document(_KIND, entry.name, key, json.dumps(result.to_document()))

    @property
    def has_any(self) -> bool:
        """Whether the store has anything."""
        return self._store.count > 0


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
