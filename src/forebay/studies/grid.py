"""A grid: what is varied, what is asked of each cell, and with which seeds."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import exp, log, prod
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from forebay.errors import written_in
from forebay.scenario import Scenario, load
from forebay.scenario.base import whole_number, without_numpy
from forebay.scenario.errors import ScenarioError
from forebay.scenario.io import read_toml
from forebay.scenario.overrides import SOURCE, has_field
from forebay.scenario.quantity import KNOWN, parse_amount, plain
from forebay.studies.errors import unknown_key
from forebay.studies.leave_out import Keeps, flat, keeper
from forebay.words import Fact, Notation, Term, show

MAX_POINTS = 1_000_000
_RANGE_KEYS = ("linear", "log", "points")
_WRITE = Fact("bad-grid.write-an-axis")
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

    ``sampled``: whether a design chooses the points, so that a range needs no number of them.
    """
    if isinstance(spec, Mapping):
        span = read_range(name, spec, sampled=sampled)
        values = () if sampled else tuple((value,) for value in span.values())
        return Axis((name,), values, span)
    return Axis((name,), tuple((value,) for value in _listed(name, spec)))


def refuse_equal(axis: Axis) -> None:
    """Refuse an axis with two equal points, also in other units: one would count twice."""
    seen: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for point in axis.values:
        amounts = tuple(map(_amount, point))
        if (before := seen.get(amounts)) is not None:
            first, second = (each[0] if len(each) == 1 else each for each in (before, point))
            raise ScenarioError(
                "bad-grid.twice" if show(first) == show(second) else "bad-grid.equal",
                field=", ".join(axis.names), value=second, first=first,
            )  # fmt: skip
        seen[amounts] = point


def _amount(value: Any) -> Any:
    """Return what makes a value equal to another: an amount and its kind, or the value."""
    if isinstance(value, str):
        try:
            return parse_amount(value, tuple(KNOWN), "10 ms")
        except ScenarioError:
            return value
    return (type(value) is bool, value) if isinstance(value, int | float) else repr(value)


def together(axes: Sequence[Axis]) -> Axis:
    """Return one axis whose fields go together, point by point. Raises ScenarioError."""
    counts = {", ".join(axis.names): len(axis.values) for axis in axes}
    if len(set(counts.values())) != 1 or not all(counts.values()):
        each = (Fact("bad-grid.together.has", name=name, count=n) for name, n in counts.items())
        raise ScenarioError("bad-grid.together", field="together", each=", ".join(map(str, each)))
    names = tuple(name for axis in axes for name in axis.names)
    points = zip(*(axis.values for axis in axes), strict=True)
    return Axis(names, tuple(tuple(v for part in point for v in part) for point in points))


def tupled(names: tuple[str, ...], spec: object) -> Axis:
    """Read an axis of several fields, a tuple for each point. Raises ScenarioError."""
    where = ", ".join(names)
    points = tuple(tuple(point) if isinstance(point, list | tuple) else (point,) for point in
                   _listed(where, spec))  # fmt: skip
    if any(len(point) != len(names) for point in points):
        raise ScenarioError("bad-grid.point", field=where, fields=len(names))
    return Axis(names, points)


def _listed(name: str, spec: object) -> list[Any]:
    if isinstance(spec, str | bytes) or not hasattr(spec, "__iter__"):
        raise ScenarioError("bad-grid.no-axis", hint=_WRITE, field=name, value=spec)
    values: list[Any] = without_numpy(list(spec))
    if not values:
        raise ScenarioError("bad-grid.empty", hint=_WRITE, field=name, value=spec)
    return values


