"""Pictures of uncertain inputs: in how many draws a size holds, and which input moves it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from forebay.outcome.uncertain import Influence, Sensitivity, UncertainSize, size_words
from forebay.report.figures.style import (
    BLUE,
    FAINT,
    INK,
    ORANGE,
    VERMILLION,
    clean,
    house_style,
    literal,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.42
"""Inches of an input."""


def save_figure(figure: Figure, path: Path) -> None:
    """Write a picture to a .svg, .png or .pdf file."""
    save(figure, path)


def uncertain_figure(found: UncertainSize) -> Figure:
    """Return the share of draws in which each size holds, and the influence of each input."""
    with house_style():
        figure = Figure(figsize=(9.0, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _holding(left, found)
        _bars(right, [each.path for each in found.influences], [
            ("", BLUE, [each.share for each in found.influences]),
        ])  # fmt: skip
        right.set_xlabel("share of the size's variance")
        figure.suptitle(literal(_title(found)), fontsize=10, color=INK)
    return figure


def _title(found: UncertainSize) -> str:
    where = f"{found.scenario}, {len(found.draws)} draws by {found.engine}"
    if found.buffer is None:
        what = "no size is shown to hold" if found.exit_status == 3 else "no buffer holds"
        return f"{where}: {what} in {found.holds:.0%}"
    size = size_words(found.sized, found.buffer.packets)
    holds = "hold" if found.sized == "buffer" else "holds"
    return f"{where}: {size} {holds} in {found.held.value:.0%}"


def _sized(found: UncertainSize | Sensitivity) -> str:
    return found.sized if found.sized == "buffer" else f"{found.sized} at line rate"


def _holding(axes: Axes, found: UncertainSize) -> None:
    """Draw over all sizes in how many draws they meet the goals."""
    sized = [each for each in found.draws if each.least is not None]
    least = np.array([each.least for each in sized], dtype=float)
    most = np.array([np.inf if each.largest is None else each.largest for each in sized])
    ends = np.append(least, most[np.isfinite(most)] + 1.0)
    sizes = np.unique(np.append(ends, [1.0, 1.3 * max(ends, default=1.0)]))
    good = [np.count_nonzero((least <= b) & (b <= most)) for b in sizes]
    axes.step(sizes, np.array(good) / len(found.draws), where="post", color=BLUE, linewidth=1.6)
    axes.axhline(found.holds, color=FAINT, linewidth=0.8, linestyle=":")
    if found.buffer is not None:
        high = sizes[-1] if found.buffer.high is None else found.buffer.high
        axes.axvspan(found.buffer.low, high, color=BLUE, alpha=0.15, linewidth=0)
        axes.axvline(found.buffer.packets, color=BLUE, linewidth=1.0)
    if found.as_written is not None:
        axes.axvline(found.as_written, color=VERMILLION, linewidth=1.0, linestyle="--")
        axes.annotate(
            "as written", (found.as_written, 0.02), rotation=90, fontsize=8, color=VERMILLION,
            ha="right", va="bottom", xytext=(-2, 0), textcoords="offset points",
        )  # fmt: skip
    axes.set(
        xlabel=f"{_sized(found)}, packets", ylabel="draws whose goals it meets", ylim=(0.0, 1.02)
    )
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    clean(axes)


def sensitivity_figure(found: Sensitivity) -> Figure:
    """Return the answer with each input below and above, and Sobol's indices if there are some."""
    has_indices = found.draws > 0
    names = [each.path for each in found.influences]
    height = 1.5 + _ROW * max(3, len(names))
    with house_style():
        figure = Figure(figsize=(9.0 if has_indices else 6.4, height), layout="constrained")
        made = figure.subplots(1, 2 if has_indices else 1, squeeze=False).flat
        _tornado(made[0], found)
        if has_indices:
            _indices(made[1], found.influences)
        answer = "no answer" if found.packets is None else size_words(found.sized, found.packets)
        how = "over its range" if found.change is None else f"by ±{found.change:.0%}"
        title = f"{answer} by {found.engine}; each input changed {how}"
        figure.suptitle(literal(title), fontsize=10, color=INK)
    return figure


def _tornado(axes: Axes, found: Sensitivity) -> None:
    for place, each in enumerate(found.influences):
        if each.low is None or each.high is None:
            axes.annotate("no answer", (found.packets or 0.0, place), fontsize=8, color=FAINT)
            continue
        axes.plot([each.low, each.high], [place, place], color=FAINT, linewidth=5, alpha=0.35)
        axes.plot(each.low, place, "o", color=BLUE, label="below" if not place else "_")
        axes.plot(each.high, place, "D", color=VERMILLION, label="above" if not place else "_")
    if found.packets is not None:
        axes.axvline(found.packets, color=INK, linewidth=0.8)
    _rows(axes, [each.path for each in found.influences])
    axes.set_xlabel(f"smallest {_sized(found)}, packets")
    axes.legend(loc="best", title="the input is")


def _indices(axes: Axes, influences: Sequence[Influence]) -> None:
    shades = (("alone", BLUE, -0.18, "first"), ("with all others", ORANGE, 0.18, "total"))
    for label, colour, aside, name in shades:
        for place, each in enumerate(influences):
            metric = getattr(each, name)
            if metric is None:
                continue
            shown = label if not place else "_"
            axes.barh(place + aside, max(0.0, metric.value), 0.32, color=colour, label=shown)
            axes.plot([metric.low, metric.high], [place + aside] * 2, color=INK, linewidth=1.0)
    axes.set_yticks(range(len(influences)), [""] * len(influences))
    axes.set(xlabel="share of the answer's variance", ylim=(len(influences) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.legend(loc="lower right")
    clean(axes)


def _bars(axes: Axes, names: Sequence[str], sets: Sequence[tuple[str, str, Any]]) -> None:
    for label, colour, values in sets:
        axes.barh(range(len(names)), values, 0.5, color=colour, label=label or "_")
    _rows(axes, names)
    axes.set_xlim(0.0, 1.0)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows, the first one at the top."""
    axes.set_yticks(range(len(names)), [literal(each) for each in names])
    if names:
        axes.set_ylim(len(names) - 0.5, -0.5)
    clean(axes)
