"""The output of a verb: the answer on standard output, files, and progress on standard error.

The answer is written first, so it is not lost if a file cannot be written.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from forebay.cli.signals import word
from forebay.errors import ForebayError
from forebay.words import Notation, one_line

Callback = Callable[[float], None]

_QUIET_S = 0.4  # shorter jobs show no bar, and do not import it
_FORESEEN = 0.01
"""Smallest share done at which the rest can be predicted; drawing the traffic counts as zero."""
_PLAIN_EVERY_S = 10.0
_WORTH_SAYING_S = 10.0

written: list[str] = []
"""Files written so far in this call; an interrupt's message names them."""


def in_line(error: BaseException) -> str:
    """Return an error's line, with what to write on the command line."""
    return error.worded(Notation.COMMAND_LINE) if isinstance(error, ForebayError) else str(error)


def print_json(document: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write exactly one JSON document on stdout; NaN is not JSON and raises an error."""
    click.echo(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))
    answered()


def answered() -> None:
    """Record that the answer is on stdout."""
    written.append("the answer as printed")


def show(
    answer: Any,
    as_json: bool,
    printer: Callable[[Any], object],
    indent: int | None = 2,
) -> None:
    """Print an answer: with ``--json`` its document, which it has or is, else by ``printer``."""
    if as_json:
        print_json(answer if isinstance(answer, Mapping) else answer.to_dict(), indent)
    else:
        printer(answer)
        answered()


def write(
    what: str, path: Path | None, writer: Callable[[Path], object] | None = None, more: str = ""
) -> None:
    """Write a file, if it is asked for, and print its path on stderr.

    Without ``writer`` it has been written. Raises OSError whose ``filename`` names the file.
    """
    if path is None:
        return
    try:
        if writer is not None:
            writer(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    written.append(f"{what} {path}")
    say(f"{what}: {path}{more}")


def say(line: str) -> None:
    """Print a line on stderr, because stdout may be a JSON document.

    Errors of stderr are ignored, because the answer does not depend on it.
    """
    with suppress(OSError):
        click.echo(one_line(line), err=True)


@contextmanager
def naming_signal() -> Iterator[None]:
    """Let the message of an interrupt begin with which signal it was."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(*(f"{word()}; {text}" for text in stop.args)) from None


def to_be_continued(kept: str) -> KeyboardInterrupt:
    """Return the interrupt of a verb that continues from what it has kept."""
    return KeyboardInterrupt(f"{word()}; {kept}, and the same command continues from there")


@contextmanager
def progress(label: str) -> Iterator[Callback]:
    """Show the progress of ``label``; yields a callback that takes the fraction done.

    Its method ``stage`` takes the name of a part of the job, which has fractions and time of its
    own; what follows a comma there is a detail of the same part.
    """
    shown = _Bar(label) if sys.stderr.isatty() else _Lines(label)
    try:
        yield shown
    finally:
        shown.close()


def announce(label: str) -> Callback:
    """Return a callback that prints the expected time before a long job."""

    def say_so(seconds: float) -> None:
        if seconds >= _WORTH_SAYING_S:
            say(f"{label}: about {_time(seconds)} on this machine")

    return say_so


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class _Lines:
    """Progress in a log file: nothing in the first seconds, then a line every ten seconds."""

    def __init__(self, label: str) -> None:
        self._job = self._label = label
        self._stage = ""
        self._begun, self._first, self._last = time.monotonic(), 0.0, 0.0
        self._next = self._begun + _PLAIN_EVERY_S

    def stage(self, name: str) -> None:
        part = name.partition(",")[0]
        self._label = f"{self._job}, {name}"
        if part != self._stage:
            self._stage, self._last = part, 1.0
            self(0.0)

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if fraction < self._last:  # another stage, or a part that is done again
            self._begun, self._first = now, fraction
        self._last = fraction
        if now >= self._next:
            self._next = now + _PLAIN_EVERY_S
            said = f"{self._label}: {fraction:.0%}"
            if fraction - self._first >= _FORESEEN:
                left = (now - self._begun) * (1.0 - fraction) / (fraction - self._first)
                said += f", about {_time(left)} left"
            say(said)

    def close(self) -> None:
        """Do nothing, as no resource is open."""


class _Bar:
    """Progress on a terminal: a bar that is removed at the end."""

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
