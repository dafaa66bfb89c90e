"""The picture of a network: links coloured by utilization and by loss; throughput by hops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import (
    MaxNLocator,
)

from forebay.report.figures.style import (
    BLUE,
    FAINT,
    INK,
    clean,
    house_style,
    literal,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay.outcome import NetworkOutcome, Outcome


_LEAST_LOSS = 1e-6
_MOST_NAMED = 20  # routers: more names would cover each other
_WORST = 5  # links whose ends are named among more routers
_HALO = withStroke(linewidth=2.0, foreground="white")
_NARROW = 10.0  # a span without two powers of ten has ticks of its own


def draw_network(outcome: Outcome, drawing: Mapping[str, Any], path: Path) -> None:
    """Draw a network to a .svg, .png or .pdf file.

    Parameters
    ----------
    drawing : ``names`` (routers,), ``place`` (routers, 2), ``source``, ``target``,
        ``utilization``, ``loss`` (links,).
    """
    with house_style():
        figure = Figure(figsize=(10.5, 7.2), layout="constrained")
        left, right, below, beside = figure.subplots(2, 2).flat
        used = np.asarray(drawing["utilization"], dtype=np.float64)
        lost = np.log10(np.maximum(np.asarray(drawing["loss"], dtype=np.float64), _LEAST_LOSS))
        _map(figure, left, drawing, used, "utilization", (0.0, 1.0))
        _map(figure, right, drawing, lost, "log10 of the loss rate", (np.log10(_LEAST_LOSS), 0.0))
        if outcome.network is not None:
            _curve(below, outcome.network, "throughput_bps", 1e-6, "throughput, Mbit/s", "log")
            _curve(beside, outcome.network, "rtt_s", 1e3, "round trip, ms", "linear")
        figure.suptitle(
            literal(str(outcome.scenario.get("name", "network"))), fontsize=10, color=INK
        )
        save(figure, path)


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
    axes.plot(place[:, 0], place[:, 1], ".", color=FAINT, markersize=3, zorder=3)
    for router in _named(drawing, values, limits[0]):
        axes.annotate(
            literal(drawing["names"][router]), tuple(place[router]), (4, 4),
            textcoords="offset points", fontsize=7, color=INK, path_effects=[_HALO],
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
        axes.plot([hops for hops, _ in known], values, "o-", color=BLUE)
        axes.set_xlim(known[0][0] - 0.5, known[-1][0] + 0.5)
        wide = min(values) > 0.0 and max(values) > _NARROW * min(values)
        axes.set_yscale(scale if wide else "linear")
        if not wide:
            axes.set_ylim(0.0, 1.1 * max(values))
    else:
        text = "no connection responds to loss"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=FAINT)
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_ylabel(label)
    clean(axes)
