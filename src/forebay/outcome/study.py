"""What a study shows: means over seeds of its cells, and curves and maps of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forebay.outcome.model import Metric


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One cell: the values of the axes, and the mean over seeds of each column.

    ``settled`` is false if long flows had not settled in a run; the means then have no interval.
    """

    values: tuple[Any, ...]
    metrics: tuple[Metric | None, ...]
    settled: bool = True


@dataclass(frozen=True, slots=True)
class StudyTable:
    """Cells in the order of the grid.

    Attributes
    ----------
    names, columns : titles of the values and of the metrics.
    differences : of a study of one axis: each cell minus the first one, paired by seed.
    """

    title: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    differences: tuple[StudyRow, ...] = ()

    @property
    def unsettled(self) -> int:
        """Cells whose long flows had not settled."""
        return sum(not row.settled for row in self.rows)


@dataclass(frozen=True, slots=True)
class Curve:
    """Means over an axis with their intervals.

    Attributes
    ----------
    x : numbers, or places 0, 1, … of an axis of words.
    joined : whether a line goes through the points; those of a design stand alone.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[Metric, ...]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class StudyPanel:
    """One pair of axes: curves, or a map if `map_values` is not empty.

    Attributes
    ----------
    ticks : words of an axis, one for each place; empty if x is a number.
    log : logarithmic axes, "x", "y", "xy" or "".
    map_x, map_y, map_values : of a map; the values have shape (y, x), NaN where there is no cell.
    contour : a goal to draw into a map; None without one.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...] = ()
    ticks: tuple[str, ...] = ()
    log: str = ""
    map_x: tuple[float, ...] = ()
    map_y: tuple[float, ...] = ()
    map_values: tuple[tuple[float, ...], ...] = ()
    map_label: str = ""
    y_ticks: tuple[str, ...] = ()
    contour: float | None = None


@dataclass(frozen=True, slots=True)
class StudyPicture:
    """Small multiples."""

    title: str
    panels: Sequence[StudyPanel]
