"""The report of a sizing: at most 14 lines, and all evidence for who asks for it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.outcome import Aqm, CurvePoint, GoalResult, LawResult, Price, ScaledLink, SizeResult
from forebay.report.tables import (
    NOT_MEASURED,
    assumed_lines,
    class_table,
    console,
    count,
    drain_lines,
    duration,
    listed,
    mean,
    p99,
    plain,
    print_configuration,
    rate_lines,
    scale,
    sentence_case,
    short,
    show,
    show_interval,
    show_significant,
    show_table,
    shown_links,
    size_name,
    sized,
    table,
    target,
    tells_of_classes,
    whole_packets,
    with_prefix,
)
from forebay.scenario import BOTTLENECK

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


COLUMNS = 80
LINES = 14
LOSSY = 0.05
"""Loss at the recommended size from which on the first line says it."""
USUAL_LOSS = 0.01
_MOST_ROWS = 14
_MORE = "… (--explain)"


def print_size(answer: SizeResult, *, explain: bool = False) -> None:
    """Print a sizing as text.

    All its evidence follows with ``explain``, and where smaller buffers or several ports, which
    only the evidence shows, were asked for.
    """
    out = console()
    first, *rest = brief(answer)
    sure = answer.recommended is not None and not _but(answer)
    colour = "red" if answer.no_buffer_meets else "green" if sure else "yellow"
    out.print(first, style="bold", soft_wrap=True)
    out.print(rest[0], style=f"bold {colour}", soft_wrap=True)
    for line in rest[1:]:
        out.print(line, soft_wrap=True)
    if explain or answer.cheaper or (answer.memory is not None and answer.memory.ports > 1):
        _print_evidence(out, answer)
    print_configuration(out, answer.configuration)


def _print_evidence(out: Console, answer: SizeResult) -> None:
    out.print()
    for line in explained(answer):
        out.print(line)
    for title, body in evidence_tables(answer):
        out.print()
        out.print(title, style="bold")
        show_table(out, body)


def brief(answer: SizeResult) -> list[str]:
    """Return the answer in at most 14 lines of 80 columns."""
    lines = [answer.scenario, *wrap(sentence(answer), COLUMNS, subsequent_indent="  ")[:3]]
    lines += [*_least(answer), *_price(answer)]
    lines += [*_said(answer), *_assumed(answer), *_law(answer), *_by(answer)]
    fitting = [line if len(line) <= COLUMNS else _cut(line) for line in lines]
    return fitting if len(fitting) <= LINES else [*fitting[: LINES - 1], _MORE]


def _cut(line: str) -> str:
    """Return the words of a line that fit; a number is not cut."""
    whole = wrap(line, COLUMNS - len(_MORE) - 1, break_on_hyphens=False) or [""]
    return f"{whole[0]} {_MORE}"


def sentence(answer: SizeResult) -> str:
    """Return the answer in one plain sentence."""
    if answer.interrupted and answer.recommended is None:
        return f"No answer yet: {answer.reason}."
    if answer.no_buffer_meets:
        return f"No {size_name(answer)} meets the goals: {answer.reason}."
    best = answer.recommended
    if best is None:
        reason = answer.reason or "the document is of a version that recommended none"
        return f"No {size_name(answer)} can be recommended: {reason}."
    if answer.of:
        what = f"{answer.of} = {answer.of_value}"
    elif answer.aqm is not None:
        what = _aim(answer.aqm, best.packets)
    else:
        size, time = with_prefix(best.bytes, "B"), duration(best.seconds)
        what = f"{count(best.packets, 'packet')} ({size}, {time})"
    return f"Recommended: {what}{_but(answer)}."


def _but(answer: SizeResult) -> str:
    """Return what the first line has to say of the search, the goals and the loss at the size."""
    open_ = [goal.title for goal in answer.goals if goal.verdict == "undecided"]
    said = ["stopped before it was done"] if answer.interrupted else []
    said += [f"{listed(open_)} undecided"] if open_ else []
    said += [f"{g.title} missed" for g in answer.goals if g.verdict == "missed"]
    here = _priced(answer)
    lost = None if here is None else here.loss_rate
    if lost is not None and lost.value > LOSSY:
        said.append(f"{plain(100 * lost.value)} % lost")
    return f"; {', '.join(said)}" if said else ""


def _priced(answer: SizeResult) -> Price | None:
    return next((price for price in answer.price if price.why == "recommended"), None)


def _least(answer: SizeResult) -> list[str]:
    """Return which step decided, the least with its interval, and the goal that binds."""
    least, best = answer.buffer, answer.recommended
    if least is None or best is None:
        return []
    unit = "" if answer.aqm is None else " packets"  # beside a time or bytes
    between = "" if least.low == least.high else f" ({least.low} to {least.high}{unit})"
    binding = [goal for goal in answer.goals if goal.binding]
    goals = " and ".join(
        f"{goal.title} {goal.sense} {target(goal, goal.target)}" for goal in binding
    )
    why = "; ".join(best.why)
    is_least = best.step in (0, 1) and best.packets == least.packets
    lines = [] if is_least or not why else [f"Why: {why}."]
    binds = f"; binds: {goals}" if goals else ""
    return [*lines, f"Least shown: {sized(answer, least.packets)}{between}{binds}."]


def _price(answer: SizeResult) -> list[str]:
    """Return a row for half, the size, its double, and what 1 % of loss takes."""
    if not answer.price:
        return []
    (name, *_), cells = price_cells(answer)
    head = f"{name:>12}  {'used %':>7} {'lost %':>7} {'wait ms':>8} {'p99 ms':>8}"
    lines = (
        f"{packets:>12}  {used:>7} {lost:>7} {wait:>8} {high:>8}  {why}"
        for packets, used, lost, wait, high, why in cells
    )
    return [head, *lines, *_loss_price(answer)]


def price_cells(answer: SizeResult) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the header and the rows of what half the size, the size and its double do."""
    name = "packets" if answer.aqm is None else f"{answer.aqm.parameter}, packets"
    rows: list[tuple[str, ...]] = [
        (
            f"{'>' if of.why == 'recommended' else '≈' if of.approximate else ''} {of.packets}",
            short(of.utilization, 100), short(of.loss_rate, 100),
            short(mean(of.queue_delay_s), 1e3), short(p99(of.queue_delay_s), 1e3), of.why,
        )
        for of in answer.price
    ]  # fmt: skip
    return [name, "used %", "lost %", "wait ms", "p99 ms", ""], rows


