"""Runs artefacts, for `forebay.reproduce` and the command line, and keeps their results."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import forebay
from forebay.effort import Effort
from forebay.errors import ForebayError
from forebay.progress import Progress
from forebay.reproduction import papers
from forebay.reproduction.result import CachedResult, Reproduction, from_document
from forebay.reproduction.work import Artefact
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
    """Run one artefact, and measure its wall time.

    Raises ArtefactUnavailable: one of another package raises, or returns no Reproduction.
    """
    artefact, began = entry.load(), time.monotonic()
    with entry.blamed("artefact-unavailable.raises"):
        made = artefact.reproduce(effort, quick)
        if not isinstance(made, Reproduction):
            raise TypeError(f"reproduce returned {type(made).__name__}, no Reproduction")
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

    Raises StoreError: the file cannot be used.
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
    hasher = hashlib.sha256(forebay.__version__.encode())
    for path in sorted({path for path in paths if path.is_file() and path.suffix != ".pyc"}):
        hasher.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return hasher.digest()


GROUP = "forebay.artefacts"
"""The entry point group of other packages' artefacts."""

_LETTERS = {key: letter for letter, key in papers.KEYS.items()}


class UnknownArtefact(ForebayError):
    """No artefact or paper has this name."""


class ArtefactUnavailable(ForebayError):
    """An entry point names an artefact that cannot be loaded, or fails."""

    exit_status = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """One artefact by name, not yet imported.

    Attributes
    ----------
    name : paper and place, such as "appenzeller-2004/fig15".
    folder : folder of its published values; None for an artefact of another package.
    """

    name: str
    folder: Path | None
    _point: EntryPoint

    @property
    def paper(self) -> str:
        """The paper's key, such as "appenzeller-2004"."""
        return self.name.partition("/")[0]

    @property
    def alias(self) -> str | None:
        """The short name, such as "A.fig15"; None without a paper's letter."""
        paper, _, place = self.name.partition("/")
        return f"{_LETTERS[paper]}.{place}" if paper in _LETTERS else None

    def load(self) -> Artefact:
        """Import the artefact.

        Raises ArtefactUnavailable: an artefact of another package cannot be imported, or has no
        ``reproduce``.
        """
        with self.blamed("artefact-unavailable.import"):
            artefact = self._point.load()
        if not isinstance(artefact, Artefact):
            raise ArtefactUnavailable("artefact-unavailable.no-reproduce", **self._told)
        return artefact

    @contextmanager
    def blamed(self, kind: str) -> Iterator[None]:
        """Turn what another package's artefact raises into ArtefactUnavailable of a kind."""
        try:
            yield
        except Exception as error:
            if self.folder is not None or isinstance(error, ForebayError):
                raise
            why = f"{type(error).__name__}: {error}"
            raise ArtefactUnavailable(kind, **self._told, why=why) from error

    @property
    def _told(self) -> dict[str, str]:
        return {"file": self.name, "value": self._point.value, "group": GROUP}


def entries() -> list[Entry]:
    """Return every artefact, sorted by name, without importing any."""
    by_name = {entry.name: entry for entry in (*_offered(), *_shipped())}  # ours stand
    return [by_name[name] for name in sorted(by_name)]


def artefacts(paper: str | None = None) -> list[str]:
    """Return the names of all artefacts, or of one paper's.

    Parameters
    ----------
    paper : str, optional
        A paper's key or letter, such as "appenzeller-2004" or "A".

    Raises
    ------
    UnknownArtefact
        There is no such paper.

    >>> "appenzeller-2004/fig15" in forebay.artefacts()
    True
    """
    chosen = entries() if paper is None else _of_paper(entries(), paper)
    if not chosen:
        raise _unknown(paper or "", sorted({entry.paper for entry in entries()}))
    return [entry.name for entry in chosen]


def choose(name: str) -> list[Entry]:
    """Return the artefact of that name, or all artefacts of the paper of that name.

    Letters of papers, any case, and a dot instead of the slash are accepted: "A.fig15" is
    "appenzeller-2004/fig15".

    Raises UnknownArtefact: there is no such artefact or paper.
    """
    every, wanted = entries(), full_name(name)
    chosen = [entry for entry in every if entry.name == wanted] or _of_paper(every, name)
    if not chosen:
        raise _unknown(name, [entry.name for entry in every])
    return chosen


def find(name: str) -> Entry:
    """Return the artefact of that name, like `choose`, but refuse a paper's name."""
    chosen = choose(name)
    if chosen[0].name != full_name(name):
        names = ", ".join(entry.name for entry in chosen)
        raise UnknownArtefact("no-such-artefact.paper", value=name, known=names)
    return chosen[0]


def full_name(name: str) -> str:
    """Return "appenzeller-2004/fig15" for "A.fig15", and the paper's key for "A"."""
    paper, slash, place = name.strip().lower().replace(".", "/", 1).partition("/")
    return f"{papers.KEYS.get(paper.upper(), paper)}{slash}{place}"


def _of_paper(every: list[Entry], name: str) -> list[Entry]:
    return [entry for entry in every if entry.paper == full_name(name)]


def _shipped() -> Iterator[Entry]:
    for paper, modules in papers.MODULES.items():
        room = f"{papers.__name__}.{paper.replace('-', '_')}"
        for module, places in modules.items():
            for place in places.split():
                name, attribute = f"{paper}/{place}", place.replace("-", "_")
                folder = Path(papers.__path__[0]) / paper.replace("-", "_") / attribute
                yield Entry(name, folder, EntryPoint(name, f"{room}.{module}:{attribute}", GROUP))


def _offered() -> Iterator[Entry]:
    """Yield entry points of installed packages; metadata in the working directory is ignored."""
    try:
        here = Path.cwd().resolve()
        around = {here, *here.parents}
    except OSError:  # it was removed
        around = set()
    for point in entry_points(group=GROUP):
        where = None if point.dist is None else Path(str(point.dist.locate_file("")))
        if where is not None and where.resolve() not in around:
            yield Entry(full_name(point.name), None, point)


def _unknown(name: str, names: list[str]) -> UnknownArtefact:
    near = "".join(get_close_matches(full_name(name), names, n=1))
    of = ", ".join(dict.fromkeys(artefact.partition("/")[0] for artefact in names))
    kind = "no-such-artefact.near" if near else "no-such-artefact.far"
    return UnknownArtefact(kind, value=name, near=near, papers=of)
