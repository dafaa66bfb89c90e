"""The picture of a network through time; the steady state is the short line at the right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

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

    from forebay.outcome.transient import Transient

_COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE)
_LEAST_LOSS = 1e-7
_BESIDE = 0.03  # of the time: the length of a steady state's line


def draw_transient(course: Transient, path: Path) -> None:
    """Draw utilization, loss, queue and throughput over time to a .svg, .png or .pdf file."""
    save(transient_figure(course), path)


def transient_figure(course: Transient) -> Figure:
    """Return the picture of utilization, loss, queue by class of links, throughput by hops."""
    with house_style():
        figure = Figure(figsize=(10.5, 7.2), layout="constrained")
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
            clean(axes)
        name = str(course.scenario.get("name", "network"))
        figure.suptitle(literal(name), fontsize=10, color=INK)
        return figure


def _by_class(axes: Axes, course: Transient, field: str, label: str) -> None:
    for place, (name, link) in enumerate(course.links.items()):
        over = link.buffer_packets if field == "queue_packets" else 1.0
        still = None if link.steady is None else getattr(link.steady, field) / over
        colour = _COLOURS[place % len(_COLOURS)]
        text = literal(f"{name} ({link.links})")
        _line(axes, course.at_s, getattr(link, field) / over, still, colour, text)
    axes.set_ylabel(label)


def _by_hops(axes: Axes, course: Transient) -> None:
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, max(len(course.hops), 1)))
    for each, colour in zip(course.hops, colours, strict=True):
        still = each.steady_throughput_bps
        still = None if still is None else still * 1e-6
        _line(axes, course.at_s, each.throughput_bps * 1e-6, still, colour, f"{each.hops} hops")
    if any(np.any(each.throughput_bps > 0.0) for each in course.hops):
        axes.set_yscale("log")
        axes.legend(fontsize=8, ncols=2)
    axes.set_ylabel("throughput of a connection, Mbit/s")


def _line(axes: Axes, at_s: Any, values: Any, still: float | None, colour: Any, name: str) -> None:
    axes.plot(at_s, values, color=colour, linewidth=1.2, label=name)
    if still is not None:
        end = float(at_s[-1])
        axes.plot([end, end * (1.0 + _BESIDE)], [still, still], color=colour, linewidth=3.0)