def _loss_price(answer: SizeResult) -> list[str]:
    """Say that 1 % of loss is out of reach, where more than that is lost."""
    here = _priced(answer)
    if here is None or here.loss_rate is None or here.loss_rate.value <= USUAL_LOSS:
        return []
    if any(price.why.startswith("loss") for price in answer.price):
        return []
    return ["No size that was run within the goals loses 1 % or less."]


def _remarks(answer: SizeResult) -> list[str]:
    """Return what else has to be known of an answer, the most important first."""
    there = answer.there
    stopped = [answer.reason] if answer.interrupted and answer.recommended and answer.reason else []
    disturbed = () if there is None else there.outcome.disturbed
    return [*stopped, *answer.late_starts, *disturbed, *answer.notes]


def _said(answer: SizeResult) -> list[str]:
    """Return the first of what else has to be known, in one line."""
    said = _remarks(answer)
    if not said:
        return []
    more = f" (+{len(said) - 1}: --explain)" if len(said) > 1 else ""
    room = COLUMNS - len("Note: ") - len(more)
    note = shorten(f"{said[0].rstrip('.')}.", room, placeholder=" …")
    return [f"Note: {note}{more}"]


def _assumed(answer: SizeResult) -> list[str]:
    """Return what was assumed, as much as has room in a line."""
    line, left = "", len(answer.assumptions)
    for assumption in answer.assumptions:
        longer = f"{line}; {assumption}" if line else assumption
        if len(f"Assumed: {longer} (+{left - 1}).") > COLUMNS and line:
            break
        line, left = longer, left - 1
    return [f"Assumed: {line}{f' (+{left})' if left else ''}."] if line else []