def read_range(name: str, spec: Mapping[str, Any], *, sampled: bool) -> Range:
    """Read a range, which needs no number of points if it is ``sampled``. Raises ScenarioError."""
    spec = without_numpy(dict(spec))
    for key in spec:
        if key not in _RANGE_KEYS:
            raise unknown_key(name, str(key), _RANGE_KEYS)
    steps = [key for key in ("linear", "log") if key in spec]
    ends = spec[steps[0]] if len(steps) == 1 else None
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise ScenarioError("bad-grid.no-ends", hint=_WRITE, field=name, value=spec)
    points = spec.get("points")
    if not sampled and points is None:
        raise ScenarioError("bad-grid.no-points", hint=_WRITE, field=name)
    if points is not None and not (type(points) is int and 2 <= points <= MAX_POINTS):
        field = f"{name}.points"
        raise ScenarioError("bad-grid.points", field=field, value=points, most=MAX_POINTS)
    span = range_of(name, ends, steps[0] == "log", points)
    if span.log and not span.low > 0.0 < span.high:
        raise ScenarioError("bad-grid.log-of-0", field=name)
    if span.low == span.high:
        raise ScenarioError("bad-grid.equal-ends", field=name)
    return span


def range_of(
    name: str, ends: Sequence[Any], is_log: bool = False, points: int | None = None
) -> Range:
    """Return two amounts in the unit of the first; they may be equal. Raises ScenarioError."""
    first, last = ends
    if all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        kind = "whole" if all(isinstance(end, int) for end in ends) else "number"
        if not all(abs(end) <= _MOST for end in ends):
            raise ScenarioError("bad-grid.no-range", "", _WRITE, field=name, first=first, last=last)
        return Range((first, last), float(first), float(last), "", kind, 1.0, is_log, points)
    parts = [_TEXT.fullmatch(end) if isinstance(end, str) else None for end in ends]
    if parts[0] is None or parts[1] is None:
        raise ScenarioError("bad-grid.no-range", field=name, first=first, last=last)
    low, unit = float(parts[0][1]), parts[0][2]
    same = parts[1][2] == unit
    kind, high, per_unit = _in_unit(name, (first, last), low, float(parts[1][1]), same)
    return Range((first, last), low, high, unit, kind, per_unit, is_log, points)


def _in_unit(
    name: str, ends: tuple[str, str], low: float, high: float, same: bool
) -> tuple[str, float, float]:
    """Return the kind of a range, its second end in the unit of the first, and bytes a unit."""
    if all("sqrt" in end.replace(" ", "") for end in ends) and same:
        return "bdp", high, 1.0
    try:
        (base, kind), (other, other_kind) = (parse_amount(e, tuple(KNOWN), "10 ms") for e in ends)
    except ScenarioError as error:
        raise error.at("", name) from None
    if kind != other_kind:
        raise ScenarioError("bad-grid.two-kinds", field=name, first=ends[0], last=ends[1])
    if low:
        high = high if same else low * float(other / base)
    elif not same:
        raise ScenarioError("bad-grid.other-unit", field=name, value=ends[0])
    return kind, high, float(base) / 8 / low if kind == "size" and low else 1.0


KINDS = ("random", "sobol", "halton", "latin-hypercube")
_DESIGN_KEYS = ("kind", "points", "seed")


@dataclass(frozen=True, slots=True)
class Design:
    """How many points are drawn, and how; the same seed draws the same ones."""

    kind: str
    points: int
    seed: int

    def shares(self, axes: int) -> NDArray[np.float64]:
        """Return the points, shape (points, axes), in [0, 1)."""
        rng = np.random.default_rng(self.seed)
        if self.kind == "random":
            return rng.random((self.points, axes))
        qmc = scipy.stats.qmc
        if self.kind == "sobol":
            sampler = qmc.Sobol(axes, rng=rng)
            drawn = sampler.random_base2(max(0, (self.points - 1).bit_length()))
            return np.asarray(drawn[: self.points], dtype=np.float64)
        kinds = {"halton": qmc.Halton, "latin-hypercube": qmc.LatinHypercube}
        return np.asarray(kinds[self.kind](axes, rng=rng).random(self.points), dtype=np.float64)


