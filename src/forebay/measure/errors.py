"""The error of this package."""

from __future__ import annotations

from forebay.errors import ForebayError


class MeasureError(ForebayError, ValueError):
    """Unreadable records, or options that contradict them; the text is one line."""

    code = "measure"
