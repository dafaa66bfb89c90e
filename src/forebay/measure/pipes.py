"""Captures from a pipe: `tcpdump -w - | forebay measure /dev/stdin`."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import TypeVar

Answer = TypeVar("Answer")


def read_from(names: Sequence[str], read: Callable[[], Answer]) -> Answer:
    """Return the result of `read`, which opens ``names``.

    A read of a pipe or device may block forever, in code that handles no signals. It then runs in
    another thread, and this one handles the signals.
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
