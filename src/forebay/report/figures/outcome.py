"""The picture of one Outcome, of its course over time, of its flows, and of a network."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from forebay.outcome import Metric, NetworkOutcome, Outcome
from forebay.outcome.model import FlowTable
from forebay.outcome.trace import NormalFit, Trace
from forebay.outcome.transient import Transient
from forebay.report.figures import style
from forebay.report.tables import NOT_MEASURED
from forebay.scenario import Duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


_MOST = 12
"""Bars of one panel; with more links, it shows those with the highest loss."""

Bar = tuple[str, "Metric | None"]


def outcome_figure(outcome: Outcome) -> Figure:
    """Return the picture; a metric that was not measured has no bar."""
    ranked = sorted(outcome.links.items(), key=lambda item: -float(item[1].loss_rate or 0.0))
    shown = [item for item in outcome.links.items() if item in ranked[:_MOST]]
    panels = [
        ("utilization, %", 100.0, style.BLUE, [(name, link.utilization) for name, link in shown]),
        ("loss, %", 100.0, style.VERMILLION, [(name, link.loss_rate) for name, link in shown]),
        ("wait in the queue, ms", 1e3, style.GREEN, _waits(outcome, [name for name, _ in shown])),
        ("rate of a class, Mbit/s", 1e-6, style.PURPLE, _rates(outcome)),
    ]
    panels = [panel for panel in panels if any(m for _, m in panel[-1])] or panels[:1]
    heights = [0.7 + 0.22 * len(bars) for *_, bars in panels]
    title = f"{outcome.scenario.get('name', 'scenario')}\n({outcome.engine})"
    with style.framed(title, 7.2, 0.6 + sum(heights)) as figure:
        rows = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
        for axes, (label, factor, colour, bars) in zip(rows.flat, panels, strict=True):
            _bars(axes, label, factor, colour, bars)
    return figure


def _rates(outcome: Outcome) -> list[Bar]:
    """Return each class's goodput, or its throughput if the goodput is unknown."""
    return [
        (f"{kind.name}, goodput", kind.goodput_bps)
        if kind.goodput_bps is not None
        else (f"{kind.name}, throughput", kind.throughput_bps)
        for kind in outcome.classes
    ]


def _waits(outcome: Outcome, names: Sequence[str]) -> list[Bar]:
    """Return each link's mean and 99 % quantile; for many links only the mean."""
    parts = ("mean", "p99") if len(names) < _MOST // 2 else ("mean",)
    waits = [(name, part, outcome.links[name].queue_delay_s) for name in names for part in parts]
    return [(f"{name}, {part}", getattr(waited, part, None)) for name, part, waited in waits]


def _bars(axes: Axes, label: str, factor: float, colour: str, bars: Sequence[Bar]) -> None:
    places = range(len(bars))
    values = [factor * float(metric or 0.0) for _, metric in bars]
    axes.barh(places, values, color=colour, height=0.6)
    for place, (_, metric) in zip(places, bars, strict=True):
        half = None if metric is None else metric.half_width
        if metric is None:
            axes.annotate(f" {NOT_MEASURED}", (0, place), va="center", color=style.INK)
        elif half is not None:
            ends = [factor * (metric.low or 0.0), factor * (metric.high or 0.0)]
            axes.plot(ends, [place, place], color=style.INK, linewidth=1.2)
    axes.set_yticks(places, [style.literal(name) for name, _ in bars])
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter("{x:g}")  # no "1e-5" at the end of the axis, easily missed
    axes.set_xlabel(label)
    style.clean(axes)


_COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE)
_BINS = 60
_THIN: dict[str, Any] = {"linewidth": 0.8}


def trace_figure(trace: Trace) -> Figure:
    """Return the picture of windows, queue, and the sum of the windows and its distribution.

    Without a window that changes there is no distribution.
    """
    heights = (1, 1, 1) if trace.window_sum_fit is None else (1, 1, 1, 1.2)
    with style.framed(_title(trace), 7.2, 2 * sum(heights)) as figure:
        grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
        upper = figure.add_subplot(grid[0])
        queue, total = (figure.add_subplot(grid[row], sharex=upper) for row in (1, 2))
        _windows(upper, trace)
        _queue(queue, trace)
        _sum(total, trace)
        if trace.window_sum_fit is not None:
            _distribution(figure.add_subplot(grid[3]), trace, trace.window_sum_fit)
        total.set_xlabel("time, s")
        for axes in (upper, queue):
            axes.tick_params(labelbottom=False)
        for axes in figure.axes:
            style.clean(axes)
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
    axes.plot(trace.at_s, link.queue_packets, color=style.BLUE, label="queue", **_THIN)
    axes.axhline(link.buffer_packets, color=style.INK, linewidth=0.9, linestyle=(0, (4, 3)))
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
    axes.plot(
        trace.at_s, trace.window_sum_packets, color=style.VERMILLION, label="$\\Sigma W$", **_THIN
    )
    axes.plot(trace.at_s, offset, color=style.BLUE, label=label, **_THIN)
    axes.set_ylabel("packets")
    _legend(axes, 2)


