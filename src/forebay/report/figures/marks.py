"""Vertical lines through all panels: the answer, and the result of each law.

Their labels are in a separate lane above the panels, in as many rows as necessary to avoid
overlaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult
from forebay.report.figures.style import FAINT, INK, PAPER
from forebay.report.goal_words import (
    sized,
)
from forebay.report.tables import whole_packets

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
    _widen(panels[-1], marks)
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


def _widen(axes: Axes, marks: Sequence[_Mark]) -> None:
    """Extend the axis to every mark, also where no buffer was tried."""
    low, high = axes.get_xlim()
    places = [mark.packets for mark in marks]
    axes.set_xlim(min([low, *(p / 1.1 for p in places)]), max([high, *(p * 1.1 for p in places)]))


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
    colour = INK if mark.is_answer or mark.holds else FAINT
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
        bbox=PAPER,
    )  # fmt: skip
