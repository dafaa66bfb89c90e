"""The picture of one Outcome: utilization, queueing delay, and the classes' throughput."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from forebay.report.figures.style import (
    BLUE,
    GREEN,
    INK,
    PURPLE,
    VERMILLION,
    clean,
    house_style,
    literal,
)
from forebay.report.tables import NOT_MEASURED, half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forebay.outcome import Metric, Outcome, Quantiles

_MOST = 12
"""Bars of one panel; with more links, it shows those with the highest loss."""

Bar = tuple[str, "Metric | None"]


def outcome_figure(outcome: Outcome) -> Figure:
    """Return the picture; a metric that was not measured has no bar."""
    ranked = sorted(outcome.links.items(), key=lambda item: -_value(item[1].loss_rate))
    shown = [item for item in outcome.links.items() if item in ranked[:_MOST]]
    panels = [
        ("utilization, %", 100.0, BLUE, [(name, link.utilization) for name, link in shown]),
        ("loss, %", 100.0, VERMILLION, [(name, link.loss_rate) for name, link in shown]),
        ("wait in the queue, ms", 1e3, GREEN, _waits(outcome, [name for name, _ in shown])),
        ("rate of a class, Mbit/s", 1e-6, PURPLE, _rates(outcome)),
    ]
    panels = [panel for panel in panels if _measured(panel[-1])] or panels[:1]
    with house_style():
        heights = [0.7 + 0.22 * len(bars) for *_, bars in panels]
        figure = Figure(figsize=(7.2, 0.6 + sum(heights)), layout="constrained")
        rows = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
        for axes, (label, factor, colour, bars) in zip(rows.flat, panels, strict=True):
            _bars(axes, label, factor, colour, bars)
        name = str(outcome.scenario.get("name", "scenario"))
        figure.suptitle(literal(f"{name}\n({outcome.engine})"), fontsize=10, color=INK)
        return figure


def _measured(bars: Sequence[Bar]) -> bool:
    return any(metric is not None for _, metric in bars)


def _rates(outcome: Outcome) -> list[Bar]:
    """Return each class's goodput, or its throughput if the goodput is unknown."""
    return [
        (f"{each.name}, goodput", each.goodput_bps)
        if each.goodput_bps is not None
        else (f"{each.name}, throughput", each.throughput_bps)
        for each in outcome.classes
    ]


def _waits(outcome: Outcome, names: Sequence[str]) -> list[Bar]:
    """Return each link's mean and 99 % quantile; for many links only the mean."""
    parts = ("mean", "p99") if len(names) < _MOST // 2 else ("mean",)
    waits = [(name, part, outcome.links[name].queue_delay_s) for name in names for part in parts]
    return [(f"{name}, {part}", _part(waited, part)) for name, part, waited in waits]


def _part(quantiles: Quantiles | None, part: str) -> Metric | None:
    metric: Metric | None = getattr(quantiles, part, None)
    return metric


def _bars(axes: Axes, label: str, factor: float, colour: str, bars: Sequence[Bar]) -> None:
    places = range(len(bars))
    values = [factor * _value(metric) for _, metric in bars]
    axes.barh(places, values, color=colour, height=0.6)
    for place, (_, metric) in zip(places, bars, strict=True):
        half = None if metric is None else half_width(metric)
        if metric is None:
            axes.annotate(f" {NOT_MEASURED}", (0, place), va="center", color=INK)
        elif half is not None:
            ends = [factor * (metric.low or 0.0), factor * (metric.high or 0.0)]
            axes.plot(ends, [place, place], color=INK, linewidth=1.2)
    axes.set_yticks(places, [literal(name) for name, _ in bars])
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    clean(axes)


def _value(metric: Metric | None) -> float:
    return 0.0 if metric is None else metric.value