def _distribution(axes: Axes, trace: Trace, fit: NormalFit) -> None:
    axes.set_xlabel("sum of the windows $\\Sigma W$, packets")
    axes.set_ylabel("probability density")
    link = trace.bottleneck
    sums = trace.window_sum_packets
    width = max(1, round(float(np.ptp(sums)) / _BINS))  # as many whole packets in each bin
    edges = np.arange(math.floor(sums.min()) - 0.5, sums.max() + width, width).tolist()
    axes.hist(sums, edges, density=True, color=style.FAINT, alpha=0.45, label="$\\Sigma W$")
    deviation = fit.standard_deviation
    x = np.linspace(fit.mean - 4 * deviation, fit.mean + 4 * deviation, 200)
    height = np.exp(-(((x - fit.mean) / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))
    label = f"normal: {fit.mean:.0f} ± {deviation:.0f}, distance {fit.kolmogorov_smirnov:.3f}"
    axes.plot(x, height, color=style.VERMILLION, linewidth=1.5, label=label)
    for place, name, side in ((0, "pipe", "right"), (link.buffer_packets, "pipe + buffer", "left")):
        axes.axvline(
            link.bdp_packets + place, color=style.INK, linewidth=0.9, linestyle=(0, (4, 3)),
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


_LEAST_LOSS = 1e-7
_BESIDE = 0.03  # of the time: the length of a steady state's line


def transient_figure(course: Transient) -> Figure:
    """Return the picture of utilization, loss, queue by class of links, throughput by hops."""
    with style.framed(str(course.scenario.get("name", "network")), 10.5, 7.2) as figure:
        used, lost, queue, rate = figure.subplots(2, 2, sharex=True).flat
        _by_class(used, course, "utilization", "utilization, mean of the links")
        _by_class(lost, course, "loss_rate", "loss rate, mean of the links")
        _by_class(queue, course, "queue_packets", "queue over buffer, mean of the links")
        _by_hops(rate, course)
        used.set_ylim(0.0, 1.05)
        lost.set_yscale("log")
        lost.set_ylim(_LEAST_LOSS, 2.0)
        queue.set_ylim(bottom=0.0)
        used.legend(fontsize=8)
        for axes in (queue, rate):
            axes.set_xlabel("time, s")
        for axes in figure.axes:
            style.clean(axes)
    return figure


def _by_class(axes: Axes, course: Transient, field: str, label: str) -> None:
    for place, (name, link) in enumerate(course.links.items()):
        over = link.buffer_packets if field == "queue_packets" else 1.0
        still = None if link.steady is None else getattr(link.steady, field) / over
        colour = _COLOURS[place % len(_COLOURS)]
        text = style.literal(f"{name} ({link.links})")
        _line(axes, course.at_s, getattr(link, field) / over, still, colour, text)
    axes.set_ylabel(label)


def _by_hops(axes: Axes, course: Transient) -> None:
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, max(len(course.hops), 1)))
    for hop, colour in zip(course.hops, colours, strict=True):
        still = hop.steady_throughput_bps
        still = None if still is None else still * 1e-6
        _line(axes, course.at_s, hop.throughput_bps * 1e-6, still, colour, f"{hop.hops} hops")
    if any(np.any(hop.throughput_bps > 0.0) for hop in course.hops):
        axes.set_yscale("log")
        axes.legend(fontsize=8, ncols=2)
    axes.set_ylabel("throughput of a connection, Mbit/s")


def _line(axes: Axes, at_s: Any, values: Any, still: float | None, colour: Any, name: str) -> None:
    axes.plot(at_s, values, color=colour, linewidth=1.2, label=name)
    if still is not None:
        end = float(at_s[-1])
        axes.plot([end, end * (1.0 + _BESIDE)], [still, still], color=colour, linewidth=3.0)


_SHOWN_LOSS = 1e-6
_MOST_NAMED = 20  # routers: more names would cover each other
_WORST = 5  # links whose ends are named among more routers
_HALO = withStroke(linewidth=2.0, foreground="white")
_NARROW = 10.0  # a span without two powers of ten has ticks of its own


def draw_network(outcome: Outcome, drawing: Mapping[str, Any], path: Path) -> None:
    """Draw a network to a .svg, .png or .pdf file.

    ``drawing``: ``names`` (routers,), ``place`` (routers, 2), ``source``, ``target``,
    ``utilization``, ``loss`` (links,).
    """
    with style.framed(str(outcome.scenario.get("name", "network")), 10.5, 7.2) as figure:
        left, right, below, beside = figure.subplots(2, 2).flat
        used = np.asarray(drawing["utilization"], dtype=np.float64)
        lost = np.log10(np.maximum(np.asarray(drawing["loss"], dtype=np.float64), _SHOWN_LOSS))
        _map(figure, left, drawing, used, "utilization", (0.0, 1.0))
        _map(figure, right, drawing, lost, "log10 of the loss rate", (np.log10(_SHOWN_LOSS), 0.0))
        if outcome.network is not None:
            _curve(below, outcome.network, "throughput_bps", 1e-6, "throughput, Mbit/s", "log")
            _curve(beside, outcome.network, "rtt_s", 1e3, "round trip, ms", "linear")
    style.save(figure, path)


