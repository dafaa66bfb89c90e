"""Cells that a grid leaves out: tables of values and bounds, or a function."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import KNOWN, parse_amount
from forebay.studies.errors import unknown_key

Values = Mapping[str, Any]
Keeps = Callable[[Values], bool]
"""Whether a cell with these values, by field, stays in the grid."""

_MOST = 1e300
_BOUNDS = ("at_least", "at_most", "above", "below")


def keeper(tables: Sequence[Values], names: Sequence[str]) -> Keeps:
    """Return a function that is false for cells of which a table is true. Raises ScenarioError.

    A table is true if all its entries are: a value, a list of values, or bounds such as
    ``{above = "1 s"}``.
    """
    read = []
    if not isinstance(tables, list | tuple):
        raise ScenarioError("bad-grid.no-conditions", field="leave_out", value=tables)
    for table in tables:
        if not isinstance(table, Mapping) or not table:
            raise ScenarioError("bad-grid.no-condition", field="leave_out", value=table)
        read.append(flat(table, _BOUNDS))
        for name, wanted in read[-1].items():
            parent, _, last = str(name).rpartition(".")
            if name not in names and parent in names:
                raise unknown_key(f"leave_out.{parent}", last, _BOUNDS)
            if name not in names:
                raise unknown_key("leave_out", name, tuple(names))
            if isinstance(wanted, Mapping):
                for key in wanted:
                    if key not in _BOUNDS:
                        raise unknown_key(f"leave_out.{name}", key, _BOUNDS)
    return partial(_stays, read)


def _stays(tables: Sequence[Mapping[Any, Any]], values: Values) -> bool:
    return not any(
        all(_is(values[name], wanted) for name, wanted in table.items()) for table in tables
    )


def flat(table: Mapping[Any, Any], ends: Collection[str], before: str = "") -> dict[Any, Any]:
    """Return a table by dotted path: TOML makes tables of a path without quotes.

    ``ends`` are keys of tables that are values.
    """
    flattened: dict[Any, Any] = {}
    for name, value in table.items():
        path = f"{before}{name}" if isinstance(name, str) else name
        nested = isinstance(value, Mapping) and not set(ends) & set(value)
        for dotted, inside in flat(value, ends, f"{path}.").items() if nested else [(path, value)]:
            if dotted in flattened:
                raise ScenarioError("bad-grid.written-twice", field=str(dotted))
            flattened[dotted] = inside
    return flattened


def _is(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        there = amount(value)
        return all(_holds(there, key, amount(bound)) for key, bound in wanted.items())
    if isinstance(wanted, list | tuple):
        return any(_is(value, choice) for choice in wanted)
    return bool(value == wanted) or (
        isinstance(value, str) and isinstance(wanted, str) and _equal(value, wanted)
    )


def _holds(there: tuple[str, float], key: str, bound: tuple[str, float]) -> bool:
    if there[0] != bound[0]:
        return False
    value, limit = there[1], bound[1]
    return {
        "at_least": value >= limit, "at_most": value <= limit,
        "above": value > limit, "below": value < limit,
    }[key]  # fmt: skip


def _equal(value: str, wanted: str) -> bool:
    """Whether two texts are the same quantity in different units."""
    try:
        return amount(value) == amount(wanted)
    except ScenarioError:
        return False


def amount(value: Any) -> tuple[str, float]:
    """Return the kind of a value and its number, in bit/s, s, bits, packets or bdp.

    Raises ScenarioError: it is neither a number nor text with a number and a unit.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST:
        return "number", float(value)
    if isinstance(value, str):
        number, kind = parse_amount(value, tuple(KNOWN), "10 ms")
        return kind, float(number)
    raise ScenarioError("bad-grid.no-amount", field="leave_out", value=value)