def _law(answer: SizeResult) -> list[str]:
    """Return the law that governs, or that none does: and why, where nothing is recommended."""
    governs = answer.governs
    if governs is None or answer.aqm is not None:
        return []
    law = next((result for result in answer.laws if result.law == governs.law), None)
    if answer.of and law is not None:  # a law's packets are those of a queue
        return []
    if law is None or law.packets is None:
        said = f"{governs.law}, {governs.regime}." if governs.law else (
            f"none governs ({governs.regime})."
        )  # fmt: skip
        if answer.recommended is None:
            said += f" {governs.why}"
        fitting = shorten(f"Law: {said}", 2 * COLUMNS - 12, placeholder=f" {_MORE}")
        return wrap(fitting, COLUMNS, subsequent_indent="  ")
    holds = "" if law.assumptions_hold else ", though an assumption is broken"
    packets = _law_packets(law)
    return [f"Law: {governs.law}: {packets} packet{'' if packets == '1' else 's'}{holds}."]


def _by(answer: SizeResult) -> list[str]:
    """Return what was run, and the time that it took."""
    cost, scaled = answer.cost, answer.scaled
    what = answer.engine if scaled is None else (
        f"{answer.engine} of a link {plain(scaled.factor)} times smaller"
    )  # fmt: skip
    seeds = f", {'up to ' * (answer.seeds > 1)}{count(answer.seeds, 'seed')}" * _is_sampled(answer)
    took = ""
    if cost is not None:
        of = "" if cost.budget_s is None else f" of {_time(cost.budget_s)}"
        took = f", {_time(cost.spent_s)}{of}"
    return [f"By {what}{seeds}{took}."]


def _time(seconds: float) -> str:
    return f"{plain(seconds)} s" if seconds < 90 else f"{plain(seconds / 60)} min"


def _aim(aqm: Aqm, packets: int) -> str:
    """Return what to configure under an AQM, whose limit is only a guard."""
    guard = f"limit {count(aqm.limit_packets, 'packet')} as a guard"
    if aqm.parameter == "min":
        if aqm.is_step:
            marks = "marks" if aqm.ecn else "drops"
            return f"{aqm.discipline} {marks} from K = {with_prefix(aqm.min_bytes, 'B')}; {guard}"
        low, high = (with_prefix(size, "B") for size in (aqm.min_bytes, aqm.max_bytes))
        return f"{aqm.discipline}: min {low}, max {high}; {guard}"
    aim = f"{aqm.discipline} target {duration(aqm.target_s)} ({count(packets, 'packet')})"
    if aqm.discipline == "cake" and aqm.interval_s is not None:
        aim = f"cake rtt {duration(aqm.interval_s)} (target {duration(aqm.target_s)})"
    return f"{aim}; {guard}"


def explained(answer: SizeResult) -> list[str]:
    """Return everything else that is known, a sentence a line."""
    lines = [sentence_case(line) for line in _remarks(answer)]
    if answer.rates:
        lines += [*rate_lines(answer.rates), *drain_lines(answer)]
    lines += assumed_lines(answer.assumptions)
    lines += [*_region(answer), *_other_hosts(answer), *_flows(answer), *_share_of_bdp(answer)]
    lines += [] if answer.memory is None else [f"Memory: {answer.memory.text}."]
    lines += [*_scaled(answer), *_governs(answer)]
    return lines


