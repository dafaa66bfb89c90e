"""An axis of a grid: a list of values, or a range; several fields may go together on one axis."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import exp, log
from typing import Any

from forebay.scenario.errors import ScenarioError, show
from forebay.scenario.quantity import KNOWN, parse_amount, plain
from forebay.studies.errors import bad_grid, unknown_key

MAX_POINTS = 1_000_000
_RANGE_KEYS = ("linear", "log", "points")
_WRITE = (
    'write a list, or a range such as { log = ["1 ms", "1 s"], points = 4 } or '
    "{ linear = [100, 400], points = 4 }"
)
_TEXT = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(\S.*?)\s*")
_SIGNIFICANT, _MOST = 6, 1e300


@dataclass(frozen=True, slots=True)
class Range:
    """Values between two ends, which are both included.

    Attributes
    ----------
    ends : the ends as they were written.
    low, high : the ends in the unit of the first one.
    unit : that unit; "" for plain numbers.
    kind : kind of the quantity, such as "packets"; "whole" or "number" for plain numbers.
    per_unit : bytes in a unit of a size; else 1.
    log : whether steps are equal ratios instead of equal differences.
    points : number of values; None if a design chooses them.
    """

    ends: tuple[Any, Any]
    low: float
    high: float
    unit: str
    kind: str
    per_unit: float
    log: bool
    points: int | None

    def at(self, share: float) -> Any:
        """Return the value at a share of the range, 0 to 1."""
        if share in (0.0, 1.0):
            return self.ends[int(share)]
        return self.written(self.number(share))

    def number(self, share: float) -> float:
        """Return the same as a number in the unit of the first end."""
        if self.log:
            return exp(log(self.low) + share * log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def values(self) -> list[Any]:
        """Return all points; equal ones, as of whole numbers, once."""
        last = (self.points or 2) - 1
        return list(dict.fromkeys(self.at(i / last) for i in range(last + 1)))

    def written(self, number: float) -> Any:
        """Return a number of the range as a value with its unit."""
        if self.kind == "whole":
            return round(number)
        if self.kind == "number":
            return float(f"{number:.{_SIGNIFICANT}g}")
        if self.kind == "size":
            return f"{round(number * self.per_unit)} B"
        if self.kind == "packets":
            return f"{round(number)} {self.unit}"
        return f"{plain(Decimal(f'{number:.{_SIGNIFICANT}g}'))} {self.unit}"


@dataclass(frozen=True, slots=True)
class Axis:
    """Fields that change together.

    Attributes
    ----------
    names : dotted paths of the fields.
    values : one tuple for each point, with a value for each field; empty for a range whose points
        a design chooses.
    range : for a design; only of an axis of one field.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    range: Range | None = None

    def at(self, share: float) -> tuple[Any, ...]:
        """Return the point at a share of the axis, 0 to 1 without the end."""
        if self.range is not None:
            return (self.range.at(share),)
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


def axis_of(name: str, spec: object, *, sampled: bool) -> Axis:
    """Read an axis of one field. Raises ScenarioError.

    Parameters
    ----------
    sampled : whether a design chooses the points, so that a range needs no number of them.
    """
    if isinstance(spec, Mapping):
        found = _range(name, spec, sampled)
        values = () if sampled else tuple((each,) for each in found.values())
        return Axis((name,), values, found)
    return Axis((name,), tuple((each,) for each in _listed(name, spec)))


def refuse_equal(axis: Axis) -> None:
    """Refuse an axis with two equal points, also in other units: one would count twice."""
    seen: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for point in axis.values:
        amounts = tuple(map(_amount, point))
        if (before := seen.get(amounts)) is not None:
            first, second = (show(each[0] if len(each) == 1 else each) for each in (before, point))
            wrong = f"has {second} twice" if first == second else f"{first} and {second} are equal"
            raise bad_grid(", ".join(axis.names), wrong, "write each value once")
        seen[amounts] = point


def _amount(value: Any) -> Any:
    """Return what makes a value equal to another: an amount and its kind, or the value."""
    if isinstance(value, str):
        try:
            return parse_amount(value, tuple(KNOWN), "10 ms")
        except ScenarioError:
            return value
    return (type(value) is bool, value) if isinstance(value, int | float) else repr(value)


def range_without_points(name: str, spec: Mapping[str, Any]) -> Range:
    """Read a range whose points a design chooses. Raises ScenarioError."""
    return _range(name, spec, True)


def range_of(name: str, first: object, last: object) -> Range:
    """Return two amounts in the unit of the first; they may be equal. Raises ScenarioError."""
    return _between(name, (first, last), False, None)


