"""The picture of a sizing: the metrics of each buffer, the laws, and the answer.

Vertical lines through all panels are the answer, and the result of each law. Their labels are in a
separate lane above the panels, in as many rows as necessary to avoid overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log10
from textwrap import wrap
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from forebay.outcome import (
    LOSS_PROBABILITY,
    UTILIZATION_PROBABILITY,
    CurvePoint,
    GoalResult,
    LinkOutcome,
    Metric,
    SizeResult,
)
from forebay.report.figures import style
from forebay.report.tables import (
    count,
    mean,
    p99,
    scale,
    size_name,
    sized,
    whole_packets,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SAME = 1.02  # two laws within this ratio share a line and a label
_CHARACTER = 0.0125  # width of a label's character, as a share of the axis


@dataclass(slots=True)
class _Mark:
    packets: float
    label: str
    holds: bool
    is_answer: bool = False
    paper: str = ""  # the beginning of the first law's name; others of the paper omit it


def draw_marks(lane: Axes, panels: Sequence[Axes], answer: SizeResult) -> None:
    """Draw the lines through ``panels`` and their labels into ``lane`` (the same x axis)."""
    marks = _marks(answer)
    # The axis has every mark, also where no buffer was tried.
    (low, high), places = panels[-1].get_xlim(), [mark.packets for mark in marks]
    low, high = min([low, *(p / 1.1 for p in places)]), max([high, *(p * 1.1 for p in places)])
    panels[-1].set_xlim(low, high)
    lane.set_axis_off()
    lane.grid(False)
    rows = _rows(marks, panels[-1].get_xlim())
    lane.set_ylim(max(rows, default=0) + 1, -0.4)
    for mark, row in zip(marks, rows, strict=True):
        _draw(lane, panels, mark, row)


def _marks(answer: SizeResult) -> list[_Mark]:
    marks: list[_Mark] = []
    laws = answer.laws if answer.aqm is None else ()  # laws give the limit of a drop-tail queue
    known = [law for law in laws if law.packets is not None and law.packets > 0]
    for law in sorted(known, key=lambda law: law.packets or 0):
        packets, name = float(law.packets or 0), f"{law.law}: {whole_packets(law.packets or 0)}"
        if (
            marks
            and packets / marks[-1].packets < _SAME
            and marks[-1].holds == law.assumptions_hold
        ):
            marks[-1].label += f", {name.removeprefix(marks[-1].paper)}"
        else:
            paper = law.law.rpartition("/")[0] + "/"
            marks.append(_Mark(packets, name, law.assumptions_hold, paper=paper))
    marks += _answers(answer)
    return sorted(marks, key=lambda mark: mark.packets)


def _answers(answer: SizeResult) -> list[_Mark]:
    """Return the recommended size and the least; one mark where they are the same."""
    best, least = answer.recommended, answer.buffer
    if best is not None and least is not None and best.packets == least.packets:
        return [_answer(answer, "recommended, least", best.packets)]
    marks = [] if best is None else [_answer(answer, "recommended", best.packets)]
    return marks if least is None else [*marks, _answer(answer, "least", least.packets)]


def _answer(answer: SizeResult, name: str, packets: int) -> _Mark:
    size = packets if answer.aqm is None else sized(answer, packets)
    return _Mark(packets, f"{name}: {size}", True, is_answer=name.startswith("recommended"))


def _rows(marks: Sequence[_Mark], limits: tuple[float, float]) -> list[int]:
    """Assign each label the first row in which it overlaps no earlier label."""
    ends: list[float] = []
    rows = []
    for mark in marks:
        place = (log10(mark.packets) - log10(limits[0])) / (log10(limits[1]) - log10(limits[0]))
        left, right = _extent(place, mark.label)
        row = next((r for r, end in enumerate(ends) if left > end), len(ends))
        ends[row:row + 1] = [right]  # fmt: skip
        rows.append(row)
    return rows


def _extent(place: float, label: str) -> tuple[float, float]:
    width = len(label) * _CHARACTER
    return (place - width, place) if _at_right(place, label) else (place, place + width)


def _at_right(place: float, label: str) -> bool:
    """Whether a label is left of its line, because it would exceed the picture."""
    return place > 0.5 and place + len(label) * _CHARACTER > 1


def _draw(lane: Axes, panels: Sequence[Axes], mark: _Mark, row: int) -> None:
    colour = style.INK if mark.is_answer or mark.holds else style.FAINT
    dashes = "-" if mark.is_answer or mark.holds else (0, (4, 3))
    width = 1.8 if mark.is_answer else 0.9
    for axes in panels:
        axes.axvline(mark.packets, color=colour, linewidth=width, linestyle=dashes, zorder=1)
    bottom = lane.get_ylim()[0]
    lane.plot(
        [mark.packets, mark.packets], [row, bottom],
        color=colour, linewidth=width, linestyle=dashes, clip_on=False,
    )  # fmt: skip
    low, high = panels[-1].get_xlim()
    place = (log10(mark.packets) - log10(low)) / (log10(high) - log10(low))
    at_right = _at_right(place, mark.label)
    lane.annotate(
        mark.label, (mark.packets, row), xytext=(-3 if at_right else 3, 0),
        textcoords="offset points", ha="right" if at_right else "left", va="center",
        fontsize=8, color=colour, fontweight="bold" if mark.is_answer else "normal",
        bbox=style.PAPER,
    )  # fmt: skip


Read = Callable[[LinkOutcome], Metric | None]


def size_figure(answer: SizeResult) -> Figure:
    """Return the picture of a sizing."""
    links = [point.link for point in answer.curve]  # of a law with a utilization alone
    drawn = [p for p in _PANELS if any(map(p.read, links))] or [_PANELS[0]]
    drawn += _own_panels(answer)
    names = 0.9 if answer.laws and answer.aqm is None else 0.35
    heights = [names, *(panel.height for panel in drawn)]
    with style.framed(_title(answer), 7.2, 1.2 + sum(heights)) as figure:
        lane, *all_axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
        for panel, axes in zip(drawn, all_axes, strict=True):
            panel.draw(axes, answer)
        _shared_axis(all_axes, answer)
        draw_marks(lane, all_axes, answer)
        _shade(all_axes, answer)
    return figure


def _shade(panels: Sequence[Axes], answer: SizeResult) -> None:
    """Shade the interval of the least, and the range of all buffers that meet the goals."""
    (low, high), least = panels[-1].get_xlim(), answer.buffer
    if least is not None and least.low != least.high:
        for axes in panels:
            axes.axvspan(least.low, least.high, color=style.INK, alpha=0.12, linewidth=0, zorder=0)
    for interval in answer.region:
        right = high if interval.high is None else min(interval.high + 0.5, high)
        for axes in panels:
            left = max(interval.low - 0.5, low)
            axes.axvspan(left, right, color=style.GREEN, alpha=0.1, linewidth=0, zorder=0)
    panels[-1].set_xlim(low, high)


def _title(answer: SizeResult) -> str:
    best, least = answer.recommended, answer.buffer
    if answer.no_buffer_meets:
        text = f"no {size_name(answer)} meets the goals"
    elif best is None:
        text = f"no {size_name(answer)} can be recommended"
    elif answer.aqm is not None:
        aim = f"{answer.aqm.discipline}: {sized(answer, best.packets).removeprefix('a ')}"
        text = f"recommended: {aim}"
    else:
        text = f"recommended: {count(best.packets, 'packet')}"
    if least is not None and least.low == least.high:
        text += f"; least {least.packets}"
    elif least is not None:
        text += f"; least {least.packets} ({least.low} to {least.high})"
    return f"{answer.scenario}\n{text} ({answer.engine})"


def _utilization(axes: Axes, answer: SizeResult) -> None:
    drawn = _line(axes, answer.curve, lambda link: link.utilization, 100, style.BLUE, "")
    _target(axes, answer.goals, "utilization", 100)
    axes.set_ylabel("utilization, %")
    low, high = axes.get_ylim()
    if drawn and max(drawn) - min(drawn) < _LEAST_SPAN:
        low, high = min(low, max(0.0, min(drawn) - 1.0)), max(high, max(drawn) + 1.0)
    axes.set_ylim(low, min(100.5, high))


def _loss(axes: Axes, answer: SizeResult) -> None:
    drawn = _line(axes, answer.curve, lambda link: link.loss_rate, 100, style.VERMILLION, "")
    _target(axes, answer.goals, "loss_rate", 100)
    axes.set_ylabel("loss, %")
    if min(drawn) > 0 and max(drawn) > _FEW_DECADES * min(drawn):
        _log_if_positive(axes, drawn)  # a goal of 0.1 % next to 40 % would lie on the axis
    else:
        axes.set_ylim(bottom=0)


def _delay(axes: Axes, answer: SizeResult) -> None:
    drawn = _line(
        axes, answer.curve, lambda link: mean(link.queue_delay_s), 1e3, style.GREEN, "mean"
    )
    drawn += _line(
        axes, answer.curve, lambda link: p99(link.queue_delay_s), 1e3, style.PURPLE, "p99"
    )
    for name in sorted({g.name for g in answer.goals if g.name.startswith("queue_delay_")}):
        _target(axes, answer.goals, name, 1e3)
    axes.set_ylabel("queueing delay, ms")
    axes.legend(loc="upper left")
    _log_if_positive(axes, drawn)


def _round_trips(axes: Axes, answer: SizeResult) -> None:
    for name, colour in (
        (UTILIZATION_PROBABILITY, style.BLUE),
        (LOSS_PROBABILITY, style.VERMILLION),
    ):
        label = name.replace("_probability", "").replace("_", " ")
        if any(name in point.link.goal_metrics for point in answer.curve):
            _line(axes, answer.curve, partial(_goal_metric, name), 100, colour, label)
            _target(axes, answer.goals, name, 100)
    axes.set_ylabel("round trips\non target, %")
    axes.legend(loc="lower right")


def _goal_metric(name: str, link: LinkOutcome) -> Metric | None:
    return link.goal_metrics.get(name)


def _share_of_round_trips(link: LinkOutcome) -> Metric | None:
    return link.goal_metrics.get(UTILIZATION_PROBABILITY) or link.goal_metrics.get(LOSS_PROBABILITY)


_LEAST_SPAN = 0.1
"""Per cent: utilizations that differ by less are drawn as equal, as rounding may be all of it."""
_FEW_DECADES = 50.0
"""A span of fewer has at most two powers of ten, and also needs labels at 2 and 5."""


def _log_if_positive(axes: Axes, values: Sequence[float]) -> None:
    """Use a log axis: delays span decades, and a linear axis would hide the answer's decade."""
    if values and min(values) > 0:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        some = max(values) > _FEW_DECADES * min(values)
        axes.yaxis.set_minor_locator(LogLocator(base=10, subs=(2, 5), numticks=20))
        axes.yaxis.set_minor_formatter(
            NullFormatter() if some else axes.yaxis.get_major_formatter()
        )
    else:
        axes.set_ylim(bottom=0)