def _map(
    figure: Figure,
    axes: Axes,
    drawing: Mapping[str, Any],
    values: Any,
    label: str,
    limits: tuple[float, float],
) -> None:
    place = np.asarray(drawing["place"], dtype=np.float64)
    ends = np.stack([place[drawing["source"]], place[drawing["target"]]], axis=1)
    # Draw both directions of a link next to each other, each shifted slightly to its left.
    along = ends[:, 1] - ends[:, 0]
    length = np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-12)[:, None]
    span = float(np.ptp(place, axis=0).max()) or 1.0
    ends = ends + (0.004 * span * np.stack([-along[:, 1], along[:, 0]], axis=1) / length)[:, None]
    order = np.argsort(values)
    lines = LineCollection(list(ends[order]), array=values[order], cmap="viridis_r", linewidths=1.2)
    lines.set_clim(*limits)
    axes.add_collection(lines)
    axes.plot(place[:, 0], place[:, 1], ".", color=style.FAINT, markersize=3, zorder=3)
    for router in _named(drawing, values, limits[0]):
        axes.annotate(
            style.literal(drawing["names"][router]), tuple(place[router]), (4, 4),
            textcoords="offset points", fontsize=7, color=style.INK, path_effects=[_HALO],
        )  # fmt: skip
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    figure.colorbar(lines, ax=axes, label=label, shrink=0.8)


def _named(drawing: Mapping[str, Any], values: Any, least: float) -> Sequence[int]:
    """Return the routers to name: all, or of many those at the ends of the worst links."""
    if len(drawing["names"]) <= _MOST_NAMED:
        return range(len(drawing["names"]))
    worst = [link for link in np.argsort(-values, kind="stable")[:_WORST] if values[link] > least]
    ends = (drawing[end][link] for link in worst for end in ("source", "target"))
    return sorted({int(router) for router in ends})


def _curve(
    axes: Axes, whole: NetworkOutcome, name: str, factor: float, label: str, scale: Any
) -> None:
    known = [(e.hops, getattr(e, name)) for e in whole.by_hops if getattr(e, name) is not None]
    values = [value * factor for _, value in known]
    axes.set_xlabel("hops")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if known:
        axes.plot([hops for hops, _ in known], values, "o-", color=style.BLUE)
        axes.set_xlim(known[0][0] - 0.5, known[-1][0] + 0.5)
        wide = min(values) > 0.0 and max(values) > _NARROW * min(values)
        axes.set_yscale(scale if wide else "linear")
        if not wide:
            axes.set_ylim(0.0, 1.1 * max(values))
    else:
        text = "no connection responds to loss"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=style.FAINT)
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_ylabel(label)
    style.clean(axes)


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
    seeds = outcome.provenance.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    title = f"{outcome.scenario.get('name', 'scenario')}, {which}{left_out}"
    with style.framed(title, 7.2, 6.4 if slow and sent else 3.6) as figure:
        panels = list(np.atleast_1d(figure.subplots(max(1, slow + sent), 1)))
        if slow:
            _slowdown(panels[0], outcome, table, names)
        if sent:
            _goodput(panels[-1], outcome, table, names)
        for axes in panels:
            style.clean(axes)
    return figure


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
    # Geometric means, exactly the size if all are equal.
    own = [sizes[group] for group in groups]
    x = [float(batch[0] * np.exp(np.log(batch / batch[0]).mean())) for batch in own]
    return x, [float(np.percentile(slow[group], percent)) for group in groups]


def _cuts(ordered: NDArray[np.float64], least: float) -> list[int]:
    """Return where groups of at least so many begin, but the first; none splits equal sizes."""
    cuts, begin = [], 0
    for at in (np.flatnonzero(np.diff(ordered)) + 1).tolist():
        if at - begin >= least and ordered.size - at >= least:
            cuts.append(at)
            begin = at
    return cuts


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
    rates = _flow_rates(outcome, table) / 1e6
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


def _flow_rates(outcome: Outcome, table: FlowTable) -> NDArray[np.float64]:
    """Return bytes in the window over the flow's time in it, bit/s."""
    begin, end = _window(outcome)
    last = np.where(np.isfinite(table["last_byte_s"]), table["last_byte_s"], end)
    seconds = np.clip(last, begin, end) - np.clip(table["start_s"], begin, end)
    return np.asarray(8.0 * table["window_bytes"] / np.maximum(seconds, 1e-12))
