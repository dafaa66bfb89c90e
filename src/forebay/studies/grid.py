"""A grid: what is varied, what is asked of each cell, and with which seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from forebay.scenario import Scenario, ScenarioError
from forebay.scenario.errors import show
from forebay.scenario.overrides import has_field
from forebay.studies.axis import Axis, axis_of, refuse_equal, together, tupled
from forebay.studies.design import Design, design_of
from forebay.studies.errors import bad_grid
from forebay.studies.leave_out import Keeps, flat, keeper

ASKS = ("run", "size", "compare")
MAX_CELLS = 1_000_000
_MOST_COMBINATIONS = 10 * MAX_CELLS
"""Of which cells may be left out: each combination is looked at."""
_RANGE = {"linear", "log", "points"}


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
        for combination in self._combinations():
            values = tuple(value for part in combination for value in part)
            if self.keeps(dict(zip(self.names, values, strict=True))):
                yield values

    def _combinations(self) -> Iterator[Sequence[tuple[Any, ...]]]:
        if self.design is None:
            yield from product(*(axis.values for axis in self.axes))
            return
        for row in self.design.shares(len(self.axes)).tolist():
            yield [axis.at(share) for axis, share in zip(self.axes, row, strict=True)]


def drawn_grid(base: Scenario, names: Sequence[str], points: Sequence[tuple[Any, ...]]) -> Grid:
    """Return a grid of points that were drawn, a value of each field in each; equal ones once."""
    different = tuple({repr(each): each for each in points}.values())
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
        hint = 'write a dict, such as {"queue.size": ["64 packets", "129 packets"]}'
        raise bad_grid("axes", f"{show(axes)} is no table", hint)
    read = [_axis(name, spec, drawn is not None) for name, spec in flat(axes, _RANGE).items()]
    names = [name for axis in read for name in axis.names]
    for name in names:
        if names.count(name) > 1:
            raise bad_grid("axes", f"{name} is on two axes", "write it once")
    made = _grouped(read, groups)
    for axis in made:
        refuse_equal(axis)
    for name in names:
        _refuse_unknown(base, name)
    combinations = drawn.points if drawn is not None else prod(len(axis.values) for axis in made)
    if combinations > (_MOST_COMBINATIONS if leave_out else MAX_CELLS):
        wrong = f"{combinations:.4g} combinations of values"
        raise bad_grid("axes", wrong, f"write fewer values: {MAX_CELLS:,} cells at most")
    if drawn is not None and not made:
        raise bad_grid("axes", "a design has no axis", "write one")
    if callable(leave_out):
        leaves = leave_out
        return Grid(base, made, lambda values: not leaves(values), drawn, drawn is not None)
    return Grid(base, made, keeper(leave_out, names), drawn, drawn is not None)


def _refuse_unknown(base: Scenario, name: str) -> None:
    """Refuse a path that no scenario has, without a look at any cell. Raises ScenarioError."""
    if has_field(name):
        return
    try:
        base.replace({name: 1})
    except ScenarioError as error:
        raise error.at("axes") from None
    raise bad_grid(f"axes.{name}", "is no field of a scenario", "write one that a scenario has")


def _axis(name: Any, spec: Any, sampled: bool) -> Axis:
    if isinstance(name, tuple):
        return tupled(tuple(map(str, name)), spec)
    return axis_of(str(name), spec, sampled=sampled)


def _grouped(axes: Sequence[Axis], groups: Sequence[Sequence[str]]) -> tuple[Axis, ...]:
    """Return the axes, those of a group as one in place of its first."""
    if not isinstance(groups, list | tuple) or not all(
        isinstance(each, list | tuple) for each in groups
    ):
        hint = 'write a list of lists, such as [["queue.size", "traffic.0.flows"]]'
        raise bad_grid("together", f"{show(groups)} is no list of groups", hint)
    by_name = {axis.names[0]: axis for axis in axes}
    for name in (name for group in groups for name in group):
        if name not in by_name:
            known = ", ".join(by_name)
            raise bad_grid("together", f"{show(name)} is no axis", f"write axes: {known}")
    rest = dict(by_name)
    for group in groups:
        made = together([by_name[name] for name in group])
        rest = {
            name: made if name == group[0] else axis
            for name, axis in rest.items()
            if name == group[0] or name not in group
        }
    return tuple(rest.values())