def design_of(spec: object) -> Design:
    """Read the table of a design. Raises ScenarioError."""
    if not isinstance(spec, Mapping):
        raise ScenarioError("bad-grid.no-design", field="design", value=spec)
    for key in spec:
        if key not in _DESIGN_KEYS:
            raise unknown_key("design", str(key), _DESIGN_KEYS)
    kind: Any = spec.get("kind", "sobol")
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise ScenarioError("bad-grid.design-kind", field="design.kind", value=kind, known=known)
    points = whole_number("design.points", spec.get("points", 0), 1, MAX_POINTS)
    return Design(kind, points, whole_number("design.seed", spec.get("seed", 1), 0, 2**63 - 1))


ASKS = ("run", "size", "compare")
MAX_CELLS = 1_000_000
_MOST_COMBINATIONS = 10 * MAX_CELLS
"""Of which cells may be left out: each combination is looked at."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a study.

    Attributes
    ----------
    base : the scenario whose fields the axes replace.
    keeps : cells of which it is false are left out.
    design : the points between the axes; None for every combination.
    is_drawn : whether the points were drawn, so that a value that stands in one cell alone may be
        refused there.
    """

    base: Scenario
    axes: tuple[Axis, ...]
    keeps: Keeps
    design: Design | None
    is_drawn: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The varied fields, in the order of the columns."""
        return tuple(name for axis in self.axes for name in axis.names)

    def points(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values of each cell, in the order of `names`."""
        combinations: Iterable[Iterable[tuple[Any, ...]]]
        combinations = product(*(axis.values for axis in self.axes))
        if self.design is not None:
            drawn = self.design.shares(len(self.axes)).tolist()
            combinations = (map(Axis.at, self.axes, row) for row in drawn)
        for combination in combinations:
            values = tuple(value for part in combination for value in part)
            if self.keeps(dict(zip(self.names, values, strict=True))):
                yield values


def drawn_grid(base: Scenario, names: Sequence[str], points: Sequence[tuple[Any, ...]]) -> Grid:
    """Return a grid of points that were drawn, a value of each field in each; equal ones once."""
    different = tuple({repr(point): point for point in points}.values())
    return Grid(base, (Axis(tuple(names), different),), lambda _: True, None, is_drawn=True)


def grid_of(
    base: Scenario,
    axes: Mapping[Any, Any],
    *,
    groups: Sequence[Sequence[str]] = (),
    leave_out: Sequence[Mapping[str, Any]] | Callable[[Mapping[str, Any]], bool] = (),
    design: object = None,
) -> Grid:
    """Read a grid's tables. Raises ScenarioError.

    Parameters
    ----------
    groups : names of axes that go together, point by point.
    leave_out : tables of `forebay.studies.leave_out`, or a function that is true for such a cell.
    """
    drawn = None if design is None else design_of(design)
    if not isinstance(axes, Mapping):
        raise ScenarioError("bad-grid.no-table", field="axes", value=axes)
    read = [
        tupled(tuple(map(str, name)), spec) if isinstance(name, tuple)
        else axis_of(str(name), spec, sampled=drawn is not None)
        for name, spec in flat(axes, _RANGE_KEYS).items()
    ]  # fmt: skip
    names = [name for axis in read for name in axis.names]
    for name in names:
        if names.count(name) > 1:
            raise ScenarioError("bad-grid.two-axes", field="axes", name=name)
    grouped = _grouped(read, groups)
    for axis in grouped:
        refuse_equal(axis)
    for name in names:
        refuse_unknown(base, name, "axes")
    combinations = drawn.points if drawn is not None else prod(len(axis.values) for axis in grouped)
    if combinations > (_MOST_COMBINATIONS if leave_out else MAX_CELLS):
        raise ScenarioError(
            "bad-grid.combinations", field="axes", combinations=combinations, most=MAX_CELLS
        )
    if drawn is not None and not grouped:
        raise ScenarioError("bad-grid.design-without-axis", field="axes")
    if callable(leave_out):
        leaves = leave_out
        return Grid(base, grouped, lambda values: not leaves(values), drawn, drawn is not None)
    return Grid(base, grouped, keeper(leave_out, names), drawn, drawn is not None)


