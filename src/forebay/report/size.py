"""The report of a sizing: the answer first, then why, then the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forebay.report.answer import Answer, Goal, Law, Point
from forebay.report.console import console, show_table, table
from forebay.report.numbers import (
    NOT_MEASURED,
    duration,
    mean,
    p99,
    plain,
    show,
    show_interval,
    show_significant,
    with_prefix,
)
from forebay.report.region import (
    flows_lines,
    governs_lines,
    helpless_line,
    region_lines,
    relaxations_table,
    scale,
    share_of_bdp,
    target,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_MOST_ROWS = 14


def print_size(document: Mapping[str, Any]) -> None:
    """Print a sizing for a person.

    Parameters
    ----------
    document : the document of ``size --json``, schema 1.
    """
    answer = Answer.model_validate(document)
    out = console()
    out.print(answer.scenario, style="bold")
    out.print()
    out.print(sentence(answer), style="bold green" if answer.buffer else "bold red")
    for line in (*why(answer), *region_lines(answer), *flows_lines(answer), *memory(answer)):
        out.print(line)
    for line in (*map(_sentence_case, answer.notes), *governs_lines(answer)):
        out.print(line)
    _print_evidence(out, answer)


def _print_evidence(out: Console, answer: Answer) -> None:
    if answer.goals:
        where = "" if answer.buffer else f" (at {answer.nearest} packets, the nearest)"
        _section(out, f"Goals{where}", _goals(answer.goals))
    if answer.relaxations:
        title = "The least that one goal must give way, the others kept"
        _section(out, title, relaxations_table(answer.relaxations))
        for line in helpless_line(answer):
            out.print(line)
    if answer.laws:
        _section(out, "What published laws ask for", _laws(answer.laws))
    if answer.curve:
        _section(out, f"Buffers tried ({answer.engine})", _curve(answer))


def _section(out: Console, title: str, body: Table) -> None:
    out.print()
    out.print(title, style="bold")
    show_table(out, body)


def sentence(answer: Answer) -> str:
    """Return the answer in one plain sentence."""
    if answer.buffer is None:
        return f"There is no answer: {answer.reason}."
    b = answer.buffer
    return (
        f"Buffer: {b.packets} packet{'s' * (b.packets != 1)} ({with_prefix(b.bytes, 'B')}, "
        f"{duration(b.seconds)} at line rate)."
    )


def why(answer: Answer) -> list[str]:
    """Return the reasons: the goal that binds, who says so, and the size in BDPs."""
    if answer.buffer is None:
        return []
    binding = [goal for goal in answer.goals if goal.binding]
    lines = [f"Why: {_missing(binding) if binding else 'one packet is enough'} ({_who(answer)})."]
    return [*lines, *share_of_bdp(answer)]


def memory(answer: Answer) -> list[str]:
    """Say what memory the answer takes, where the document tells."""
    return [] if answer.memory is None else [f"Memory: {answer.memory.text}."]


def _missing(binding: list[Goal]) -> str:
    asked = " and ".join(
        f"{goal.words} of {goal.sense} {target(goal, goal.target)}" for goal in binding
    )
    return f"with fewer packets, {asked} is not assured"


def _who(answer: Answer) -> str:
    if answer.engine == "theory":
        return answer.engine
    return f"{answer.engine}, up to {answer.seeds} seeds a buffer"


def _goals(goals: tuple[Goal, ...]) -> Table:
    made = table("goal", "target", "reached", "95 % interval", "")
    for goal in goals:
        factor, unit = scale(goal.unit)
        made.add_row(
            goal.words,
            f"{goal.sense} {target(goal, goal.target)}",
            f"{_digits(goal.reached.value * factor)} {unit}",
            show_interval(goal.reached, factor, 2 if goal.name == "utilization" else 3),
            goal.verdict + (", binds" if goal.binding else ""),
            style=None if goal.verdict == "met" else "red",
        )
    return made


def _digits(value: float) -> str:
    return f"{value:.2f}" if value >= 10 else plain(value)


def _laws(laws: tuple[Law, ...]) -> Table:
    made = table("law", "packets", "assumptions")
    made.columns[2].justify, made.columns[2].no_wrap = "left", False
    for law in laws:
        made.add_row(
            law.law,
            _asked_for(law),
            "hold" if law.assumptions_hold else "broken: " + "; ".join(law.broken_assumptions),
            style=None if law.assumptions_hold else "dim",
        )
    return made


def _asked_for(law: Law) -> str:
    if law.packets is None:
        return NOT_MEASURED
    if law.packets_between is None or law.packets_between[0] == law.packets_between[1]:
        return f"{law.packets:.0f}"
    return "{:.0f} … {:.0f}".format(*law.packets_between)


def _curve(answer: Answer) -> Table:
    made = table(
        "packets", "utilization %", "loss %", "delay ms", "p99 ms", "seeds", "goals", left=0
    )
    chosen = answer.buffer.packets if answer.buffer else answer.nearest
    for point in _rows(answer.curve, chosen):
        here = point.packets == chosen
        made.add_row(*_cells(point, here), style="bold" if here else None)
    return made


def _cells(point: Point, here: bool) -> tuple[str, ...]:
    link, high = point.link, p99(point.link.queue_delay_s)
    return (
        f"> {point.packets}" if here else str(point.packets),
        show(link.utilization, 100),
        show_significant(link.loss_rate, 100),
        show_significant(mean(link.queue_delay_s), 1e3),
        NOT_MEASURED if high is None else plain(high.value * 1e3),
        str(point.seeds),
        point.verdict,
    )


def _rows(curve: tuple[Point, ...], chosen: int | None) -> list[Point]:
    """Keep a table that fits a screen: the points nearest to the answer (in ratio) and the ends."""
    if len(curve) <= _MOST_ROWS or chosen is None:
        return list(curve)
    near = sorted(curve[1:-1], key=lambda p: max(p.packets / chosen, chosen / p.packets))
    return sorted([curve[0], *near[: _MOST_ROWS - 2], curve[-1]], key=lambda p: p.packets)


def _sentence_case(note: str) -> str:
    return note[:1].upper() + note[1:].rstrip(".") + "."
