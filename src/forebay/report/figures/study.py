"""The picture of a study: curves with bands, or maps, as small multiples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from forebay.outcome.study import Curve, StudyPanel, StudyPicture
from forebay.outcome.uncertain import Influence, Sensitivity, UncertainSize
from forebay.report.figures import style
from forebay.report.study import size_words
from forebay.words import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE, style.INK)
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^v<>P*X"
_COLUMNS = 3
_CHARACTERS = 12
"""Of the legend's text in an inch."""


def study_figure(picture: StudyPicture) -> Figure:
    """Return the picture of a study."""
    count = len(picture.panels)
    columns = min(_COLUMNS, count)
    rows = -(-count // columns)
    size = (7.2 if columns < 2 else 3.4 * columns, 1.0 + (3.2 if count == 1 else 2.5) * rows)
    with style.framed(picture.title, *size) as figure:
        labels = {panel.y_label for panel in picture.panels}
        alike = len(labels) == 1 and all(panel.curves for panel in picture.panels)
        grid = figure.subplots(rows, columns, squeeze=False, sharey=alike)
        # All maps share their colours, from the least to the most of them.
        values = [v for panel in picture.panels for row in panel.map_values for v in row if v == v]
        shades = (min(values), max(values)) if values else None
        for axes, panel in zip(grid.flat, picture.panels, strict=False):
            _panel(figure, axes, panel, shades)
        for unused in grid.flat[count:]:
            unused.set_axis_off()
        if alike:
            for axes in grid.flat:
                axes.label_outer()
        style.legend_below(figure, _CHARACTERS * size[0] - 2)
    return figure


def _panel(
    figure: Figure, axes: Axes, panel: StudyPanel, shades: tuple[float, float] | None
) -> None:
    if panel.map_values and shades is not None:
        _map(figure, axes, panel, shades)
    else:
        styles = zip(panel.curves, cycle(_COLOURS), cycle(_MARKERS), strict=False)
        for at, (curve, colour, marker) in enumerate(styles):
            _curve(axes, curve, colour, marker, _DASHES[at // len(_COLOURS) % len(_DASHES)])
        style.clean(axes)
    axes.set_xlabel(style.literal(panel.x_label))
    axes.set_ylabel(style.literal(panel.y_label))
    axes.set_title(style.literal(panel.title), fontsize=9, color=style.INK)
    for name, axis, ticks in (("x", axes.xaxis, panel.ticks), ("y", axes.yaxis, panel.y_ticks)):
        if ticks:
            slants = name == "x" and max(map(len, ticks)) * len(ticks) > 50
            slanted: Any = {"rotation": 20, "ha": "right"} if slants else {}
            axis.set_ticks(range(len(ticks)), [style.literal(tick) for tick in ticks], **slanted)
            if panel.curves:
                axes.set_xlim(-0.4, len(ticks) - 0.6)
        elif name in panel.log:
            axes.set(**{f"{name}scale": "log"})
            low, high = axis.get_view_interval()
            if high / low < 1e4:
                style.plain_ticks(axis, (1.0, 2.0, 5.0) if high / low < 200 else (1.0,))


def _curve(axes: Axes, curve: Curve, colour: str, marker: str, dashes: str) -> None:
    """Draw a line through the means, and a band of their intervals."""
    values = [point.value for point in curve.y]
    low = [point.value if point.low is None else point.low for point in curve.y]
    high = [point.value if point.high is None else point.high for point in curve.y]
    label = style.literal(curve.label) or "_"
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
    figure.colorbar(drawn, ax=axes, label=style.literal(panel.map_label))
    inside = panel.contour is not None and values.min() < panel.contour < values.max()
    if inside and min(values.shape) > 1:
        lines = axes.contour(
            panel.map_x, panel.map_y, values, levels=[panel.contour], colors=style.VERMILLION
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


_ROW = 0.42
"""Inches of an input."""


def uncertain_figure(found: UncertainSize) -> Figure:
    """Return the share of draws in which each size holds, and the influence of each input."""
    with style.framed(_title(found), 9.0, 3.6) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _holding(left, found)
        _bars(right, [influence.path for influence in found.influences], [
            ("", style.BLUE, [influence.share for influence in found.influences]),
        ])  # fmt: skip
        right.set_xlabel("share of the size's variance")
    return figure


def _title(found: UncertainSize) -> str:
    where = f"{found.scenario}, {len(found.draws)} draws by {found.engine}"
    if found.buffer is None:
        what = "no size is shown to hold" if found.exit_status == 3 else "no buffer holds"
        return f"{where}: {what} in {format_number(found.holds, '.0%')}"
    size = size_words(found.sized, found.buffer.packets)
    holds = "hold" if found.sized == "buffer" else "holds"
    return f"{where}: {size} {holds} in {format_number(found.held.value, '.0%')}"


def _sized(found: UncertainSize | Sensitivity) -> str:
    return found.sized if found.sized == "buffer" else f"{found.sized} at line rate"


def _holding(axes: Axes, found: UncertainSize) -> None:
    """Draw over all sizes in how many draws they meet the goals."""
    sized = [draw for draw in found.draws if draw.least is not None]
    least = np.array([draw.least for draw in sized], dtype=float)
    most = np.array([np.inf if draw.largest is None else draw.largest for draw in sized])
    ends = np.append(least, most[np.isfinite(most)] + 1.0)
    sizes = np.unique(np.append(ends, [1.0, 1.3 * max(ends, default=1.0)]))
    good = [np.count_nonzero((least <= b) & (b <= most)) for b in sizes]
    axes.step(
        sizes, np.array(good) / len(found.draws), where="post", color=style.BLUE, linewidth=1.6
    )
    axes.axhline(found.holds, color=style.FAINT, linewidth=0.8, linestyle=":")
    if found.buffer is not None:
        high = sizes[-1] if found.buffer.high is None else found.buffer.high
        axes.axvspan(found.buffer.low, high, color=style.BLUE, alpha=0.15, linewidth=0)
        axes.axvline(found.buffer.packets, color=style.BLUE, linewidth=1.0)
    if found.as_written is not None:
        axes.axvline(found.as_written, color=style.VERMILLION, linewidth=1.0, linestyle="--")
        axes.annotate(
            "as written", (found.as_written, 0.02), rotation=90, fontsize=8, color=style.VERMILLION,
            ha="right", va="bottom", xytext=(-2, 0), textcoords="offset points",
        )  # fmt: skip
    axes.set(
        xlabel=f"{_sized(found)}, packets", ylabel="draws whose goals it meets", ylim=(0.0, 1.02)
    )
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    style.clean(axes)


def sensitivity_figure(found: Sensitivity) -> Figure:
    """Return the answer with each input below and above, and Sobol's indices if there are some."""
    has_indices = found.draws > 0
    names = [influence.path for influence in found.influences]
    height = 1.5 + _ROW * max(3, len(names))
    answer = "no answer" if found.packets is None else size_words(found.sized, found.packets)
    how = "over its range" if found.change is None else f"by ±{found.change:.0%}"
    title = f"{answer} by {found.engine}; each input changed {how}"
    with style.framed(title, 9.0 if has_indices else 6.4, height) as figure:
        axes = figure.subplots(1, 2 if has_indices else 1, squeeze=False).flat
        _tornado(axes[0], found)
        if has_indices:
            _indices(axes[1], found.influences)
    return figure


def _tornado(axes: Axes, found: Sensitivity) -> None:
    for place, influence in enumerate(found.influences):
        if influence.low is None or influence.high is None:
            axes.annotate("no answer", (found.packets or 0.0, place), fontsize=8, color=style.FAINT)
            continue
        ends = [influence.low, influence.high]
        axes.plot(ends, [place, place], color=style.FAINT, linewidth=5, alpha=0.35)
        axes.plot(influence.low, place, "o", color=style.BLUE, label="below" if not place else "_")
        axes.plot(
            influence.high, place, "D", color=style.VERMILLION, label="above" if not place else "_"
        )
    if found.packets is not None:
        axes.axvline(found.packets, color=style.INK, linewidth=0.8)
    _rows(axes, [influence.path for influence in found.influences])
    axes.set_xlabel(f"smallest {_sized(found)}, packets")
    axes.legend(loc="best", title="the input is")


def _indices(axes: Axes, influences: Sequence[Influence]) -> None:
    shades = (
        ("alone", style.BLUE, -0.18, "first"),
        ("with all others", style.ORANGE, 0.18, "total"),
    )
    for label, colour, aside, name in shades:
        for place, influence in enumerate(influences):
            metric = getattr(influence, name)
            if metric is None:
                continue
            shown = label if not place else "_"
            axes.barh(place + aside, max(0.0, metric.value), 0.32, color=colour, label=shown)
            axes.plot(
                [metric.low, metric.high], [place + aside] * 2, color=style.INK, linewidth=1.0
            )
    axes.set_yticks(range(len(influences)), [""] * len(influences))
    axes.set(xlabel="share of the answer's variance", ylim=(len(influences) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
    axes.legend(loc="lower right")
    style.clean(axes)


def _bars(axes: Axes, names: Sequence[str], sets: Sequence[tuple[str, str, Any]]) -> None:
    for label, colour, values in sets:
        axes.barh(range(len(names)), values, 0.5, color=colour, label=label or "_")
    _rows(axes, names)
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows, the first one at the top."""
    axes.set_yticks(range(len(names)), [style.literal(name) for name in names])
    if names:
        axes.set_ylim(len(names) - 0.5, -0.5)
    style.clean(axes)
