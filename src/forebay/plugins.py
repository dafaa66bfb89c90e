"""Engines and laws of other distributions: entry points of one group, by name.

A distribution declares them in its pyproject.toml::

    [project.entry-points."forebay.engines"]
    coin = "coin_engine:CoinEngine"
"""

from __future__ import annotations

import contextvars
import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.errors import ForebayError
from forebay.words import Fact

if TYPE_CHECKING:
    from forebay.progress import Progress


class BrokenPlugin(ForebayError):
    """An entry point of another distribution that cannot be loaded or used, or raises.

    Attributes
    ----------
    group, name : str
        Group and name of the entry point, such as "forebay.engines" and "coin".
    """

    exit_status = 3

    def __init__(self, group: str, name: str, why: str | Fact, where: str = "") -> None:
        self.group, self.name, self.where = group, name, where
        where = where or "the distribution that declares it"
        super().__init__("broken-plugin", field=group, name=name, why=why, where=where)


@cache
def found(group: str) -> dict[str, metadata.EntryPoint]:
    """Return the entry points of a group by name, without loading them.

    Raises BrokenPlugin if two distributions declare the same name.
    """
    by_name: dict[str, metadata.EntryPoint] = {}
    for point in metadata.entry_points(group=group):
        other = by_name.setdefault(point.name, point)
        if other.value != point.value:
            wrong = f"is declared twice, as {other.value} and {point.value}"
            raise BrokenPlugin(group, point.name, wrong, _distribution(point))
    return by_name


def load(group: str, name: str) -> Any:
    """Load the object of an entry point. Raises BrokenPlugin if there is none."""
    point = found(group)[name]
    try:
        return point.load()
    except Exception as error:
        wrong = f"cannot be loaded from {point.value} ({type(error).__name__}: {error})"
        raise BrokenPlugin(group, name, wrong, _distribution(point)) from error


def digest(group: str, name: str) -> str:
    """Return what identifies the code of an entry point: its distribution's version and its files.

    They are the files of its module's folder, or the module alone where it stands in none.
    """
    point = found(group)[name]
    hasher = hashlib.sha256(f"{_distribution(point)} {getattr(point.dist, 'version', '')}".encode())
    top = find_spec(point.module.partition(".")[0])
    places = [] if top is None else list(top.submodule_search_locations or ())
    files = [path for place in places for path in Path(place).rglob("*.py")]
    if top is not None and top.origin and not places:
        files.append(Path(top.origin))
    for path in sorted(file for file in files if file.is_file()):
        hasher.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return hasher.hexdigest()[:32]


def refuse(group: str, name: str, why: str | Fact) -> BrokenPlugin:
    """Return the error for an entry point that does not fit its group."""
    return BrokenPlugin(group, name, why, _distribution(found(group)[name]))


@contextmanager
def blamed(group: str, name: str) -> Iterator[None]:
    """Turn what the code of an entry point raises into BrokenPlugin; Forebay's errors pass."""
    try:
        yield
    except (ForebayError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        raise refuse(group, name, f"raises {type(error).__name__}: {error}") from error


def _distribution(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


NOTHING = object()
"""The answer of what hangs."""
_LOOK_S = 0.05


class Asked:
    """A call in a thread of its own, because nothing else can be said of one that never returns."""

    def __init__(self, patience_s: float, progress: Progress | None = None) -> None:
        self._patience_s, self._progress = patience_s, progress
        self._made: Any = NOTHING
        self._raised: BaseException | None = None
        self._heard_s = time.monotonic()

    def of(self, call: Callable[[Progress], Any]) -> Any:
        """Return what the call returns, or raise what it raises; `NOTHING` if it hangs."""
        context = contextvars.copy_context()
        thread = threading.Thread(target=context.run, args=(self._call, call), daemon=True)
        thread.start()
        while thread.is_alive() and time.monotonic() - self._heard_s < self._patience_s:
            thread.join(_LOOK_S)
        if self._raised is not None:
            raise self._raised
        return self._made

    def _call(self, call: Callable[[Progress], Any]) -> None:
        try:
            self._made = call(self._told)
        except BaseException as error:  # it is raised where it was asked
            self._raised = error

    def _told(self, share: float) -> None:
        self._heard_s = time.monotonic()
        if self._progress is not None:
            self._progress(share)
