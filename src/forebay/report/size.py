"""The report of a sizing: the answer, then its reason, then the evidence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forebay.outcome import CurvePoint, GoalResult, LawResult, SizeResult
from forebay.report.goal_words import (
    goal_name,
    metric_words,
    scale,
    sentence_case,
    sized,
    target,
)
from forebay.report.headline import (
    at_once,
    colour,
    cost_lines,
    flows_lines,
    governs_lines,
    helpless_line,
    least_lines,
    memory,
    recommended_lines,
    relaxations_table,
    sentence,
    share_of_bdp,
    single_packets,
    sized_line,
    why,
)
from forebay.report.intervals import (
    region_lines,
)
from forebay.report.loss_warnings import (
    warning_lines,
)
from forebay.report.tables import (
    NOT_MEASURED,
    assumed_lines,
    bounded,
    class_table,
    console,
    is_open,
    mean,
    p99,
    plain,
    show,
    show_interval,
    show_significant,
    show_table,
    table,
    tells_of_classes,
    whole_packets,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_MOST_ROWS = 14
_RELAXED = "How far one goal must be relaxed, the others unchanged"


def print_size(answer: SizeResult) -> None:
    """Print a sizing as text."""
    out = console()
    out.print(answer.scenario, style="bold")
    out.print()
    out.print(sentence(answer), style=colour(answer))
    for line in (*recommended_lines(answer), *least_lines(answer)):
        out.print(line)
    for line in warning_lines(answer):
        out.print(line, style="bold yellow")
    if answer.rates:
        from forebay.report.link_rates import drain_lines, rate_lines

        for line in (*rate_lines(answer.rates), *drain_lines(answer)):
            out.print(line)
    for line in (*assumed_lines(answer.assumptions), *reason_lines(answer)):
        out.print(line)
    for title, body in evidence_tables(answer):
        _section(out, title, body)
        if title == _RELAXED:
            for line in helpless_line(answer):
                out.print(line)


def reason_lines(answer: SizeResult) -> list[str]:
    """Return why the size is what it is, and what is known of its cost and its law."""
    lines = [*sized_line(answer), *why(answer), *at_once(answer), *single_packets(answer)]
    lines += region_lines(answer)
    lines += [*flows_lines(answer), *share_of_bdp(answer), *memory(answer)]
    if answer.scaled is not None:
        from forebay.report.scaling import scaled_lines

        lines += scaled_lines(answer)
    lines += cost_lines(answer)
    governs = governs_lines(answer) if answer.aqm is None else []
    return [*lines, *map(sentence_case, answer.notes), *governs]


def evidence_tables(answer: SizeResult) -> Iterator[tuple[str, Table]]:
    """Yield each table of the evidence with its title."""
    if answer.goals:
        at = "" if answer.buffer else f" with {sized(answer, answer.nearest or 1)}, the nearest"
        yield f"Goals{at}", _goals(answer)
    if answer.there is not None and tells_of_classes(answer.there.outcome.classes):
        title = f"What each class gets with {sized(answer, answer.there.packets)}"
        yield title, class_table(answer.there.outcome.classes)
    if answer.relaxations:
        yield _RELAXED, relaxations_table(answer)
    if answer.links:
        yield links_title(answer), links_table(answer)
    if answer.cheaper:
        yield "What a smaller buffer costs", cheaper_table(answer)
    if answer.laws:
        of = "" if answer.aqm is None else " of a drop-tail queue"
        yield f"What published laws need{of}", _laws(answer.laws)
    if answer.curve:
        on = "" if answer.scaled is None else ", on a smaller link, in terms of this one"
        yield f"Buffers tried ({answer.engine}{on})", _curve(answer)


def _section(out: Console, title: str, body: Table) -> None:
    out.print()
    out.print(title, style="bold")
    show_table(out, body)


def _goals(answer: SizeResult) -> Table:
    made = table("goal", "target", "reached", "95 % interval", "")
    for goal in answer.goals:
        factor, unit = scale(goal.unit)
        made.add_row(
            metric_words(answer, goal.name),
            f"{goal.sense} {target(goal, goal.target)}",
            f"{'≥ ' * is_open(goal.reached)}{_digits(goal.reached.value * factor)} {unit}",
            show_interval(goal.reached, factor, _decimals(goal.reached.value * factor)),
            goal.verdict + (", binds" if goal.binding else ""),
            style=None if goal.verdict == "met" else "red",
        )
    return made


def _digits(value: float) -> str:
    return f"{value:.{_decimals(value)}f}" if value >= 10 else plain(value)


def _decimals(value: float) -> int:
    """Decimals of an interval's ends: as many as its value has."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 10 else 3


