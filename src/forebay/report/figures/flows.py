"""The flows of a run: slowdown of transfers by size, and the distribution of their goodput."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

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
    from numpy.typing import NDArray

    from forebay.outcome import Outcome
    from forebay.outcome.flow_table import FlowTable

_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE)
_LINES: Any = (("p50", 50, "-", 20), ("p99", 99, (0, (4, 3)), 100))
"""Name, percentile, dashes, and the fewest transfers that tell it."""
_MOST_CLASSES = 5
_GROUPS = 12


def draw_flows(outcome: Outcome, table: FlowTable, path: Path) -> None:
    """Draw slowdowns and goodput of a run's flows to a .svg, .png or .pdf file."""
    save(flows_figure(outcome, table), path)


def flows_figure(outcome: Outcome, table: FlowTable) -> Figure:
    """Return the picture: two panels, or the goodput alone where no transfer ended."""
    every = list(dict.fromkeys(table["class"].tolist()))
    names = every[:_MOST_CLASSES]
    ended = bool(np.isfinite(table["slowdown"]).any())
    with house_style():
        figure = Figure(figsize=(7.2, 6.4 if ended else 3.6), layout="constrained")
        axes = list(np.atleast_1d(figure.subplots(1 + ended, 1)))
        if ended:
            _slowdown(axes[0], table, names)
        _goodput(axes[-1], outcome, table, names)
        for each in axes:
            clean(each)
        left_out = "" if names == every else f", {len(names)} of {len(every)} classes"
        figure.suptitle(literal(_title(outcome) + left_out), fontsize=10, color=INK)
        return figure


def _title(outcome: Outcome) -> str:
    seeds = outcome.provenance.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    return f"{outcome.scenario.get('name', 'scenario')}, {which}"


def _slowdown(axes: Axes, table: FlowTable, names: list[str]) -> None:
    """Draw the median and a tail over groups of equally many transfers, in the order of size."""
    known = np.isfinite(table["slowdown"])
    for colour, name in zip(_COLOURS, names, strict=False):
        mine = known & (table["class"] == name)
        if not mine.any():
            continue
        sizes, slow = table["size_bytes"][mine], table["slowdown"][mine]
        for label, percent, dashes, least in _LINES:
            if percent > 50 and sizes.size < least:
                continue
            x, y = _by_size(sizes, slow, percent, least)
            axes.plot(
                x, y, color=colour, linestyle=dashes, marker="o", markersize=3, linewidth=1.3,
                label=literal(f"{name}, {label} of {sizes.size}"),
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="size of the transfer")
    axes.xaxis.set_major_formatter(FuncFormatter(_octets))
    _plain_numbers(axes.yaxis)
    axes.set_ylabel("slowdown against the empty path")
    left = int((table["unfinished"] & np.isin(table["class"], names)).sum())
    if left:
        axes.set_title(f"without {left} transfers that had not ended", fontsize=9, color=INK)
    axes.legend(fontsize=8, ncols=2)


def _by_size(
    sizes: NDArray[np.float64], slow: NDArray[np.float64], percent: int, least: int
) -> tuple[list[float], list[float]]:
    order = np.argsort(sizes, kind="stable")
    groups = np.array_split(order, max(1, min(_GROUPS, order.size // least)))
    x = [float(np.exp(np.log(sizes[group]).mean())) for group in groups]
    return x, [float(np.percentile(slow[group], percent)) for group in groups]


def _plain_numbers(axis: Axis) -> None:
    """Write 2, not 2 x 10^0, also between the powers of ten."""
    for set_formatter in (axis.set_major_formatter, axis.set_minor_formatter):
        set_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))


def _octets(value: float, _: object) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


def _goodput(axes: Axes, outcome: Outcome, table: FlowTable, names: list[str]) -> None:
    """Draw the share of the active flows of each class that got no more."""
    rates = _rates(outcome, table) / 1e6
    for colour, name in zip(_COLOURS, names, strict=False):
        mine = np.sort(rates[(table["class"] == name) & (table["window_bytes"] > 0)])
        if mine.size:
            share = np.arange(1, mine.size + 1) / mine.size
            axes.step(mine, share, where="post", color=colour, label=literal(name), linewidth=1.3)
    axes.set(xscale="log", xlabel="goodput of a flow while it sent in the window, Mbit/s")
    _plain_numbers(axes.xaxis)
    axes.set_ylabel("share of the flows")
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8, loc="upper left")


def _rates(outcome: Outcome, table: FlowTable) -> NDArray[np.float64]:
    """Return bytes in the window over the flow's time in it, bit/s."""
    from forebay.scenario import Duration

    measure = outcome.scenario["measure"]
    begin = float(Duration.parse(measure["warmup"]))
    end = begin + float(Duration.parse(measure["duration"]))
    last = np.where(np.isfinite(table["last_byte_s"]), table["last_byte_s"], end)
    seconds = np.clip(last, begin, end) - np.clip(table["start_s"], begin, end)
    return np.asarray(8.0 * table["window_bytes"] / np.maximum(seconds, 1e-12))
