"""The error of this package."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from forebay.errors import ForebayError
from forebay.scenario.quantity import Rate

if TYPE_CHECKING:
    from forebay.scenario.quantity import DataSize, Duration
    from forebay.scenario.queue import BufferSize

    Path = str | os.PathLike[str]
    Q = TypeVar("Q", BufferSize, DataSize, Duration, Rate)


class MeasureError(ForebayError, ValueError):
    """Unreadable records, or options that contradict them; the text is one line."""

    code = "measure"
