"""The picture of a study: curves with bands, or maps, as small multiples."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from forebay.outcome.study import Curve, StudyPanel, StudyPicture
from forebay.report.figures.style import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILLION,
    clean,
    house_style,
    literal,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, INK)


_DASHES = ("-", "--", ":", "-.")


_MARKERS = "osD^v<>P*X"


_COLUMNS = 3


_CHARACTERS = 12
"""Of the legend's text in an inch."""


def save_study(figure: Figure, path: Path) -> None:
    """Write the picture to a .svg, .png or .pdf file."""
    save(figure, path)


def study_figure(picture: StudyPicture) -> Figure:
    """Return the picture of a study."""
    count = len(picture.panels)
    columns = min(_COLUMNS, count)
    rows = -(-count // columns)
    size = (7.2 if columns < 2 else 3.4 * columns, 1.0 + (3.2 if count == 1 else 2.5) * rows)
    with house_style():
        figure = Figure(figsize=size, layout="constrained")
        alike = all(each.curves for each in picture.panels)
        made = figure.subplots(rows, columns, squeeze=False, sharey=alike)
        shades = _shades(picture)
        for axes, panel in zip(made.flat, picture.panels, strict=False):
            _panel(figure, axes, panel, shades)
        for unused in made.flat[count:]:
            unused.set_axis_off()
        if alike:
            for axes in made.flat:
                axes.label_outer()
        figure.suptitle(literal(picture.title), fontsize=10, color=INK)
        _legend(figure)
    return figure


def _shades(picture: StudyPicture) -> tuple[float, float] | None:
    """Return least and most of all maps, which share their colours; None for curves."""
    values = [v for each in picture.panels for row in each.map_values for v in row if v == v]
    return (min(values), max(values)) if values else None


def _panel(
    figure: Figure, axes: Axes, panel: StudyPanel, shades: tuple[float, float] | None
) -> None:
    if panel.map_values and shades is not None:
        _map(figure, axes, panel, shades)
    else:
        styles = zip(panel.curves, cycle(_COLOURS), cycle(_MARKERS), strict=False)
        for at, (curve, colour, marker) in enumerate(styles):
            _curve(axes, curve, colour, marker, _DASHES[at // len(_COLOURS) % len(_DASHES)])
        clean(axes)
    axes.set_xlabel(literal(panel.x_label))
    axes.set_ylabel(literal(panel.y_label))
    axes.set_title(literal(panel.title), fontsize=9, color=INK)
    for name, axis, ticks in (("x", axes.xaxis, panel.ticks), ("y", axes.yaxis, panel.y_ticks)):
        if ticks:
            slants = name == "x" and max(map(len, ticks)) * len(ticks) > 50
            slanted: Any = {"rotation": 20, "ha": "right"} if slants else {}
            axis.set_ticks(range(len(ticks)), [literal(each) for each in ticks], **slanted)
            if panel.curves:
                axes.set_xlim(-0.4, len(ticks) - 0.6)
        elif name in panel.log:
            axes.set(**{f"{name}scale": "log"})
            _few_decades(axis)


def _curve(axes: Axes, curve: Curve, colour: str, marker: str, dashes: str) -> None:
    """Draw a line through the means, and a band of their intervals."""
    values = [each.value for each in curve.y]
    low = [each.value if each.low is None else each.low for each in curve.y]
    high = [each.value if each.high is None else each.high for each in curve.y]
    label = literal(curve.label) or "_"
    how: Any = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.4}
    axes.plot(curve.x, values, linestyle=dashes if curve.joined else "none", label=label, **how)
    if curve.joined and len(curve.x) > 1:
        axes.fill_between(curve.x, low, high, color=colour, alpha=0.2, linewidth=0)
    else:
        for x, *ends in zip(curve.x, low, high, strict=True):
            axes.plot([x, x], ends, color=colour, linewidth=1.2)


def _map(figure: Figure, axes: Axes, panel: StudyPanel, shades: tuple[float, float]) -> None:
    """Draw a field for each cell, and the contour of the goal."""
    values = np.ma.masked_invalid(np.array(panel.map_values))
    edges = [
        _edges(np.array(places), name in panel.log)
        for name, places in (("x", panel.map_x), ("y", panel.map_y))
    ]
    drawn = axes.pcolormesh(*edges, values, cmap="viridis", vmin=shades[0], vmax=shades[1])
    figure.colorbar(drawn, ax=axes, label=literal(panel.map_label))
    inside = panel.contour is not None and values.min() < panel.contour < values.max()
    if inside and min(values.shape) > 1:
        lines = axes.contour(
            panel.map_x, panel.map_y, values, levels=[panel.contour], colors=VERMILLION
        )
        axes.clabel(lines, fmt=lambda level: f"goal {level:g}")
    axes.grid(False)


def _edges(places: Any, is_log: bool) -> Any:
    """Return the ends of the fields: half-way between the places."""
    at = np.log(places) if is_log else places
    if len(at) == 1:
        ends = np.array([at[0] - 0.5, at[0] + 0.5])
    else:
        middle = (at[1:] + at[:-1]) / 2
        ends = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    return np.exp(ends) if is_log else ends


def _few_decades(axis: Axis) -> None:
    """Label 10, 20, 50 instead of powers of ten."""
    low, high = axis.get_view_interval()
    if high / low < 1e4:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 200 else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure) -> None:
    named: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named.update({str(label): handle for handle, label in zip(handles, labels, strict=True)})
    if named:
        width = _CHARACTERS * figure.get_size_inches()[0] - 2
        columns = max(1, int(width / (6 + max(map(len, named)))))
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns)