def refuse_unknown(base: Scenario, name: str, argument: str | Term) -> None:
    """Refuse a path that no scenario has, without a look at any cell. Raises ScenarioError."""
    if has_field(name):
        return
    try:
        base.replace({name: 1})
    except ScenarioError as error:
        raise error.at(argument) from None
    raise ScenarioError("bad-grid.no-field", field=Term("path", argument, name))


def _grouped(axes: Sequence[Axis], groups: Sequence[Sequence[str]]) -> tuple[Axis, ...]:
    """Return the axes, those of a group as one in place of its first."""
    if not isinstance(groups, list | tuple) or not all(
        isinstance(group, list | tuple) for group in groups
    ):
        raise ScenarioError("bad-grid.no-groups", field="together", value=groups)
    by_name = {axis.names[0]: axis for axis in axes}
    for name in (name for group in groups for name in group):
        if name not in by_name:
            known = ", ".join(by_name)
            raise ScenarioError("bad-grid.group", field="together", value=name, known=known)
    rest = dict(by_name)
    for group in groups:
        joint = together([by_name[name] for name in group])
        rest = {
            name: joint if name == group[0] else axis
            for name, axis in rest.items()
            if name == group[0] or name not in group
        }
    return tuple(rest.values())


_KEYS = (
    "base", "name", "engine", "seed", "seeds", "ask", "budget", "axes", "together", "leave_out",
    "design",
)  # fmt: skip
_SHIPPED = Path(__file__).resolve().parents[1] / "scenarios" / "grids"


@dataclass(frozen=True, slots=True)
class GridFile:
    """A grid, and what its file says about the runs; None where it says nothing."""

    grid: Grid
    settings: dict[str, Any]
    files: tuple[str, ...]


def shipped_grids() -> list[str]:
    """Return the names of the grids that ship with Forebay."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def load_grid(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> GridFile:
    """Read a grid. Raises ScenarioError.

    Parameters
    ----------
    path : a TOML file, or the name of a shipped grid.
    overrides : ``PATH=VALUE`` strings for the base scenario.
    """
    source = os.fspath(path)
    if not os.path.exists(source) and source in shipped_grids():
        source = str(_SHIPPED / f"{source}.toml")
    with written_in(Notation.FILE):
        tree = read_toml(source, "grid", shipped_grids())
        try:
            return _read(tree, source, overrides)
        except ScenarioError as error:
            raise error if error.file else error.at(source) from None


def _read(tree: dict[str, Any], source: str, overrides: Sequence[str]) -> GridFile:
    for key in tree:
        if key not in _KEYS:
            raise unknown_key("", key, _KEYS)
    base, file = _base(tree.get("base"), os.path.dirname(source), overrides)
    if not isinstance(tree.get("axes"), dict) or not tree["axes"]:
        raise ScenarioError("bad-grid.axes", field="axes")
    for path in (override.partition("=")[0].strip() for override in overrides):
        if any(f"{path}.".startswith(f"{axis}.") for axis in tree["axes"]):
            raise ScenarioError("bad-grid.set-axis", file=SOURCE, field=path)
    grid = grid_of(
        base, tree["axes"], groups=tree.get("together", ()),
        leave_out=tree.get("leave_out", ()), design=tree.get("design"),
    )  # fmt: skip
    settings: dict[str, Any] = {
        name: tree[name] for name in ("engine", "seed", "seeds", "ask", "budget") if name in tree
    }
    return GridFile(grid, settings, (source, file, *base.files))


def _base(base: object, folder: str, overrides: Sequence[str]) -> tuple[Scenario, str]:
    """Return the base scenario and its file: a path from the grid's folder, or a shipped name."""
    if not isinstance(base, str) or not base:
        kind = "bad-grid.no-base" if base is None else "bad-grid.base"
        raise ScenarioError(kind, field="base", value=base)
    beside = os.path.join(folder, base)
    path = beside if os.path.exists(beside) else base
    return load(path, overrides), path
