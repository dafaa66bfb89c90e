"""The sentences of a sizing's report: the answer, its cost, its reason, and its region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.catalogue import DISCIPLINES
from forebay.outcome import (
    Aqm,
    Buffer,
    CurvePoint,
    GoalResult,
    Interval,
    Recommended,
    SizeResult,
    Verdict,
)
from forebay.report.goal_words import goal_name, listed, metric_words, size_name, sized, target
from forebay.report.loss_warnings import completion_words, lossy
from forebay.report.tables import (
    NOT_MEASURED,
    bounded,
    count,
    duration,
    mean,
    p99,
    plain,
    show,
    show_significant,
    table,
    with_prefix,
)

if TYPE_CHECKING:
    from rich.table import Table


def nearest_words(answer: SizeResult) -> str:
    """Mark a size as the nearest miss if there is no answer."""
    return "" if answer.buffer else " (the nearest to the goals)"


def sentence(answer: SizeResult) -> str:
    """Return the answer in one plain sentence."""
    if answer.interrupted:
        return f"No answer yet: {answer.reason}."
    if answer.no_buffer_meets:
        return f"No {size_name(answer)} meets the goals: {answer.reason}."
    if answer.recommended is None:
        reason = answer.reason or "the document is of a version that recommended none"
        return f"No {size_name(answer)} can be recommended: {reason}."
    best = answer.recommended
    if answer.aqm is not None:
        return f"Recommended: {_aim(answer.aqm, best.packets)}"
    return f"Recommended: {_amounts(best)}{', but ' * lossy(answer)}{LOSSY * lossy(answer)}."


LOSSY = "with a loss that is not usable"


def _amounts(of: Recommended | Buffer) -> str:
    return (
        f"{count(of.packets, 'packet')} ({with_prefix(of.bytes, 'B')}, "
        f"{duration(of.seconds)} at line rate)"
    )


def recommended_lines(answer: SizeResult) -> list[str]:
    """Return why the recommended size is what it is."""
    best = answer.recommended
    return [] if best is None else [f"Why this size: {'; '.join(best.why)}."]


def least_lines(answer: SizeResult) -> list[str]:
    """Return the least that was shown to meet the goals, and where it lies."""
    least, known = answer.buffer, answer.bracket
    if least is None:
        return [] if known is None else [f"Bracket, by laws alone: {known.why}."]
    between = "" if least.low == least.high else f"; it lies between {least.low} and {least.high}"
    if answer.aqm is not None:
        size = sized(answer, least.packets)
        if answer.recommended is None:  # the configuration is that of the recommended size
            size = _aim(answer.aqm, least.packets).removesuffix(".")
        return [f"Least that was shown to meet the goals: {size}{between}."]
    if answer.recommended is None and answer.scaled is not None:
        return [
            f"Bracket: {least.low} to {count(least.high, 'packet')}; best guess {_amounts(least)}."
        ]
    return [f"Least that was shown to meet the goals: {_amounts(least)}{between}."]


def colour(answer: SizeResult) -> str:
    """Return the style of the first line: a warning shows at a glance."""
    if answer.no_buffer_meets:
        return "bold red"
    sure = answer.recommended is not None and not lossy(answer)
    return "bold green" if sure else "bold yellow"


def _aim(aqm: Aqm, packets: int) -> str:
    """Return what to configure under an AQM, whose limit is only a guard."""
    guard = f"limit {count(aqm.limit_packets, 'packet')} as a guard"
    if aqm.parameter == "min":
        if aqm.is_step:
            marks = "marks" if aqm.ecn else "drops"
            k = f"a step K of {with_prefix(aqm.min_bytes, 'B')}"
            whole = count(aqm.min_bytes // aqm.packet_bytes, "packet")
            return f"{aqm.discipline} {marks} from {k} ({whole}) on; {guard}."
        low, high = (with_prefix(size, "B") for size in (aqm.min_bytes, aqm.max_bytes))
        return f"{aqm.discipline}: min {low}, max {high}; {guard}."
    aim = f"target {duration(aqm.target_s)} ({count(packets, 'packet')} at line rate)"
    interval = "" if aqm.interval_s is None else f", interval {duration(aqm.interval_s)} as it was"
    if aqm.discipline == "cake":  # its target follows from its rtt
        interval = "" if aqm.interval_s is None else f", by an rtt of {duration(aqm.interval_s)}"
    return f"{aqm.discipline}: {aim}{interval}; {guard}."


def sized_line(answer: SizeResult) -> list[str]:
    """Return what was sized under an AQM, and the purpose of its limit."""
    if answer.aqm is None:
        return []
    sized = "thresholds are" if answer.aqm.parameter == "min" else "target is"
    return [
        f"The {sized} sized, because under {answer.aqm.discipline} that decides the queue. The "
        "limit should never be reached: the queue would then be a drop-tail queue.",
        *_default(answer.aqm, answer.region),
    ]


def _default(aqm: Aqm, region: Sequence[Interval]) -> list[str]:
    """Return a note if the discipline's default target meets all goals, and is not the answer."""
    default_s = DISCIPLINES[aqm.discipline].default_target_s
    if default_s is None or (aqm.parameter == "target" and aqm.target_s == default_s):
        return []
    packets = default_s / aqm.packet_s
    if not any(i.low <= packets <= (i.high or math.inf) for i in region):
        return []
    return [f"Its default target of {duration(default_s)} meets all goals too."]


def at_once(answer: SizeResult) -> list[str]:
    """Return loss, delay and completion time at the answer in one sentence."""
    there = answer.there
    parts = [] if there is None else _measured(there)
    if there is None or not parts:
        return []
    return [f"With {sized(answer, there.packets)}{nearest_words(answer)}: {', '.join(parts)}."]


