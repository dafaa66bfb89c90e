"""Progress on stderr: a bar on a terminal, else a plain line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from forebay.cli.output import say

Callback = Callable[[float], None]

_QUIET_S = 0.4  # a job shorter than this shows no bar, and spares the import of one
_PLAIN_EVERY_S = 10.0


@contextmanager
def progress(label: str) -> Iterator[Callback]:
    """Show how far ``label`` is; yields a function to be called with the fraction done."""
    shown = _Bar(label) if sys.stderr.isatty() else _Lines(label)
    try:
        yield shown.update
    finally:
        shown.close()


class _Lines:
    """For a log file: silent for the first seconds, then one line every ten."""

    def __init__(self, label: str) -> None:
        self._label, self._next = label, time.monotonic() + _PLAIN_EVERY_S

    def update(self, fraction: float) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PLAIN_EVERY_S
            say(f"{self._label}: {fraction:.0%}")

    def close(self) -> None:
        """Nothing was opened."""


class _Bar:
    """For a person: a bar that leaves no trace when it is done."""

    def __init__(self, label: str) -> None:
        self._label, self._from = label, time.monotonic() + _QUIET_S
        self._bar: Any = None

    def update(self, fraction: float) -> None:
        if self._bar is None and time.monotonic() >= self._from:
            self._bar = self._open()
        if self._bar is not None:
            self._bar.update(self._task, completed=fraction)

    def _open(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn

        columns = ("{task.description}", BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._label, total=1.0)
        bar.start()
        return bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
