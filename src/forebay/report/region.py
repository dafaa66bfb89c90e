"""Sentences and tables on the region of a sizing: its ends, what would open one, who governs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from forebay.outcome import GoalResult, Interval, Relaxation, SizeResult
from forebay.report.console import table
from forebay.report.numbers import NOT_MEASURED, count, plain
from forebay.report.size_words import metric_words, sized

if TYPE_CHECKING:
    from rich.table import Table


def region_lines(answer: SizeResult) -> list[str]:
    """Say which buffers meet the goals, and which goals are missed below and above."""
    return [_interval(interval, answer) for interval in answer.region]


def _interval(interval: Interval, answer: SizeResult) -> str:
    sizes = _sizes(interval, answer)
    less = _unmet(interval.binding_low, "down", answer)
    more = _unmet(interval.binding_high, "up", answer)
    if less and less == more:
        return f"{sizes}; neither less nor more assures {less}."
    parts = [f"less does not assure {less}"] if less else []
    parts += [f"more does not assure {more}"] if more else []
    return f"{sizes}{'; ' if parts else ''}{', '.join(parts)}."


def _sizes(interval: Interval, answer: SizeResult) -> str:
    low, high = interval.low, interval.high
    if answer.aqm is not None:
        first = sized(answer, low)
        upper = " or more" if high is None else f" to {sized(answer, high).partition(' of ')[2]}"
        return f"{first[:1].upper()}{first[1:]}{'' if high == low else upper} meets all goals"
    if high is None:
        return f"{count(low, 'packet')} or more meet all goals"
    if high == low:
        return f"{count(low, 'packet')} alone {'meets' if low == 1 else 'meet'} all goals"
    return f"{low} to {count(high, 'packet')} meet all goals"


def _unmet(names: tuple[str, ...], other_way: str, answer: SizeResult) -> str:
    """List the goals not met on one side; those that push the other way only if alone.

    A goal that asks for more is, above, at most left undecided by noise.
    """
    pushes = {goal.name: goal.pushes for goal in answer.goals}
    likely = [name for name in names if pushes.get(name) != other_way] or names
    return listed(metric_words(answer, name) for name in likely)


def listed(words: Iterable[str]) -> str:
    """Return "a, b and c"; "" for nothing."""
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def flows_lines(answer: SizeResult) -> list[str]:
    """Say what each end of a range of flows needs."""
    found = [end for end in answer.ends if end.buffer is not None]
    if len(found) < 2:
        return []
    each = [(end.flows, end.buffer.packets) for end in found if end.buffer is not None]
    least, most = sorted(packets for _, packets in each)
    if least == most:
        return ["Both ends of the range of flows need as much."]
    at = " and ".join(
        f"{count(packets, 'packet')} with {count(flows, 'flow')}" for flows, packets in each
    )
    return [f"The number of flows leaves {least} to {most} packets open: {at}."]


def governs_lines(answer: SizeResult) -> list[str]:
    """Say which law governs, why, what would change it, and what the engine saw of that."""
    governs = answer.governs
    if governs is None:
        return []
    law = f" ({governs.law})" if governs.law else ""
    first = f"Regime: {governs.regime}{law}. {governs.why}"
    seen = [f"{line[:1].upper()}{line[1:]}." for line in answer.evidence]
    return [first, f"What would change it: {governs.would_change}", *seen]


def helpless_line(answer: SizeResult) -> list[str]:
    """Say what a dash in the table of relaxations means, where there is one."""
    if all(each.relaxed is not None for each in answer.relaxations):
        return []
    return [f"{NOT_MEASURED}: the other goals contradict each other even without this one."]


def relaxations_table(answer: SizeResult) -> Table:
    """Return the table of what would have to give way, one goal at a time."""
    made = table("goal", "target", "relaxed to", "packets")
    for each in answer.relaxations:
        can = NOT_MEASURED if each.relaxed is None else f"{each.sense} {target(each, each.relaxed)}"
        packets = NOT_MEASURED if each.packets is None else str(each.packets)
        wanted = f"{each.sense} {target(each, each.target)}"
        made.add_row(metric_words(answer, each.name), wanted, can, packets)
    return made


def target(goal: GoalResult | Relaxation, value: float) -> str:
    """Write a target in the unit a person would use."""
    factor, unit = scale(goal.unit)
    return f"{value * factor:.10g} {unit}"


def scale(unit: str) -> tuple[float, str]:
    """Return the factor to, and the name of, the unit that a person would use."""
    return {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s")}.get(unit, (100.0, "%"))


def share_of_bdp(answer: SizeResult) -> list[str]:
    """Say how much of a bandwidth-delay product the answer is."""
    if not answer.bdp_packets or answer.buffer is None or answer.aqm is not None:
        return []
    share = answer.buffer.packets / answer.bdp_packets
    bdp = (
        f"{plain(answer.bdp_packets, 3)} packets"
        if answer.bdp_packets < 10
        else (f"{answer.bdp_packets:.0f} packets")
    )
    parts = f"{plain(100 * share, 2)} %" if share < 10 else f"{plain(share, 2)} times"
    of = " of" if share < 10 else ""
    return [f"That is {parts}{of} the bandwidth-delay product ({bdp})."]