def single_packets(answer: SizeResult) -> list[str]:
    """Return what the least size does with hosts that have no segmentation offload."""
    there = answer.without_offload
    if there is None:
        return []
    names = listed(goal_name(answer, name) for name in there.unmet)
    verdicts = {
        Verdict.MET: "the goals are met too",
        Verdict.MISSED: f"that misses {names}",
        Verdict.UNDECIDED: f"{names} is undecided",
    }
    size = sized(answer, there.packets)
    return [
        f"With {size} and hosts that send one packet at a time, without segmentation offload: "
        f"{', '.join(_measured(there))}; {verdicts[there.verdict]}."
    ]


def _measured(there: CurvePoint) -> list[str]:
    link, parts = there.link, list[str]()
    if link.utilization is not None:
        used = bounded(link.utilization, there.outcome, "utilization")
        parts.append(f"{show(used, 100)} % of the link used")
    if link.loss_rate is not None:
        parts.append(f"{show_significant(link.loss_rate, 100)} % of the packets lost")
    waits = mean(link.queue_delay_s)
    if waits is not None:
        high = p99(link.queue_delay_s)
        tail = "" if high is None else f" (p99 {duration(high.value)})"
        parts.append(f"a wait of {duration(waits.value)}{tail}")
    for each in there.outcome.classes:
        parts += completion_words(each)
    return parts


def why(answer: SizeResult) -> list[str]:
    """Return the reason: the binding goal, and its source."""
    if answer.buffer is None:
        return []
    binding = [goal for goal in answer.goals if goal.binding]
    least = "one packet meets the goals"
    if answer.aqm is not None:
        least = f"the smallest {size_name(answer)} meets the goals"
    elif answer.buffer.packets > 1:
        least = "no smaller buffer is certain to meet the goals"
    return [f"Why not less: {_missing(binding, answer) if binding else least} ({_who(answer)})."]


def memory(answer: SizeResult) -> list[str]:
    """Return the memory that the answer needs, if the document contains it."""
    return [] if answer.memory is None else [f"Memory: {answer.memory.text}."]


def _missing(binding: list[GoalResult], answer: SizeResult) -> str:
    fewer = "fewer packets" if answer.aqm is None else f"a smaller {size_name(answer)}"
    goals = " and ".join(
        f"{metric_words(answer, goal.name)} of {goal.sense} {target(goal, goal.target)}"
        for goal in binding
    )
    return f"with {fewer}, {goals} {'is' if len(binding) == 1 else 'are'} not assured"


def _who(answer: SizeResult) -> str:
    if answer.engine == "theory":
        return answer.engine
    return f"{answer.engine}, up to {count(answer.seeds, 'seed')} a buffer"


def cost_lines(answer: SizeResult) -> list[str]:
    """Return the time that the answer took, and its time limit."""
    cost = answer.cost
    if cost is None:
        return []
    budget = "" if cost.budget_s is None else f" of {_time(cost.budget_s)}"
    return [f"Took {_time(cost.spent_s)}{budget} (expected: {_time(cost.predicted_s)})."]


def _time(seconds: float) -> str:
    return f"{plain(seconds)} s" if seconds < 90 else f"{plain(seconds / 60)} min"


def flows_lines(answer: SizeResult) -> list[str]:
    """Return what each end of a range of flows needs."""
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
    """Return the governing law, its reason, what would change it, and the engine's evidence."""
    governs = answer.governs
    if governs is None:
        return []
    law = f" ({governs.law})" if governs.law else ""
    first = f"Regime: {governs.regime}{law}. {governs.why}"
    seen = [f"{line[:1].upper()}{line[1:]}." for line in answer.evidence]
    return [first, f"What would change it: {governs.would_change}", *seen]


def helpless_line(answer: SizeResult) -> list[str]:
    """Explain a dash in the table of relaxations, if there is one."""
    if all(each.relaxed is not None for each in answer.relaxations):
        return []
    if answer.ends:
        what = "no size was found that meets the other goals at both ends of the range of flows"
        return [f"{NOT_MEASURED}: {what}."]
    return [f"{NOT_MEASURED}: the other goals contradict each other even without this one."]


def relaxations_table(answer: SizeResult) -> Table:
    """Return the table of relaxations, one goal at a time."""
    made = table("goal", "target", "relaxed to", "packets")
    for each in answer.relaxations:
        can = NOT_MEASURED if each.relaxed is None else f"{each.sense} {target(each, each.relaxed)}"
        packets = NOT_MEASURED if each.packets is None else str(each.packets)
        wanted = f"{each.sense} {target(each, each.target)}"
        made.add_row(metric_words(answer, each.name), wanted, can, packets)
    return made


def share_of_bdp(answer: SizeResult) -> list[str]:
    """Return the answer as a share of the bandwidth-delay product."""
    if not answer.bdp_packets or answer.buffer is None or answer.aqm is not None:
        return []
    chosen = answer.buffer if answer.recommended is None else answer.recommended
    share = chosen.packets / answer.bdp_packets
    bdp = (
        f"{plain(answer.bdp_packets, 3)} packets"
        if answer.bdp_packets < 10
        else (f"{answer.bdp_packets:.0f} packets")
    )
    parts = f"{plain(100 * share, 2)} %" if share < 10 else f"{plain(share, 2)} times"
    of = " of" if share < 10 else ""
    return [f"{count(chosen.packets, 'packet')}: {parts}{of} the bandwidth-delay product ({bdp})."]