def _line(
    axes: Axes, curve: Sequence[CurvePoint], read: Read, factor: float, colour: str, label: str
) -> list[float]:
    """Draw one metric with its 95 % band; return the drawn values.

    A buffer without a measured value has no dot.
    """
    seen = [(point.packets, metric) for point in curve if (metric := read(point.link)) is not None]
    return _draw_line(axes, seen, factor, colour, label)


def _draw_line(
    axes: Axes, seen: Sequence[tuple[int, Metric]], factor: float, colour: str, label: str
) -> list[float]:
    if not seen:
        return []  # the legend names no curve that is not there
    packets = [size for size, _ in seen]
    values = [metric.value * factor for _, metric in seen]
    axes.plot(
        packets, values,
        color=colour, marker="o", markersize=3, linewidth=1.3, label=label,
        clip_on=False,
    )  # fmt: skip
    axes.fill_between(
        packets,
        [(m.value if m.low is None else m.low) * factor for _, m in seen],
        [(m.value if m.high is None else m.high) * factor for _, m in seen],
        color=colour, alpha=0.2, linewidth=0,
    )  # fmt: skip
    return values


def _target(axes: Axes, goals: Sequence[GoalResult], name: str, factor: float) -> None:
    for goal in goals:
        if goal.name == name:
            _level(axes, goal.target * factor, f"goal: {goal.sense}")