def together(axes: Sequence[Axis]) -> Axis:
    """Return one axis whose fields go together, point by point. Raises ScenarioError."""
    counts = {", ".join(each.names): len(each.values) for each in axes}
    if len(set(counts.values())) != 1 or not all(counts.values()):
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise bad_grid("together", f"{said} values", "write as many for each of them")
    names = tuple(name for each in axes for name in each.names)
    points = zip(*(each.values for each in axes), strict=True)
    return Axis(names, tuple(tuple(v for part in point for v in part) for point in points))


def tupled(names: tuple[str, ...], spec: object) -> Axis:
    """Read an axis of several fields, a tuple for each point. Raises ScenarioError."""
    where = ", ".join(names)
    points = tuple(tuple(each) if isinstance(each, list | tuple) else (each,) for each in
                   _listed(where, spec))  # fmt: skip
    if any(len(each) != len(names) for each in points):
        raise bad_grid(where, f"a point has no {len(names)} values", "write one for each field")
    return Axis(names, points)


def _listed(name: str, spec: object) -> list[Any]:
    if isinstance(spec, str | bytes) or not hasattr(spec, "__iter__"):
        raise bad_grid(name, f"{show(spec)} is no axis", _WRITE, spec)
    values = [each.item() if type(each).__module__ == "numpy" else each for each in spec]
    if not values:
        raise bad_grid(name, "is an empty list", _WRITE, spec)
    return values


def _range(name: str, spec: Mapping[str, Any], sampled: bool) -> Range:
    for key in spec:
        if key not in _RANGE_KEYS:
            raise unknown_key(name, str(key), _RANGE_KEYS)
    steps = [key for key in ("linear", "log") if key in spec]
    ends = spec[steps[0]] if len(steps) == 1 else None
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise bad_grid(name, "is no range of two ends", _WRITE, spec)
    points = spec.get("points")
    if not sampled and points is None:
        raise bad_grid(name, "has no number of points", f"{_WRITE}")
    if points is not None and not (type(points) is int and 2 <= points <= MAX_POINTS):
        raise bad_grid(
            f"{name}.points", show(points), f"write a whole number from 2 to {MAX_POINTS}"
        )
    made = _between(name, ends, steps[0] == "log", points)
    if made.log and not made.low > 0.0 < made.high:
        raise bad_grid(name, "a logarithmic range has no 0", "write ends above 0, or linear")
    if made.low == made.high:
        raise bad_grid(name, "both ends are equal", "write two different ends")
    return made


def _between(name: str, ends: Sequence[Any], is_log: bool, points: int | None) -> Range:
    first, last = ends
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in ends):
        kind = "whole" if all(isinstance(each, int) for each in ends) else "number"
        if not all(abs(each) <= _MOST for each in ends):
            raise bad_grid(name, f"{show(first)} to {show(last)} is no range", _WRITE)
        return Range((first, last), float(first), float(last), "", kind, 1.0, is_log, points)
    parts = [_TEXT.fullmatch(each) if isinstance(each, str) else None for each in ends]
    if parts[0] is None or parts[1] is None:
        hint = 'write two numbers, or two amounts with units, such as ["10 ms", "1 s"]'
        raise bad_grid(name, f"{show(first)} to {show(last)} is no range", hint)
    low, unit = float(parts[0][1]), parts[0][2]
    kind, high, per_unit = _in_unit(
        name, (first, last), low, float(parts[1][1]), parts[1][2] == unit
    )
    return Range((first, last), low, high, unit, kind, per_unit, is_log, points)


def _in_unit(
    name: str, ends: tuple[str, str], low: float, high: float, same: bool
) -> tuple[str, float, float]:
    """Return the kind of a range, its second end in the unit of the first, and bytes a unit."""
    if all("sqrt" in each.replace(" ", "") for each in ends) and same:
        return "bdp", high, 1.0
    try:
        (base, kind), (other, other_kind) = (parse_amount(e, tuple(KNOWN), "10 ms") for e in ends)
    except ScenarioError as error:
        raise error.at("", name) from None
    if kind != other_kind:
        hint = "write both ends in units of one kind"
        raise bad_grid(name, f"{show(ends[0])} and {show(ends[1])} are of two kinds", hint)
    if low:
        high = high if same else low * float(other / base)
    elif not same:
        raise bad_grid(name, f"{show(ends[0])} has another unit", "write both ends in one unit")
    return kind, high, float(base) / 8 / low if kind == "size" and low else 1.0
