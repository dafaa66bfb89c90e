"""The one error of this package."""

from __future__ import annotations

from forebay.errors import ForebayError


class MeasureError(ForebayError, ValueError):
    """Records that cannot be read, or options that contradict them; its text is one line."""

    code = "measure"