def _level(axes: Axes, value: float, text: str) -> None:
    """Draw a level across the panel, with a label below it."""
    axes.axhline(value, color=style.INK, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.annotate(
        f"{text} {value:g}",
        (1, value), xycoords=("axes fraction", "data"),
        xytext=(-2, -3), textcoords="offset points",
        ha="right", va="top", fontsize=8, color=style.INK, bbox=style.PAPER,
    )  # fmt: skip


_PANELS_OF_THEIR_OWN = 4
_COLOURS = (style.PURPLE, style.GREEN, style.VERMILLION, style.BLUE)


def _own_panels(answer: SizeResult) -> list[_Panel]:
    """Return a panel for each goal whose metric no other panel shows, binding goals first."""
    drawn = ("utilization", "loss_rate", UTILIZATION_PROBABILITY, LOSS_PROBABILITY)
    own = [g for g in answer.goals if g.name not in drawn and not g.name.startswith("queue_delay")]
    own.sort(key=lambda goal: not goal.binding)
    return [
        _Panel(lambda link: link.utilization, partial(_of_goal, goal, colour), 1.4)
        for goal, colour in zip(own[:_PANELS_OF_THEIR_OWN], _COLOURS, strict=False)
    ]


def _of_goal(goal: GoalResult, colour: str, axes: Axes, answer: SizeResult) -> None:
    factor, unit = scale(goal.unit)
    seen = [(p.packets, m) for p in answer.curve if (m := p.reached(goal.name)) is not None]
    drawn = _draw_line(axes, seen, factor, colour, "")
    _level(axes, goal.target * factor, f"goal: {goal.sense}")
    axes.set_ylabel(f"{goal.title},\n{unit}")
    _log_if_positive(axes, drawn)


def _shared_axis(panels: Sequence[Axes], answer: SizeResult) -> None:
    last = panels[-1]
    last.set_xscale("log")
    if not answer.curve:
        last.set_xlim(1, 10)
    style.plain_ticks(last.xaxis, (1, 2, 5), 20)
    laws = answer.laws if answer.aqm is None else ()
    broken = any(law.packets and not law.assumptions_hold for law in laws)
    text = ["tinted: all goals are met"] if answer.region else []
    least = answer.buffer
    text += ["grey: interval of the least"] if least and least.low < least.high else []
    text += ["dashed: a law of which an assumption is broken here"] if broken else []
    axis = f"{size_name(answer)}, packets{'' if answer.aqm is None else ' at line rate'}"
    last.set_xlabel("\n".join([axis, *wrap(f"({'; '.join(text)})", 80)]) if text else axis)
    for axes in panels:
        style.clean(axes)


@dataclass(frozen=True, slots=True)
class _Panel:
    read: Read
    draw: Callable[[Axes, SizeResult], None]
    height: float


_PANELS = (
    _Panel(lambda link: link.utilization, _utilization, 2.2),
    _Panel(lambda link: link.loss_rate, _loss, 1.6),
    _Panel(_share_of_round_trips, _round_trips, 1.4),
    _Panel(lambda link: mean(link.queue_delay_s), _delay, 1.6),
)
