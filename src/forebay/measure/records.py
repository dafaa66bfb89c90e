"""What a measurement is given: quantities with a unit, and records in files, pipes or devices."""

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
from forebay.progress import Progress
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import DataSize, Duration, Rate
from forebay.scenario.queue import BufferSize
from forebay.words import Fact, argument

if TYPE_CHECKING:
    Q = TypeVar("Q", BufferSize, DataSize, Duration, Rate)

Answer = TypeVar("Answer")
MOST_BYTES = 256 * 1024 * 1024
"""Enough for counters with a row every second for two months."""


def parse(name: str, kind: type[Q], text: str) -> Q:
    """Return the quantity of an argument. Raises ScenarioError that names the argument."""
    return kind.parse_argument(argument(name), text)


def bits_per_second(rate: str) -> float:
    """Return the argument ``rate`` in bit/s, above 0. Raises ScenarioError."""
    bps = parse("rate", Rate, rate)
    if not bps > 0:
        raise ScenarioError("out-of-range.rate", field=argument("rate"), value=bps)
    return float(bps)


def entries_of(given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the entries of an argument: a list of paths or texts, or one of them."""
    listed = [given] if isinstance(given, str | os.PathLike) else given
    return [os.fspath(entry) for entry in listed]


def read_text(path: str | os.PathLike[str], hint: Fact) -> str:
    """Return a file's text in UTF-8, without its byte order mark.

    Raises MeasureError, whose end is ``hint``, if it cannot be read, is longer than ``MOST_BYTES``
    (a device may have no end), or is not text.
    """
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        why = error.strerror
        raise MeasureError("measure.unreadable", hint=hint, file=name, why=why) from None
    if len(content) > MOST_BYTES:
        raise MeasureError("measure.too-long", hint=hint, file=name, mib=MOST_BYTES >> 20)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MeasureError("measure.no-text", hint=hint, file=name) from None


def read_captures(
    names: Sequence[str], read: Callable[..., Answer], progress: Progress | None
) -> Answer:
    """Return the result of `read`, a reader of the core, which opens ``names``.

    Raises MeasureError for a file that is no capture.
    """
    if not names:
        raise MeasureError("measure.no-records", field=argument("records"))
    total = sum(Path(name).stat().st_size for name in names if Path(name).is_file())

    def tell(done: int) -> None:
        if progress is not None and total:
            progress(min(done / total, 1.0))

    try:
        with panics_as_defects():
            return _read_from(names, partial(read, names, progress=tell))
    except ValueError as error:
        raise MeasureError("measure.no-capture", why=error) from None


def _read_from(names: Sequence[str], read: Callable[[], Answer]) -> Answer:
    """Read in another thread if a pipe (`tcpdump -w - | forebay measure /dev/stdin`) or device may
    block forever; this one handles signals.
    """
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
