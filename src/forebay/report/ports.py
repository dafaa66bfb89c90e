"""The table of many ports' sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult
from forebay.outcome.class_queues import ClassQueueSizes, JointGoal
from forebay.outcome.size_result import Verdict
from forebay.report.tables import (
    NOT_MEASURED,
    console,
    count,
    print_configuration,
    short,
    show_significant,
    show_table,
    table,
    with_prefix,
)
from forebay.words import format_number

if TYPE_CHECKING:
    from rich.table import Table


Row = tuple[str, str, "SizeResult | None", "str | None", "str | None"]


_MARK = "*"


def print_ports(rows: Sequence[Row]) -> None:
    """Print ports as (name, rate, answer, error, note), in this order.

    A mark stands at a port of which something is said below the table.
    """
    out = console()
    grid = table("port", "rate", "packets", "bytes", "used %", "lost %", "least between", "")
    remarks: dict[str, list[str]] = {}
    for name, rate, answer, error, note in rows:
        said = [text for text in (error, note) if text]
        if answer is not None:
            open_ = answer.reason if answer.recommended is None and not error else ""
            assumed = f"assumed: {'; '.join(answer.assumptions)}" if answer.assumptions else ""
            lines = (open_, *said, _sized(answer), _why(answer), assumed)
            said = [line for line in lines if line]
        grid.add_row(name, rate, *_size(answer), _MARK if said else "")
        for text in said:
            remarks.setdefault(text, []).append(name)
    show_table(out, grid)
    for text, names in remarks.items():
        out.print(f"{_MARK} {', '.join(names)}: {text}", soft_wrap=True)


def _why(answer: SizeResult) -> str:
    """Return why a size outside the least's interval is recommended; "" if it is inside."""
    if answer.recommended is None or answer.buffer is None:
        return ""
    if answer.buffer.low <= answer.recommended.packets <= answer.buffer.high:
        return ""
    return "; ".join(answer.recommended.why)


def _sized(answer: SizeResult) -> str:
    """Return what the packets are of, where they are not those of a buffer."""
    aqm = None if answer.recommended is None else answer.aqm
    if aqm is None:
        return ""
    return (
        f"the {aqm.parameter} of {aqm.discipline}, at line rate, and no buffer; limit "
        f"{aqm.limit_packets} packets as a guard"
    )


def _size(answer: SizeResult | None) -> tuple[str, ...]:
    least = None if answer is None else answer.buffer
    between = NOT_MEASURED if least is None else f"{least.low} to {least.high}"
    if answer is None or answer.recommended is None:
        return (*[NOT_MEASURED] * 4, between)
    best = answer.recommended
    here = next((price for price in answer.price if price.why == "recommended"), None)
    used, lost = (None, None) if here is None else (here.utilization, here.loss_rate)
    shares = (short(used, 100), short(lost, 100))
    return (str(best.packets), with_prefix(best.bytes, "B"), *shares, between)


def print_class_queues(found: ClassQueueSizes) -> None:
    """Print the sizes, their memory, and every goal with all of them together."""
    out = console()
    out.print(str(found.outcome.scenario["name"]), style="bold")
    show_table(out, _sizes(found))
    out.print(_memory(found))
    turns = f"Sized one after another, {count(found.passes, 'time')}, the others as they were"
    moved = "the last pass still moved a size: give it more time"
    out.print(f"{turns}; {'the sizes are steady' if found.steady else moved}.")
    for queue in found.class_queues:
        if queue.error is not None:
            out.print(f"{queue.name}: {queue.error}.")
    out.print()
    out.print("Goals with all class queues at these sizes", style="bold")
    grid = table("goal", "reached", "")
    for goal in found.goals:
        grid.add_row(goal.goal, _reached(goal), str(goal.verdict))
    show_table(out, grid)
    if any(kind.settled is False for kind in found.outcome.classes):
        out.print("Long flows have not settled in the run of all queues: write a longer warmup.")
    print_configuration(out, found.configuration)


def _sizes(sizes: ClassQueueSizes) -> Table:
    grid = table("class queue", "traffic", "packets", "bytes", "ms at line rate", "least between")
    for queue in sizes.class_queues:
        between = "as written" if not queue.is_sized else "–"
        if queue.low is not None:
            between = f"{queue.low} to {queue.high}"
        grid.add_row(
            queue.name, ", ".join(queue.traffic), str(queue.packets), with_prefix(queue.bytes, "B"),
            format_number(1e3 * queue.seconds, ".3g"), between,
        )  # fmt: skip
    return grid


def _memory(sizes: ClassQueueSizes) -> str:
    together = with_prefix(sizes.bytes, "B")
    if sizes.memory_bytes is None:
        return f"Together {together}."
    memory = with_prefix(sizes.memory_bytes, "B")
    if not sizes.is_cut:
        spare = with_prefix(sizes.memory_bytes - sizes.bytes, "B")
        return f"Together {together} of {memory}; {spare} are left."
    wanted = with_prefix(sizes.wanted_bytes, "B")
    missed = sum(goal.verdict is not Verdict.MET for goal in sizes.goals)
    lost = "all goals are met all the same" if not missed else f"{count(missed, 'goal')} not met"
    cut = f"The sizes take {wanted} and the memory has {memory}: all were cut by one factor"
    return f"{cut}; {lost}."


def _reached(goal: JointGoal) -> str:
    if goal.reached is None:
        return "not measured"
    if goal.goal.endswith("%"):
        return f"{show_significant(goal.reached, 100)} %"
    factor, unit = (1e3, " ms") if goal.goal.endswith("ms") else (1e-6, " Mbit/s")
    return f"{show_significant(goal.reached, factor)}{unit}"
