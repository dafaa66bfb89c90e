"""The one error of this room."""

from __future__ import annotations


class MeasureError(ValueError):
    """Records that cannot be read, or options that contradict them; its text is one line."""

    exit_status = 2