def reasons(answer: SizeResult) -> list[str]:
    """Return what `brief` says in its lines, and everything else: each sentence once, and whole."""
    return [*_least(answer), *_loss_price(answer), *explained(answer), *_by(answer)]


def _region(answer: SizeResult) -> list[str]:
    """Return the sizes run that meet all goals, and what is missed beyond them."""
    lines, means = [], " by their means" * _is_sampled(answer)
    for part in answer.region:
        high = "or more" if part.high is None else f"to {part.high}"
        below, above = (
            listed(_title(answer, name) for name in names)
            for names in (part.binding_low, part.binding_high)
        )
        less = f"; a smaller size does not assure {below}" if below else ""
        more = f"; a larger size does not assure {above}" if above else ""
        meet = f"{part.low} {high} packets meet the goals{means}"
        lines.append(f"Of the sizes run, {meet}{less}{more}.")
    return lines


def _title(answer: SizeResult, name: str) -> str:
    """Return the title of a goal that is known by its name."""
    titles = (goal.title for goal in answer.goals if goal.name == name)
    return next(titles, name.replace("_", " "))


def _other_hosts(answer: SizeResult) -> list[str]:
    """Return what the least size does with hosts that have no segmentation offload."""
    there = answer.without_offload
    if there is None:
        return []
    parts = [f"{show(there.link.utilization, 100)} % used"]
    parts += [f"{show_significant(there.link.loss_rate, 100)} % lost"]
    names = listed(_title(answer, name) for name in there.unmet)
    verdict = f"; {names} {there.verdict}" if names else ""
    return [
        f"With {sized(answer, there.packets)} and hosts without segmentation offload: "
        f"{', '.join(parts)}{verdict}."
    ]


def _flows(answer: SizeResult) -> list[str]:
    """Return what each end of a range of flows needs."""
    ends = [(end.flows, end.buffer.packets) for end in answer.ends if end.buffer is not None]
    text = " and ".join(f"{count(b, 'packet')} with {count(n, 'flow')}" for n, b in ends)
    return [f"Over the range of flows the least is {text}."] if len(ends) > 1 else []


def _share_of_bdp(answer: SizeResult) -> list[str]:
    chosen = answer.recommended or answer.buffer
    if not answer.bdp_packets or chosen is None or answer.aqm is not None:
        return []
    share = plain(chosen.packets / answer.bdp_packets)
    return [f"{share} bandwidth-delay products of {plain(answer.bdp_packets, 4)} packets."]


def _scaled(answer: SizeResult) -> list[str]:
    """Return which links were simulated in place of this one, and the uncertainty."""
    scaled = answer.scaled
    if scaled is None:
        return []
    names = {1.0: "each flow keeps its window", 0.0: "all flows are kept, with smaller windows"}
    how = names.get(scaled.flows_share, "fewer flows, with smaller windows")
    said = [f"Smaller links were simulated ({how}): {'; '.join(map(_link, scaled.links))}."]
    if scaled.error is not None:
        low, high = (100 * (end or 0.0) for end in (scaled.error.low, scaled.error.high))
        said.append(
            f"A small buffer grows as the rate to the power {plain(scaled.exponent.value, 2)}; "
            f"the least is uncertain by {low:+.0f} % to {high:+.0f} %."
        )
    return said


def _link(link: ScaledLink) -> str:
    flows = f" with {count(link.flows, 'flow')}" if link.flows else ""
    needs = "" if link.packets is None else f" needs {plain(link.packets.value)}"
    return f"{with_prefix(link.rate_bps, 'bit/s')}{flows}{needs}"


def _governs(answer: SizeResult) -> list[str]:
    """Return the governing law, its reason, and what would change it."""
    governs = answer.governs
    if governs is None or answer.aqm is not None:
        return []
    law = f" ({governs.law})" if governs.law else ""
    return [
        f"Regime: {governs.regime}{law}. {governs.why}",
        f"What would change it: {governs.would_change}",
    ]


