"""What a verb writes: the answer on standard output, files, and its progress on standard error.

The answer comes first: it is kept even if a file cannot be written afterwards.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

Callback = Callable[[float], None]

_QUIET_S = 0.4  # a job shorter than this shows no bar, and spares the import of one
_FORESEEN = 0.01
"""Before that share is done, what is left cannot be told: drawing the traffic counts as nothing."""
_PLAIN_EVERY_S = 10.0
_WORTH_SAYING_S = 10.0

written: list[str] = []
"""What this call has written so far, for the line that says so should it be interrupted."""


def print_json(document: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write exactly one JSON document on stdout; NaN is no JSON, so it is an error here."""
    click.echo(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))
    answered()


def answered() -> None:
    """Note that the answer is on stdout."""
    written.append("the answer as printed")


def write(what: str, path: Path, writer: Callable[[Path], object]) -> None:
    """Write one file and tell where it is: on stderr, for stdout may be a JSON document.

    Raises
    ------
    OSError
        It cannot be written; ``filename`` names it.
    """
    try:
        writer(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    written.append(f"{what} {path}")
    say(f"{what}: {path}")


def say(line: str) -> None:
    """Tell how it goes: on stderr, for stdout may be a JSON document.

    Where stderr takes nothing the verb goes on: its answer does not depend on it.
    """
    with suppress(OSError):
        click.echo(printable(line), err=True)


def printable(text: str) -> str:
    """Return one line for a terminal: what could steer it is written as an escape."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@contextmanager
def progress(label: str) -> Iterator[Callback]:
    """Show how far ``label`` is; yields what is called with the fraction done.

    Its method ``stage`` takes the name of a part of the job, whose fractions and time are its own;
    what follows a comma there is the detail of the same part.
    """
    shown = _Bar(label) if sys.stderr.isatty() else _Lines(label)
    try:
        yield shown
    finally:
        shown.close()


def announce(label: str) -> Callback:
    """Return a function that says before a long job how long it should take."""

    def say_so(seconds: float) -> None:
        if seconds >= _WORTH_SAYING_S:
            say(f"{label}: about {_time(seconds)} on this machine")

    return say_so


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class _Lines:
    """For a log file: silent for the first seconds, then one line every ten."""

    def __init__(self, label: str) -> None:
        self._job = self._label = label
        self._stage = ""
        self._begun = time.monotonic()
        self._next = self._begun + _PLAIN_EVERY_S

    def stage(self, name: str) -> None:
        part = name.partition(",")[0]
        self._label = f"{self._job}, {name}"
        if part != self._stage:
            self._stage, self._begun = part, time.monotonic()
            self(0.0)

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PLAIN_EVERY_S
            said = f"{self._label}: {fraction:.0%}"
            if fraction >= _FORESEEN:
                left = (now - self._begun) * (1 / fraction - 1)
                said += f", about {_time(left)} left"
            say(said)

    def close(self) -> None:
        """Nothing was opened."""


class _Bar:
    """For a person: a bar that leaves no trace when it is done."""

    def __init__(self, label: str) -> None:
        self._job = self._label = label
        self._from = time.monotonic() + _QUIET_S
        self._stage = ""
        self._bar: Any = None

    def stage(self, name: str) -> None:
        part = name.partition(",")[0]
        self._label = f"{self._job}, {name}"
        if self._bar is not None and part != self._stage:
            self._bar.reset(self._task, description=self._label, completed=0)
        elif self._bar is not None:
            self._bar.update(self._task, description=self._label)
        if part != self._stage:
            self._stage = part
            self(0.0)

    def __call__(self, fraction: float) -> None:
        if self._bar is None and time.monotonic() >= self._from:
            self._bar = self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction)

    def _open(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

        left = TimeRemainingColumn(elapsed_when_finished=True)
        columns = ("{task.description}", BarColumn(), TaskProgressColumn(), left)
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._label, total=1.0)
        bar.start()
        return bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
