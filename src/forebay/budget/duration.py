"""Times as a person says them."""

from __future__ import annotations

_UNITS = ((3600.0, "h"), (60.0, "min"))


def in_words(seconds: float) -> str:
    """Return a time of about two digits, in a unit that a scenario file takes: "2 min"."""
    for size, unit in _UNITS:
        if seconds >= 1.5 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds)} s"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
