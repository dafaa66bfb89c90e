"""A value of a scenario times a factor, in its own notation."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from forebay.scenario import Duration, ScenarioError
from forebay.scenario.quantity import parse_amount, plain

_KINDS = ("rate", "time", "size", "packets")
_NO_AMOUNT = ("shares", "shape")
"""Keys of a distribution whose numbers say its form."""


def scaled(value: Any, factor: float) -> Any:
    """Return a written value with every amount in it scaled; whole numbers stay whole."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return max(1, round(factor * value)) if value else 0
    if isinstance(value, float):
        return factor * value
    if isinstance(value, list):
        return [scaled(each, factor) for each in value]
    if isinstance(value, dict):
        return {
            name: each if name in _NO_AMOUNT else scaled(each, factor)
            for name, each in value.items()
        }
    return _text(value, factor)


def _text(value: str, factor: float) -> str:
    first, dots, last = value.partition("..")
    if dots and first.strip().isdigit() and last.strip().isdigit():  # flows, from … to …
        return f"{scaled(int(first), factor)}..{scaled(int(last), factor)}"
    try:
        amount, kind = parse_amount(value, _KINDS, "10 ms")
    except ScenarioError:
        return value  # a name
    made = float(amount) * factor
    if kind == "time":
        return str(Duration(float(f"{made:.9g}")))
    if kind == "packets":
        return f"{max(1, round(made))} packets"
    if kind == "size":
        return f"{round(made / 8)} B"
    return f"{plain(Decimal(f'{made:.9g}'))} bit/s"
