"""The flows of a run: slowdown of transfers by size, and the distribution of their goodput."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from forebay.report.figures import style
from forebay.scenario import Duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from numpy.typing import NDArray

    from forebay.outcome import Outcome
    from forebay.outcome.model import FlowTable

_COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE)
_LINES: Any = (("p50", 50, "-", 20), ("p99", 99, (0, (4, 3)), 100))
"""Name, percentile, dashes, and the fewest transfers that tell it."""
_MOST_CLASSES = 5
_GROUPS = 12
_MOST_TO_AVOID = 10_000
"""Points of curves that a legend is placed beside; the search is slow for more."""


def draw_flows(outcome: Outcome, table: FlowTable, path: Path) -> None:
    """Draw slowdowns and goodput of a run's flows to a .svg, .png or .pdf file."""
    style.save(flows_figure(outcome, table), path)


def can_draw(outcome: Outcome, table: FlowTable) -> bool:
    """Whether any flow sent in the window, so that there is something to draw."""
    return bool((table["window_bytes"] > 0).any() or _known(outcome, table).any())


def flows_figure(outcome: Outcome, table: FlowTable) -> Figure:
    """Return the picture: slowdown if transfers ended, goodput if the window has bytes."""
    every = list(dict.fromkeys(table["class"].tolist()))
    names = every[:_MOST_CLASSES]
    drawn = np.isin(table["class"], names)
    slow = bool((drawn & _known(outcome, table)).any())
    sent = bool((drawn & (table["window_bytes"] > 0)).any())
    left_out = "" if names == every else f", {len(names)} of {len(every)} classes"
    with style.framed(_title(outcome) + left_out, 7.2, 6.4 if slow and sent else 3.6) as figure:
        axes = list(np.atleast_1d(figure.subplots(max(1, slow + sent), 1)))
        if slow:
            _slowdown(axes[0], outcome, table, names)
        if sent:
            _goodput(axes[-1], outcome, table, names)
        for each in axes:
            style.clean(each)
    return figure


def _title(outcome: Outcome) -> str:
    seeds = outcome.provenance.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    return f"{outcome.scenario.get('name', 'scenario')}, {which}"


def _known(outcome: Outcome, table: FlowTable) -> NDArray[np.bool_]:
    """Return the transfers that ended of those that the answer counts: they began in the window."""
    begin, _ = _window(outcome)
    return np.asarray(np.isfinite(table["slowdown"]) & (table["start_s"] >= begin))


def _slowdown(axes: Axes, outcome: Outcome, table: FlowTable, names: list[str]) -> None:
    """Draw the median and a tail over groups of about equally many transfers, in order of size."""
    known = _known(outcome, table)
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
                label=style.literal(f"{name}, {label} of {sizes.size}"),
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="size of the transfer")
    _few_ticks(axes.xaxis, _octets)
    _few_ticks(axes.yaxis)
    axes.set_ylabel("slowdown against the empty path")
    left = int((table["unfinished"] & np.isin(table["class"], names)).sum())
    if left:
        axes.set_title(f"without {left} transfers that had not ended", fontsize=9, color=style.INK)
    axes.legend(fontsize=8, ncols=2)


def _by_size(
    sizes: NDArray[np.float64], slow: NDArray[np.float64], percent: int, least: int
) -> tuple[list[float], list[float]]:
    order = np.argsort(sizes, kind="stable")
    groups = np.split(order, _cuts(sizes[order], max(least, sizes.size / _GROUPS)))
    x = [_middle(sizes[group]) for group in groups]
    return x, [float(np.percentile(slow[group], percent)) for group in groups]


def _cuts(ordered: NDArray[np.float64], least: float) -> list[int]:
    """Return where groups of at least so many begin, but the first; none splits equal sizes."""
    cuts, begin = [], 0
    for at in (np.flatnonzero(np.diff(ordered)) + 1).tolist():
        if at - begin >= least and ordered.size - at >= least:
            cuts.append(at)
            begin = at
    return cuts


def _middle(sizes: NDArray[np.float64]) -> float:
    """Return the geometric mean, exactly the size if all are equal."""
    return float(sizes[0] * np.exp(np.log(sizes / sizes[0]).mean()))


def _few_ticks(axis: Axis, text: Callable[[float], str] = "{:.6g}".format) -> None:
    """Label so few ticks of a logarithmic axis that they never touch: 2, not 2 x 10^0."""
    low, high = sorted(axis.get_view_interval())
    decades = np.log10(high / low)
    if decades < 1:
        ticks = np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high))
    else:
        steps = (1.0, 2.0, 5.0) if decades < 3 else (1.0,)
        first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
        powers = range(first, last + 1, 1 + (last - first) // 8)
        ticks = np.array([step * 10.0**power for power in powers for step in steps])
    axis.set_major_locator(FixedLocator(ticks[(ticks >= low) & (ticks <= high)].tolist()))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


def _octets(value: float) -> str:
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


def _goodput(axes: Axes, outcome: Outcome, table: FlowTable, names: list[str]) -> None:
    """Draw the share of the active flows of each class that got no more, from 0."""
    rates = _rates(outcome, table) / 1e6
    points = 0
    for colour, name in zip(_COLOURS, names, strict=False):
        mine = np.sort(rates[(table["class"] == name) & (table["window_bytes"] > 0)])
        if mine.size:
            points += mine.size
            share = np.arange(mine.size + 1) / mine.size
            axes.step(
                [mine[0], *mine], share, where="post", color=colour, linewidth=1.3,
                label=style.literal(name),
            )  # fmt: skip
    axes.set(xscale="log", xlabel="goodput of a flow while it sent in the window, Mbit/s")
    _few_ticks(axes.xaxis)
    axes.set_ylabel("share of the flows")
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8, loc="best" if points <= _MOST_TO_AVOID else "upper left")


def _window(outcome: Outcome) -> tuple[float, float]:
    """Return begin and end of the measured window, in seconds of the run."""
    measure = outcome.scenario["measure"]
    begin = float(Duration.parse(measure["warmup"]))
    return begin, begin + float(Duration.parse(measure["duration"]))


def _rates(outcome: Outcome, table: FlowTable) -> NDArray[np.float64]:
    """Return bytes in the window over the flow's time in it, bit/s."""
    begin, end = _window(outcome)
    last = np.where(np.isfinite(table["last_byte_s"]), table["last_byte_s"], end)
    seconds = np.clip(last, begin, end) - np.clip(table["start_s"], begin, end)
    return np.asarray(8.0 * table["window_bytes"] / np.maximum(seconds, 1e-12))
