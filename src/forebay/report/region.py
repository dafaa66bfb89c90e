"""What a report says of a sizing's region: its ends, the goals there, the law that governs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from forebay.outcome import GoalResult, Interval, Relaxation, SizeResult
from forebay.report.console import table
from forebay.report.numbers import NOT_MEASURED, count, duration, plain, with_prefix

if TYPE_CHECKING:
    from rich.table import Table


_METRICS = {
    "loss_rate": "loss",
    "queue_delay_mean": "mean queueing delay",
    "queue_delay_p99": "p99 of the queueing delay",
    "fct_mean": "mean completion time",
    "fct_p99": "p99 of the completion time",
    "fct_increase": "increase of the completion time over no drops",
    "realtime_loss": "loss of the real-time classes",
}
"""Metrics of goals in words, where the name alone does not say it."""


def sized(result: SizeResult, packets: int) -> str:
    """Return a size as what was sized: "72 packets", or the target or min it stands for."""
    if result.aqm is None:
        return count(packets, "packet")
    if result.aqm.parameter == "min":
        return f"a min of {with_prefix(max(packets, 2) * result.aqm.packet_bytes, 'B')}"
    return f"a target of {duration(packets * result.aqm.packet_s)}"


def size_name(result: SizeResult) -> str:
    """Return what is sized, as a column or an axis is called."""
    return "buffer" if result.aqm is None else result.aqm.parameter


def metric_words(result: SizeResult, name: str) -> str:
    """Return a goal's metric in words, a class by its name."""
    of_class = _of_class(result, name)
    if of_class is not None:
        metric, class_name = of_class
        return f"{_METRICS.get(metric, metric)} of {class_name}"
    title = next((goal.title for goal in result.goals if goal.name == name), "")
    return _METRICS.get(name) or title or name.replace("_", " ")


def goal_name(result: SizeResult, name: str) -> str:
    """Return a goal as a scenario writes it, a class by its name: "fct_p99 of web"."""
    of_class = _of_class(result, name)
    return name if of_class is None else " of ".join(of_class)


def _of_class(result: SizeResult, name: str) -> tuple[str, str] | None:
    """Split "traffic.0.fct_p99" into "fct_p99" and the class's name; None for other goals."""
    parts, names = name.split("."), result.class_names
    if parts[0] != "traffic" or len(parts) != 3 or int(parts[1]) >= len(names):
        return None
    return parts[2], names[int(parts[1])]


def region_lines(answer: SizeResult) -> list[str]:
    """Say which buffers meet the goals, and which goals are missed below and above."""
    return [_interval(interval, answer) for interval in answer.region]


def _interval(interval: Interval, answer: SizeResult) -> str:
    sizes = _sizes(interval, answer)
    less = _unmet(interval.binding_low, "down", answer)
    more = _unmet(interval.binding_high, "up", answer)
    if less and less == more:
        return f"{sizes}; neither a smaller nor a larger size assures {less}."
    parts = [f"a smaller size does not assure {less}"] if less else []
    parts += [f"a larger size does not assure {more}"] if more else []
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
        return ["Both ends of the range of flows need the same buffer."]
    at = " and ".join(
        f"{count(packets, 'packet')} with {count(flows, 'flow')}" for flows, packets in each
    )
    return [f"Over the range of flows the answer is {least} to {most} packets: {at}."]


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
