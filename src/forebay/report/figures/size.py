"""The picture of a sizing: what each buffer gives, what the laws say, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from forebay.outcome import LinkOutcome, Metric
from forebay.report.answer import Answer, Goal, Point
from forebay.report.figures.marks import draw_marks
from forebay.report.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    PURPLE,
    VERMILLION,
    clean,
    house_style,
    save,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Read = Callable[[LinkOutcome], Metric | None]


def draw_size(document: Mapping[str, Any], path: Path) -> None:
    """Draw a sizing into a file.

    Parameters
    ----------
    document : the document of ``size --json``, schema 1.
    path : ends in .svg, .png or .pdf.
    """
    answer = Answer.model_validate(document)
    with house_style():
        figure = Figure(figsize=(7.2, 7.4), layout="constrained")
        lane, *panels = figure.subplots(4, 1, sharex=True, height_ratios=(0.9, 2.2, 1.6, 1.6))
        _title(figure, answer)
        _utilization(panels[0], answer)
        _loss(panels[1], answer)
        _delay(panels[2], answer)
        _shared_axis(panels, answer)
        draw_marks(lane, panels, answer)
        save(figure, path)


def _title(figure: Figure, answer: Answer) -> None:
    found = answer.buffer
    said = f"{found.packets} packets are enough" if found else "no buffer meets the goals"
    figure.suptitle(f"{answer.scenario}\n{said} ({answer.engine})", fontsize=10, color=INK)


def _utilization(axes: Axes, answer: Answer) -> None:
    _line(axes, answer.curve, lambda link: link.utilization, 100, BLUE, "")
    _target(axes, answer.goals, "utilization", 100)
    axes.set_ylabel("utilization, %")
    axes.set_ylim(top=min(100.5, axes.get_ylim()[1]))


def _loss(axes: Axes, answer: Answer) -> None:
    _line(axes, answer.curve, lambda link: link.loss_rate, 100, VERMILLION, "")
    _target(axes, answer.goals, "loss_rate", 100)
    axes.set_ylabel("loss, %")
    axes.set_ylim(bottom=0)


def _delay(axes: Axes, answer: Answer) -> None:
    _line(
        axes, answer.curve, lambda k: k.queue_delay_s and k.queue_delay_s.mean, 1e3, GREEN, "mean"
    )
    _line(axes, answer.curve, lambda k: k.queue_delay_s and k.queue_delay_s.p99, 1e3, PURPLE, "p99")
    _target(axes, answer.goals, "queue_delay_mean", 1e3)
    _target(axes, answer.goals, "queue_delay_p99", 1e3)
    axes.set_ylabel("queueing delay, ms")
    axes.set_ylim(bottom=0)
    if axes.lines:
        axes.legend(loc="upper left")


def _line(
    axes: Axes, curve: Sequence[Point], read: Read, factor: float, colour: str, label: str
) -> None:
    """Draw one metric with its 95 % band; buffers where it was not measured have no dot."""
    seen = [(point.packets, metric) for point in curve if (metric := read(point.link)) is not None]
    if not seen:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, color=FAINT, ha="center")
        return
    packets = [each for each, _ in seen]
    axes.plot(
        packets, [m.value * factor for _, m in seen],
        color=colour, marker="o", markersize=3, linewidth=1.3, label=label, clip_on=False,
    )  # fmt: skip
    axes.fill_between(
        packets,
        [(m.value if m.low is None else m.low) * factor for _, m in seen],
        [(m.value if m.high is None else m.high) * factor for _, m in seen],
        color=colour, alpha=0.2, linewidth=0,
    )  # fmt: skip


def _target(axes: Axes, goals: Sequence[Goal], name: str, factor: float) -> None:
    for goal in goals:
        if goal.name == name:
            axes.axhline(goal.target * factor, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
            axes.annotate(
                f"goal: {goal.sense} {goal.target * factor:g}",
                (1, goal.target * factor), xycoords=("axes fraction", "data"),
                xytext=(-2, -2), textcoords="offset points",
                ha="right", va="top", fontsize=8, color=INK,
            )  # fmt: skip


def _shared_axis(panels: Sequence[Axes], answer: Answer) -> None:
    last = panels[-1]
    last.set_xscale("log")
    last.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
    last.xaxis.set_major_formatter(FuncFormatter(lambda packets, _: f"{packets:g}"))
    last.xaxis.set_minor_formatter(NullFormatter())
    last.set_xlabel("buffer, packets")
    for axes in panels:
        clean(axes)
