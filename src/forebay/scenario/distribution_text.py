"""What the text of a distribution may be, and what to write instead where it is something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from pydantic import SerializerFunctionWrapHandler

from forebay.errors import entry, literal
from forebay.scenario.distribution_shapes import ExponentialShape
from forebay.scenario.errors import ScenarioError, show

_MOST_VALUES = 10_000


def two_ends(value: object) -> object:
    """Refuse what is no list of two ends."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return value
    refuse_range(value)
    raise ScenarioError(
        "wrong-type", "uniform needs its two ends", write_distribution(), value=value
    )


def mean_alone(value: object) -> object:
    """Accept { exponential = "1 s" } for { exponential = { mean = "1 s" } }."""
    return value if isinstance(value, Mapping | ExponentialShape) else {"mean": value}


def some_values(value: object) -> object:
    """Refuse what is no list of values, or one of too many."""
    if isinstance(value, list | tuple) and 1 <= len(value) <= _MOST_VALUES:
        return value
    wrong = f"{show(value)} is no list of 1 to {_MOST_VALUES} durations"
    raise ScenarioError("wrong-type", wrong, f"write {entry('values', ['28 ms', '67 ms'])}")


def refuse_range(value: object) -> None:
    """Refuse "10-180 ms" and ["10 ms", "180 ms"], with the correct table in the hint."""
    from forebay.scenario import suggestions

    two = value if isinstance(value, list | tuple) and len(value) == 2 else suggestions.span(value)
    if two and all(isinstance(end, str) for end in two):
        hint = f"write {literal({'uniform': list(two)})}"
        wrong = f"{show(value)} does not give the distribution between its ends"
        raise ScenarioError("wrong-type", wrong, hint, value=value)


def write_distribution() -> str:
    """Return what to write for a distribution, as a hint."""
    return f'write "100 ms" or {literal({"uniform": ["80 ms", "120 ms"]})}'


def check_shares(shares: Sequence[float], values: int) -> None:
    """Refuse shares that are not one for each value, or do not sum to 1."""
    hint = f"write {values} numbers above 0 that sum to 1"
    if len(shares) != values:
        wrong = f"{len(shares)} are not a share for each value"
        raise ScenarioError("wrong-type", wrong, hint, field="shares")
    if abs(fsum(shares) - 1) > 1e-9:
        wrong = f"the shares sum to {fsum(shares):g}"
        raise ScenarioError("out-of-range", wrong, hint, field="shares")


def read_dealt(table: Any) -> Any:
    """Read ``dealt``, which older files say for ``stratified``."""
    if not isinstance(table, dict) or "dealt" not in table or "stratified" in table:
        return table
    return {("stratified" if key == "dealt" else key): table[key] for key in table}


LAWS = ("uniform", "exponential", "normal", "lognormal", "pareto", "values")
"""Every law that a table can name."""


def law_of(value: Any) -> str | None:
    """Return the law that a value names; anything but tables, ranges and laws is one value."""
    if isinstance(value, Mapping):
        return next((name for name in LAWS if name in value), None)
    kind = getattr(value, "kind", None)  # a duration has one too, and is one value
    return kind if kind in LAWS else "constant"


def written(law: Any, handler: SerializerFunctionWrapHandler, info: Any) -> Any:
    """Return a law as a file has it, or in JSON its canonical form."""
    return handler(law) if info.mode == "json" else law.canonical()
