"""Small tables inside a field: which keys they have, and plain numbers in them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from forebay.scenario.errors import ScenarioError, nearest, show


def table(value: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the table if it has these keys and no others. Raises ScenarioError."""
    known = (*required, *optional)
    if not isinstance(value, Mapping):
        hint = f"write a table with {', '.join(known)}"
        raise ScenarioError("wrong-type", f"{show(value)} where a table belongs", hint)
    for key in value:
        if key not in known:
            hint = f'write "{nearest(str(key), known) or known[0]}"'
            raise ScenarioError("unknown-key", "there is no such key", hint, field=str(key))
    for key in required:
        if key not in value:
            raise ScenarioError("missing", "is missing", f"write {key} too", field=key)
    return dict(value)


def relative(deviation: float, mean: float) -> None:
    """Raise ScenarioError for a standard deviation that no law of such a mean is drawn with."""
    if not 1e-6 <= deviation / mean <= 1e3:
        wrong, hint = "is out of range", "write a deviation of 0.000001 to 1000 times the mean"
        raise ScenarioError("out-of-range", wrong, hint, field="deviation")


def number(cells: Mapping[str, Any], key: str, least: float, most: float) -> float:
    """Return a plain number in [least, most]. Raises ScenarioError."""
    value = cells[key]
    hint = f"write a number from {least:g} to {most:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ScenarioError("wrong-type", f"{show(value)} is not a number", hint, field=key)
    if not (isfinite(value) and least <= value <= most):
        wrong = f"{show(value)} is out of range"
        raise ScenarioError("out-of-range", wrong, hint, field=key, value=value)
    return float(value)
