"""The report of a sizing: the answer first, then why, then the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from forebay.report.answer import Answer, Goal, Law, Point
from forebay.report.console import console, table
from forebay.report.numbers import (
    NOT_MEASURED,
    duration,
    plain,
    show,
    show_interval,
    show_significant,
    with_prefix,
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
    for line in (*why(answer), *answer.notes):
        out.print(line)
    _print_evidence(out, answer)


def _print_evidence(out: Console, answer: Answer) -> None:
    if answer.goals:
        where = "" if answer.buffer else f" (at {answer.nearest} packets, the nearest)"
        _section(out, f"Goals{where}", _goals(answer.goals))
    if answer.laws:
        _section(out, "What published laws ask for", _laws(answer.laws))
    if answer.curve:
        _section(out, f"Buffers tried ({answer.engine})", _curve(answer))


def _section(out: Console, title: str, body: Table) -> None:
    out.print()
    out.print(title, style="bold")
    out.print(body)


def sentence(answer: Answer) -> str:
    """Return the answer in one plain sentence."""
    if answer.buffer is None:
        return f"There is no answer: {answer.reason}."
    b = answer.buffer
    return (
        f"Buffer: {b.packets} packets ({with_prefix(b.bytes, 'B')}, "
        f"{duration(b.seconds)} at line rate)."
    )


def why(answer: Answer) -> list[str]:
    """Return the reasons: the goal that binds, who says so, and the size in BDPs."""
    if answer.buffer is None:
        return []
    binding = [goal for goal in answer.goals if goal.binding]
    lines = [f"With fewer, {_fails(binding)}." if binding else "Even one packet is enough."]
    lines[0] += f" Found by {answer.engine}{_seeds(answer)}."
    if answer.bdp_packets:
        share = answer.buffer.packets / answer.bdp_packets
        lines.append(f"It is {share:.2g} of the bandwidth-delay product, {answer.bdp_packets:.0f}.")
    return lines


def _fails(binding: list[Goal]) -> str:
    said = [f"{_words(goal)} {_misses(goal)} {_target(goal)}" for goal in binding]
    return " and ".join(said)


def _misses(goal: Goal) -> str:
    return "is not shown to reach" if goal.sense == "at least" else "is not shown to stay under"


def _seeds(answer: Answer) -> str:
    return "" if answer.engine == "theory" else f", {answer.seeds} seeds a buffer at most"


def _words(goal: Goal) -> str:
    return goal.name.replace("_", " ")


def _scale(goal: Goal) -> tuple[float, str]:
    return (1e3, "ms") if goal.unit == "s" else (100.0, "%")


def _target(goal: Goal) -> str:
    factor, unit = _scale(goal)
    return f"{goal.target * factor:g} {unit}"


def _goals(goals: tuple[Goal, ...]) -> Table:
    made = table("goal", "target", "reached", "95 % interval", "")
    for goal in goals:
        factor, unit = _scale(goal)
        made.add_row(
            _words(goal),
            f"{goal.sense} {_target(goal)}",
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
    made.columns[2].justify = "left"
    for law in laws:
        made.add_row(
            law.law,
            NOT_MEASURED if law.packets is None else f"{law.packets:.0f}",
            "hold" if law.assumptions_hold else "broken: " + "; ".join(law.broken_assumptions),
            style=None if law.assumptions_hold else "dim",
        )
    return made


def _curve(answer: Answer) -> Table:
    made = table(
        "packets", "utilization %", "loss %", "delay ms", "p99 ms", "seeds", "goals", left=0
    )
    chosen = answer.buffer.packets if answer.buffer else answer.nearest
    for point in _rows(answer.curve, chosen):
        mark = " <" if point.packets == chosen else ""
        made.add_row(*_cells(point), point.verdict + mark, style="bold" if mark else None)
    return made


def _cells(point: Point) -> tuple[str, ...]:
    link, delay = point.link, point.link.queue_delay_s
    return (
        str(point.packets),
        show(link.utilization, 100),
        show_significant(link.loss_rate, 100),
        show(delay and delay.mean, 1e3),
        show(delay and delay.p99, 1e3, 1),
        str(point.seeds),
    )


def _rows(curve: tuple[Point, ...], chosen: int | None) -> list[Point]:
    """Keep a table that fits a screen: the points nearest to the answer (in ratio) and the ends."""
    if len(curve) <= _MOST_ROWS or chosen is None:
        return list(curve)
    near = sorted(curve[1:-1], key=lambda p: max(p.packets / chosen, chosen / p.packets))
    return sorted([curve[0], *near[: _MOST_ROWS - 2], curve[-1]], key=lambda p: p.packets)
