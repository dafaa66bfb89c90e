"""A Trace in the form of Figures 4, 8 and 9 of Appenzeller et al. 2004, in one picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from forebay.report.figures.style import (
    BLUE,
    FAINT,
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

    from forebay.outcome.trace import Trace

_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE)
_BINS = 60
_THIN: dict[str, Any] = {"linewidth": 0.8}


def draw_trace(trace: Trace, path: Path) -> None:
    """Draw windows, queue, and the sum of the windows to a .svg, .png or .pdf file."""
    save(trace_figure(trace), path)


def trace_figure(trace: Trace) -> Figure:
    """Return the picture of windows, queue, and the sum of the windows."""
    with house_style():
        figure = Figure(figsize=(7.2, 8.4), layout="constrained")
        grid = figure.add_gridspec(4, 1, height_ratios=(1, 1, 1, 1.2))
        upper = figure.add_subplot(grid[0])
        queue, total = (figure.add_subplot(grid[row], sharex=upper) for row in (1, 2))
        _windows(upper, trace)
        _queue(queue, trace)
        _sum(total, trace)
        _distribution(figure.add_subplot(grid[3]), trace)
        total.set_xlabel("time, s")
        for axes in (upper, queue):
            axes.tick_params(labelbottom=False)
        for axes in figure.axes:
            clean(axes)
        figure.suptitle(literal(_title(trace)), fontsize=10, color=INK)
        return figure


def _title(trace: Trace) -> str:
    name = trace.scenario.get("name", "scenario")
    n = trace.window_variance.size
    return f"{name}, {n} flow{'s' if n > 1 else ''}, seed {trace.seed}"


def _windows(axes: Axes, trace: Trace) -> None:
    for place, (number, flow) in enumerate(trace.flows.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        axes.plot(trace.at_s, flow.cwnd_packets, color=colour, label=f"flow {number}", **_THIN)
    axes.set_ylabel("window W, packets")
    axes.set_ylim(bottom=0)
    if 0 < len(trace.flows) <= len(_COLOURS):
        _legend(axes, len(trace.flows))


def _queue(axes: Axes, trace: Trace) -> None:
    link = trace.bottleneck
    axes.plot(trace.at_s, link.queue_packets, color=BLUE, label="queue", **_THIN)
    axes.axhline(link.buffer_packets, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.annotate(
        f"buffer {link.buffer_packets}", (1, link.buffer_packets), (-2, 3),
        xycoords=("axes fraction", "data"), textcoords="offset points", ha="right", fontsize=8,
    )  # fmt: skip
    axes.set_ylim(0, 1.18 * link.buffer_packets)
    axes.set_ylabel("queue Q, packets")


def _sum(axes: Axes, trace: Trace) -> None:
    link = trace.bottleneck
    label = f"Q + {link.bdp_packets:.0f} (the pipe, $2 T_p C$)"
    offset = link.queue_packets + link.bdp_packets
    axes.plot(trace.at_s, trace.window_sum_packets, color=VERMILLION, label="$\\Sigma W$", **_THIN)
    axes.plot(trace.at_s, offset, color=BLUE, label=label, **_THIN)
    axes.set_ylabel("packets")
    _legend(axes, 2)


def _distribution(axes: Axes, trace: Trace) -> None:
    axes.set_xlabel("sum of the windows $\\Sigma W$, packets")
    axes.set_ylabel("probability density")
    fit, link = trace.window_sum_fit, trace.bottleneck
    if fit is None:
        return
    axes.hist(
        trace.window_sum_packets, bins=_BINS, density=True, color=FAINT, alpha=0.45,
        label="$\\Sigma W$",
    )  # fmt: skip
    deviation = fit.standard_deviation
    x = np.linspace(fit.mean - 4 * deviation, fit.mean + 4 * deviation, 200)
    height = np.exp(-(((x - fit.mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
    label = f"normal: {fit.mean:.0f} ± {deviation:.0f}, distance {fit.kolmogorov_smirnov:.3f}"
    axes.plot(x, height, color=VERMILLION, linewidth=1.5, label=label)
    for place, name, side in ((0, "pipe", "right"), (link.buffer_packets, "pipe + buffer", "left")):
        axes.axvline(
            link.bdp_packets + place, color=INK, linewidth=0.9, linestyle=(0, (4, 3)),
        )  # fmt: skip
        axes.annotate(
            name, (link.bdp_packets + place, 1), (3 if side == "left" else -3, -3),
            xycoords=("data", "axes fraction"), ha=side,
            textcoords="offset points", va="top", fontsize=8, rotation=90,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.8},
        )  # fmt: skip
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    _legend(axes, 2)


def _legend(axes: Axes, columns: int) -> None:
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, fontsize=8, borderpad=0)
