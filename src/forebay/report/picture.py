"""A figure of a paper as data: panels with lines, which `forebay.report.figures` draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Line:
    """Points of one curve.

    Attributes
    ----------
    x, y : coordinates, of equal length.
    label : name in the legend, "" for none.
    kind : solid line, dashed line, single dots, bars from zero (of a histogram, as wide as the
        distance of the x), or a band shaded between ``y_bounds``.
    x_bounds, y_bounds : (low, high) of each point, drawn as its interval; empty for none.
    """

    x: Sequence[float]
    y: Sequence[float]
    label: str = ""
    kind: Literal["line", "dashes", "dots", "bars", "band"] = "line"
    x_bounds: Sequence[tuple[float, float]] = ()
    y_bounds: Sequence[tuple[float, float]] = ()

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"line {self.label!r}: {len(self.x)} x and {len(self.y)} y")
        for bounds in (self.x_bounds, self.y_bounds):
            if len(bounds) not in (0, len(self.x)):
                raise ValueError(f"line {self.label!r}: {len(self.x)} x and {len(bounds)} bounds")


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes; ``log`` names the logarithmic ones."""

    lines: Sequence[Line]
    x_label: str
    y_label: str
    title: str = ""
    log: Literal["", "x", "y", "xy"] = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """One or more panels, row by row; lines of equal label share a colour and a legend entry."""

    panels: Sequence[Panel]
    columns: int = 1
