"""The picture of a reproduction: a row of dots for each row of the table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from forebay.outcome import Metric
from forebay.report.figures.picture import draw_picture
from forebay.report.figures.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILLION,
    clean,
    house_style,
    save,
)
from forebay.report.reproduction import Reproduction, row_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS = (("s", ORANGE), ("D", PURPLE), ("o", BLUE), ("^", GREEN), ("v", INK), ("P", VERMILLION))


def draw_reproduction(made: Reproduction, path: Path) -> None:
    """Draw its picture, or every number column against its rows, into a file."""
    if made.picture is not None:
        draw_picture(made.picture, made.title, path)
        return
    with house_style():
        figure = Figure(figsize=(7.2, 1.6 + 0.28 * len(made.rows)), layout="constrained")
        axes = figure.subplots()
        drawn = _drawn(made)
        for place, column in enumerate(drawn):
            beside = _APART * (place - (len(drawn) - 1) / 2)
            _dots(axes, made, column, _DOTS[place % len(_DOTS)], beside)
        _name_rows(axes, made)
        figure.suptitle(made.title, fontsize=10, color=INK)
        axes.set_xlabel(made.unit)
        figure.legend(loc="outside lower center", ncols=3)
        clean(axes)
        save(figure, path)


_APART = 0.13  # of the distance between two rows


def _drawn(made: Reproduction) -> list[int]:
    if made.drawn:
        return [made.columns.index(name) for name in made.drawn]
    rest = range(made.labels, len(made.columns))
    return [place for place in rest if any(_value(row[place]) is not None for row in made.rows)]


def _value(cell: Any) -> float | None:
    if isinstance(cell, Metric):
        return cell.value
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def _dots(axes: Axes, made: Reproduction, column: int, dot: tuple[str, str], beside: float) -> None:
    """Draw one column, a little above or below the row's line: equal values stay in sight."""
    marker, colour = dot
    cells = [(place + beside, row[column]) for place, row in enumerate(made.rows)]
    seen = [(place, cell, value) for place, cell in cells if (value := _value(cell)) is not None]
    ours = any(isinstance(cell, Metric) for _, cell, _ in seen)
    for place, cell, _ in seen:
        if isinstance(cell, Metric) and cell.low is not None and cell.high is not None:
            axes.plot([cell.low, cell.high], [place, place], color=colour, linewidth=1.6)
    axes.plot(
        [value for _, _, value in seen], [place for place, _, _ in seen],
        linestyle="none", marker=marker, markersize=5, color=colour,
        markerfacecolor=colour if ours else "none", label=made.columns[column],
    )  # fmt: skip


def _name_rows(axes: Axes, made: Reproduction) -> None:
    axes.set_yticks(range(len(made.rows)), [row_name(made, row) for row in made.rows])
    axes.set_ylabel(", ".join(made.columns[: made.labels]))
    axes.invert_yaxis()
    for label, verdict in zip(axes.get_yticklabels(), made.verdicts, strict=True):
        label.set_color(INK if verdict else VERMILLION)
