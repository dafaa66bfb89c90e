"""Text output of an operator's tools, of limited size."""

from __future__ import annotations

import os
from pathlib import Path

from forebay.measure.errors import MeasureError

MOST_BYTES = 256 * 1024 * 1024
"""Enough for counters with a row every second for two months."""


def read_text(path: str | os.PathLike[str], hint: str) -> str:
    """Return a file's text in UTF-8, without its byte order mark.

    Raises
    ------
    MeasureError
        It cannot be read, is longer than ``MOST_BYTES`` (a device may have no end), or is not
        text; ``hint`` is the end of the message.
    """
    name = os.fspath(path)
    try:
        with Path(name).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise MeasureError(f"{name}: cannot be read ({error.strerror}); {hint}") from None
    if len(content) > MOST_BYTES:
        raise MeasureError(f"{name}: is longer than {MOST_BYTES >> 20} MiB; {hint}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MeasureError(f"{name}: is not text in UTF-8; {hint}") from None
