"""Sentences and tables on the region of a sizing: its ends, what would open one, who governs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.report.answer import Answer, Goal, Interval, Relaxation
from forebay.report.console import table
from forebay.report.numbers import NOT_MEASURED, plain

if TYPE_CHECKING:
    from rich.table import Table


def region_lines(answer: Answer) -> list[str]:
    """Say which buffers meet the goals, and what forbids less and more."""
    words = {goal.name: goal.words for goal in answer.goals}
    return [_interval(interval, words) for interval in answer.region]


def _interval(interval: Interval, words: dict[str, str]) -> str:
    low, high = interval.low, interval.high
    sizes = f"{low} packets and more" if high is None else f"{low} to {high} packets"
    less, more = _bound(interval.binding_low, words), _bound(interval.binding_high, words)
    said = [f"{less} forbids less"] if less else []
    said += [f"{more} forbids more"] if more else []
    return f"All goals are met with {sizes}{': ' if said else ''}{', '.join(said)}."


def _bound(names: tuple[str, ...], words: dict[str, str]) -> str:
    return " and ".join(words.get(name, name) for name in names)


def flows_lines(answer: Answer) -> list[str]:
    """Say what each end of a range of flows needs."""
    found = [end for end in answer.flows if end.buffer is not None]
    if len(found) < 2:
        return []
    each = [(end.flows, end.buffer.packets) for end in found if end.buffer is not None]
    least, most = sorted(packets for _, packets in each)
    if least == most:
        return ["Both ends of the range of flows need as much."]
    at = " and ".join(f"{packets} packets with {flows} flows" for flows, packets in each)
    return [f"The number of flows leaves {least} to {most} packets open: {at}."]


def governs_lines(answer: Answer) -> list[str]:
    """Say which law governs, why, what would change it, and what the engine saw of that."""
    told = answer.governs
    if told is None:
        return []
    law = f" ({told.law})" if told.law else ""
    first = f"What governs: {told.regime}{law}. {told.why}"
    seen = [f"{line[:1].upper()}{line[1:]}." for line in answer.evidence]
    return [first, f"What would change it: {told.would_change}", *seen]


def helpless_line(answer: Answer) -> list[str]:
    """Say what a dash in the table of relaxations means, where there is one."""
    if all(each.relaxed is not None for each in answer.relaxations):
        return []
    return [f"{NOT_MEASURED}: the other goals contradict each other even without this one."]


def relaxations_table(relaxations: tuple[Relaxation, ...]) -> Table:
    """Return the table of what would have to give way, one goal at a time."""
    made = table("give up only", "asked", "can be had", "packets")
    for each in relaxations:
        can = NOT_MEASURED if each.relaxed is None else f"{each.sense} {target(each, each.relaxed)}"
        packets = NOT_MEASURED if each.packets is None else str(each.packets)
        made.add_row(each.words, f"{each.sense} {target(each, each.target)}", can, packets)
    return made


def target(goal: Goal | Relaxation, value: float) -> str:
    """Write a target in the unit a person would use."""
    factor, unit = scale(goal.unit)
    return f"{value * factor:.10g} {unit}"


def scale(unit: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit that a person would use."""
    return {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s")}.get(unit, (100.0, "%"))


def share_of_bdp(answer: Answer) -> list[str]:
    """Say how much of a bandwidth-delay product the answer is."""
    if not answer.bdp_packets or answer.buffer is None:
        return []
    share = plain(100 * answer.buffer.packets / answer.bdp_packets, 2)
    bdp = f"{answer.bdp_packets:.0f} packets"
    return [f"That is {share} % of the bandwidth-delay product ({bdp})."]