def _laws(laws: tuple[LawResult, ...]) -> Table:
    made = table("law", "packets", "assumptions")
    made.columns[2].justify, made.columns[2].no_wrap = "left", False
    for law in laws:
        made.add_row(
            law.law,
            _law_packets(law),
            "hold" if law.assumptions_hold else "broken: " + "; ".join(law.broken_assumptions),
            style=None if law.assumptions_hold else "dim",
        )
    return made


def _law_packets(law: LawResult) -> str:
    """Return whole packets, rounded up: fewer than a law's result do not meet it."""
    if law.packets is None:
        return NOT_MEASURED
    low, high = map(whole_packets, law.packets_between or (law.packets, law.packets))
    return f"{low}" if low == high else f"{low} … {high}"


def _curve(answer: SizeResult) -> Table:
    own = (f"{goal_name(answer, goal.name)}\n{scale(goal.unit)[1]}" for goal in own_columns(answer))
    shared = ("utilization\n%", "loss\n%", "delay\nms", "p99\nms")
    seeds = ["seeds"] * _is_sampled(answer)
    made = table(*_first_columns(answer), *shared, *own, *seeds, "goals", left=0)
    made.columns[-1].justify = "left"
    for point in _rows(answer.curve, answer.chosen):
        here = point.packets == answer.chosen
        made.add_row(*_cells(point, here, answer), style="bold" if here else None)
    return made


def _is_sampled(answer: SizeResult) -> bool:
    """Whether seeds have an effect: a law gives the same result for each."""
    return answer.engine != "theory"


def _first_columns(answer: SizeResult) -> list[str]:
    if answer.aqm is None:
        return ["packets"]
    return ["packets", "min\nkB" if answer.aqm.parameter == "min" else "target\nms"]


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
    link, high = point.link, p99(point.link.queue_delay_s)
    return (
        f"> {point.packets}" if here else str(point.packets),
        *_aimed(point, answer),
        show(bounded(link.utilization, point.outcome, "utilization"), 100),
        show_significant(link.loss_rate, 100),
        show_significant(mean(link.queue_delay_s), 1e3),
        NOT_MEASURED if high is None else plain(high.value * 1e3),
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
    return f"{point.verdict}: {', '.join(map(partial(goal_name, answer), names))}"


def links_title(answer: SizeResult) -> str:
    """Return which link forces the size of the class."""
    first = answer.links[0]
    needs = "no size tried is enough" if first.packets is None else f"{first.packets} packets"
    return f"What each link needs: {first.link} forces the size ({needs})"


def links_table(answer: SizeResult) -> Table:
    """Return the sizes of the links of a class, the largest first."""
    made = table("link", "packets", "at least", "because of", left=1)
    for each in answer.links[:_MOST_ROWS]:
        size = "–" if each.packets is None else str(each.packets)
        made.add_row(each.link, size, str(each.low), ", ".join(each.binding))
    if len(answer.links) > _MOST_ROWS:
        made.add_row(f"and {len(answer.links) - _MOST_ROWS} more", "", "", "")
    return made


def cheaper_table(answer: SizeResult) -> Table:
    """Return what shares of the size do to the link."""
    made = table("of the size", "packets", "utilization, %", "loss, %", "wait, ms", "p99, ms")
    for each in answer.cheaper:
        share = "1" if each.share == 1.0 else f"1/{1 / each.share:.0f}"
        made.add_row(
            share, str(each.packets), show(each.utilization, 100),
            show_significant(each.loss_rate, 100), show_significant(each.queue_delay_mean_s, 1e3),
            show_significant(each.queue_delay_p99_s, 1e3),
        )  # fmt: skip
    return made


def _rows(curve: tuple[CurvePoint, ...], chosen: int | None) -> list[CurvePoint]:
    """Limit the table to a screen: the points nearest to the answer (in ratio) and the ends."""
    if len(curve) <= _MOST_ROWS or chosen is None:
        return list(curve)
    near = sorted(curve[1:-1], key=lambda p: max(p.packets / chosen, chosen / p.packets))
    return sorted([curve[0], *near[: _MOST_ROWS - 2], curve[-1]], key=lambda p: p.packets)