def evidence_tables(answer: SizeResult) -> Iterator[tuple[str, Table]]:
    """Yield each table of the evidence with its title."""
    if answer.goals:
        at = "" if answer.buffer else f" with {sized(answer, answer.nearest or 1)}, the nearest"
        yield f"Goals{at}", _goals(answer)
    if answer.there is not None and tells_of_classes(answer.there.outcome.classes):
        title = f"What each class gets with {sized(answer, answer.there.packets)}"
        yield title, class_table(answer.there.outcome.classes)
    if any(relaxation.relaxed is not None for relaxation in answer.relaxations):
        yield "How far one goal must be relaxed, the others unchanged", _relaxations(answer)
    if answer.links:
        first = answer.links[0]
        needs = "no size tried is enough" if first.packets is None else f"{first.packets} packets"
        yield f"What each link needs: {first.link} forces the size ({needs})", _links(answer)
    if answer.cheaper:
        yield "What a smaller buffer costs", _cheaper(answer)
    if answer.laws:
        of = "" if answer.aqm is None else " of a drop-tail queue"
        yield f"What published laws need{of}", _laws(answer.laws)
    if answer.curve:
        on = "" if answer.scaled is None else ", on a smaller link, in terms of this one"
        yield f"Sizes that were run ({answer.engine}{on})", _curve(answer)


def _relaxations(answer: SizeResult) -> Table:
    grid = table("goal", "target", "relaxed to", "packets")
    for goal in answer.relaxations:
        wanted, met = f"{goal.sense} {target(goal, goal.target)}", goal.relaxed
        can = NOT_MEASURED if met is None else f"{goal.sense} {target(goal, met)}"
        packets = NOT_MEASURED if goal.packets is None else str(goal.packets)
        grid.add_row(goal.title, wanted, can, packets)
    return grid


def _goals(answer: SizeResult) -> Table:
    grid = table("goal", "target", "reached", "95 % interval", "")
    for goal in answer.goals:
        factor, unit = scale(goal.unit)
        value = goal.reached.value * factor
        digits = f"{value:.{_decimals(value)}f}" if value >= 10 else plain(value)
        grid.add_row(
            goal.title,
            f"{goal.sense} {target(goal, goal.target)}",
            f"{'≥ ' * goal.reached.is_open}{digits} {unit}",
            show_interval(goal.reached, factor, _decimals(value)),
            goal.verdict + (", binds" if goal.binding else ""),
            style=None if goal.verdict == "met" else "red",
        )
    return grid


def _decimals(value: float) -> int:
    """Decimals of an interval's ends: as many as its value has."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 10 else 3


def _laws(laws: tuple[LawResult, ...]) -> Table:
    grid = table("law", "packets", "assumptions")
    grid.columns[2].justify, grid.columns[2].no_wrap = "left", False
    for law in laws:
        grid.add_row(
            law.law,
            _law_packets(law),
            "hold" if law.assumptions_hold else "broken: " + "; ".join(law.broken_assumptions),
            style=None if law.assumptions_hold else "dim",
        )
    return grid


def _law_packets(law: LawResult) -> str:
    """Return whole packets, rounded up: fewer than a law's result do not meet it."""
    if law.packets is None:
        return NOT_MEASURED
    low, high = map(whole_packets, law.packets_between or (law.packets, law.packets))
    return f"{low}" if low == high else f"{low} … {high}"


def _curve(answer: SizeResult) -> Table:
    own = ("\n".join([*wrap(goal.title, 20), scale(goal.unit)[1]]) for goal in own_columns(answer))
    shared = ("utilization\n%", "loss\n%", "wait\nms", "p99\nms")
    seeds = ["seeds"] * _is_sampled(answer)
    first = ["packets"]
    if answer.aqm is not None:
        first.append("min\nkB" if answer.aqm.parameter == "min" else "target\nms")
    grid = table(*first, *shared, *own, *seeds, "goals", left=0)
    grid.columns[-1].justify = "left"
    for point in _rows(answer):
        here = point.packets == answer.chosen
        grid.add_row(*_cells(point, here, answer), style="bold" if here else None)
    return grid


