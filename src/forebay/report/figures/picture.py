"""Draw a paper's figure from a Picture."""

from __future__ import annotations

import math
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forebay.report.figures import style
from forebay.report.picture import Line, Panel, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_COLOURS = (style.VERMILLION, style.BLUE, style.GREEN, style.ORANGE, style.PURPLE, style.INK)
_STYLES: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.5},
    "dashes": {"linewidth": 1.3, "linestyle": (0, (4, 3))},
    "dots": {"linestyle": "none", "marker": "o", "markersize": 5, "zorder": 4},
}
_LEGEND = 120
"""Characters of a row of the legend."""


def draw_picture(picture: Picture, title: str, path: Path) -> None:
    """Draw a picture to a .svg, .png or .pdf file."""
    columns = min(picture.columns, len(picture.panels))
    rows = -(-len(picture.panels) // columns)
    height = 0.8 + (2.6 if rows > 1 else 3.6) * rows
    with style.framed(title, 7.2, height) as figure:
        all_axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        labels = dict.fromkeys(line.label for panel in picture.panels for line in panel.lines)
        colours = dict(zip(labels, cycle(_COLOURS), strict=False))
        for axes, panel in zip(all_axes, picture.panels, strict=False):
            _draw(axes, panel, colours)
        for unused in all_axes[len(picture.panels) :]:
            unused.set_axis_off()
        style.legend_below(figure, _LEGEND, 3)
    style.save(figure, path)


def _draw(axes: Axes, panel: Panel, colours: dict[str, str]) -> None:
    for line in panel.lines:
        _line(axes, line, colours[line.label])
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    for name in panel.log:
        axes.set(**{f"{name}scale": "log"})
        axis = axes.xaxis if name == "x" else axes.yaxis
        low, high = axis.get_view_interval()
        if high / low <= 100:  # fewer than two powers of ten
            style.plain_ticks(axis, (1.0, 2.0, 5.0))
    if panel.title:
        axes.set_title(panel.title, fontsize=9, color=style.INK)
    style.clean(axes)


def _line(axes: Axes, line: Line, colour: str) -> None:
    label = line.label or "_"  # matplotlib omits such labels from a legend
    if line.kind == "bars":
        width = (max(line.x) - min(line.x)) / max(len(line.x) - 1, 1)
        axes.bar(line.x, line.y, width=width, color=style.FAINT, alpha=0.4, label=label)
    elif line.kind == "band":
        low, high = zip(*line.y_bounds, strict=True)
        axes.fill_between(
            line.x, low, high, color=style.FAINT, alpha=0.25, linewidth=0, label=label
        )
    else:
        axes.plot(line.x, line.y, color=colour, label=label, **_STYLES[line.kind])
        if line.kind != "dots":
            alone = _alone(line)
            axes.plot(
                [line.x[i] for i in alone], [line.y[i] for i in alone],
                color=colour, **_STYLES["dots"],
            )  # fmt: skip
        for bounds, y in zip(line.x_bounds, line.y, strict=False):
            axes.plot(bounds, (y, y), color=colour, linewidth=1.3)
        for x, bounds in zip(line.x, line.y_bounds, strict=False):
            axes.plot((x, x), bounds, color=colour, linewidth=1.3)


def _alone(line: Line) -> list[int]:
    """Return the places of points without a neighbour, through which a line shows nothing."""
    there = [False, *(math.isfinite(y) for y in line.y), False]
    triples = zip(there, there[1:], there[2:], strict=False)
    return [i for i, (before, here, after) in enumerate(triples) if here and not (before or after)]
