"""Reads captures by the core; also from a pipe: `tcpdump -w - | forebay measure /dev/stdin`."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from forebay.errors import panics_as_defects
from forebay.measure.estimate import MeasureError

if TYPE_CHECKING:
    from forebay.progress import Progress

Answer = TypeVar("Answer")


def read_captures(
    names: Sequence[str], read: Callable[..., Answer], progress: Progress | None
) -> Answer:
    """Return the result of `read`, a reader of the core, which opens ``names``.

    Raises MeasureError for a file that is no capture.
    """
    total = sum(Path(name).stat().st_size for name in names if Path(name).is_file())

    def tell(done: int) -> None:
        if progress is not None and total:
            progress(min(done / total, 1.0))

    try:
        with panics_as_defects():
            return _read_from(names, partial(read, names, progress=tell))
    except ValueError as error:
        raise MeasureError(f"{error}; write the path of a pcap or pcapng file") from None


def _read_from(names: Sequence[str], read: Callable[[], Answer]) -> Answer:
    """Read in another thread if a pipe or device may block forever; this one handles signals."""
    if not any(map(_may_wait, names)):
        return read()
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def work() -> None:
        try:
            answers.put(read())
        except BaseException as error:
            answers.put(error)

    threading.Thread(target=work, daemon=True).start()
    answer = answers.get()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _may_wait(name: str) -> bool:
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False  # opening it raises the error