def _is_sampled(answer: SizeResult) -> bool:
    """Whether seeds have an effect: a law gives the same result for each."""
    return answer.engine not in WITHOUT_SEEDS


def _aimed(point: CurvePoint, answer: SizeResult) -> list[str]:
    """Return the target of an AQM at a point, in its own unit."""
    aqm = answer.aqm
    if aqm is None:
        return []
    if aqm.parameter == "min":
        return [plain(max(point.packets, 2) * aqm.packet_bytes / 1e3)]
    return [plain(1e3 * aqm.packet_s * point.packets)]


def own_columns(answer: SizeResult) -> list[GoalResult]:
    """Return the goals whose metric has no standard column."""
    known = ("utilization", "loss_rate", "queue_delay_mean", "queue_delay_p99")
    return [goal for goal in answer.goals if goal.name not in known]


def _cells(point: CurvePoint, here: bool, answer: SizeResult) -> tuple[str, ...]:
    link = shown_links(point.outcome)[BOTTLENECK]
    return (
        f"> {point.packets}" if here else str(point.packets),
        *_aimed(point, answer),
        show(link.utilization, 100),
        show_significant(link.loss_rate, 100),
        show_significant(mean(link.queue_delay_s), 1e3),
        short(p99(link.queue_delay_s), 1e3),
        *(
            show_significant(point.reached(goal.name), scale(goal.unit)[0])
            for goal in own_columns(answer)
        ),
        *([str(point.seeds)] * _is_sampled(answer)),
        _verdict(point, answer),
    )


def _verdict(point: CurvePoint, answer: SizeResult) -> str:
    """Return the goals that this buffer misses, and those that are undecided."""
    if point.verdict == "met" or not point.goals:
        return point.verdict
    missed = [goal.name for goal in point.goals if goal.verdict == "missed"]
    names = missed or point.unmet
    return f"{point.verdict}: {', '.join(map(partial(_title, answer), names))}"


def _links(answer: SizeResult) -> Table:
    """Return the sizes of the links of a class, the largest first."""
    grid = table("link", "packets", "at least", "because of", left=1)
    for link in answer.links[:_MOST_ROWS]:
        size = "–" if link.packets is None else str(link.packets)
        grid.add_row(link.link, size, str(link.low), ", ".join(link.binding))
    if len(answer.links) > _MOST_ROWS:
        grid.add_row(f"and {len(answer.links) - _MOST_ROWS} more", "", "", "")
    return grid


def _cheaper(answer: SizeResult) -> Table:
    """Return what shares of the size do to the link."""
    grid = table("of the size", "packets", "utilization, %", "loss, %", "wait, ms", "p99, ms")
    for size in answer.cheaper:
        share = "1" if size.share == 1.0 else f"1/{1 / size.share:.0f}"
        grid.add_row(
            share, str(size.packets), show(size.utilization, 100),
            show_significant(size.loss_rate, 100), show_significant(size.queue_delay_mean_s, 1e3),
            show_significant(size.queue_delay_p99_s, 1e3),
        )  # fmt: skip
    return grid


def _rows(answer: SizeResult) -> list[CurvePoint]:
    """Limit the table to a screen: the ends, and what is near the least or the recommended size."""
    curve, ends = answer.curve, (answer.buffer and answer.buffer.packets, answer.chosen)
    sizes = [math.log(packets) for packets in ends if packets]
    if len(curve) <= _MOST_ROWS or not sizes:
        return list(curve)
    near = sorted(curve[1:-1], key=lambda p: min(abs(math.log(p.packets) - log) for log in sizes))
    return sorted([curve[0], *near[: _MOST_ROWS - 2], curve[-1]], key=lambda p: p.packets)
