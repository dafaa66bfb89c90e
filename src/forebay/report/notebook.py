"""Answers in a notebook: a small table and a figure. `forebay.outcome` imports this by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from forebay.outcome import Comparison, Outcome, SizeResult
from forebay.outcome.class_queues import ClassQueueSizes
from forebay.outcome.trace import Trace
from forebay.outcome.transient import Transient
from forebay.outcome.uncertain import Sensitivity, UncertainSize
from forebay.report.size import brief
from forebay.report.tables import (
    assumed_lines,
    count,
    duration,
    mean,
    metric_words,
    p99,
    plain,
    scale,
    show,
    show_interval,
    show_significant,
    shown_links,
    target,
    with_prefix,
)
from forebay.report.trace import sentences
from forebay.report.uncertain import text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from forebay.outcome import Document

_MOST_LINKS = 12
Row = Sequence[str]


def html(answer: Document) -> str:
    """Return an answer as a heading, a line, and one small table."""
    if isinstance(answer, SizeResult):
        return _size(answer)
    if isinstance(answer, ClassQueueSizes):
        head = ("class queue", "packets", "bytes")
        rows = ((each.name, f"{each.packets}", f"{each.bytes}") for each in answer.class_queues)
        return _page(str(answer.outcome.scenario["name"]), (), head, rows)
    if isinstance(answer, Trace):
        return _trace(answer)
    if isinstance(answer, Transient):
        return _transient(answer)
    if isinstance(answer, Outcome):
        return _outcome(answer)
    if isinstance(answer, Comparison):
        return "".join(_outcome(each) for each in answer.outcomes)
    if isinstance(answer, Sensitivity | UncertainSize):
        return f"<pre>{escape(text(answer))}</pre>"
    raise TypeError(f"{type(answer).__name__} is no answer that can be shown")


def figure(answer: Document) -> Figure:
    """Return an answer as a picture."""
    from forebay.report import figures

    if isinstance(answer, SizeResult):
        return figures.size_figure(answer)
    if isinstance(answer, Trace):
        return figures.trace_figure(answer)
    if isinstance(answer, Transient):
        return figures.transient_figure(answer)
    if isinstance(answer, Outcome):
        return figures.outcome_figure(answer)
    if isinstance(answer, Sensitivity):
        return figures.sensitivity_figure(answer)
    if isinstance(answer, UncertainSize):
        return figures.uncertain_figure(answer)
    raise TypeError(f"{type(answer).__name__} is no answer that can be drawn")


def _size(result: SizeResult) -> str:
    rows = [
        (
            metric_words(result, goal.name),
            f"{goal.sense} {target(goal, goal.target)}",
            show_significant(goal.reached, scale(goal.unit)[0]),
            show_interval(goal.reached, scale(goal.unit)[0], 3),
            f"{goal.verdict}{', binds' if goal.binding else ''}",
        )
        for goal in result.goals
    ]
    lines = brief(result)[1:]
    return _page(result.scenario, lines, ("goal", "target", "reached", "95 %", ""), rows)


def _outcome(outcome: Outcome) -> str:
    rows = [
        (
            name,
            count(link.buffer_packets, "packet"),
            f"{show(link.utilization, 100)} %",
            f"{show_significant(link.loss_rate, 100)} %",
            show_significant(mean(link.queue_delay_s), 1e3),
            show_significant(p99(link.queue_delay_s), 1e3),
        )
        for name, link in list(shown_links(outcome).items())[:_MOST_LINKS]
    ]
    head = ("link", "buffer", "utilization", "loss", "wait, ms", "p99 of it, ms")
    lines = [f"by {outcome.engine}, {count(len(outcome.provenance.seeds), 'seed')}"]
    hidden = len(outcome.links) - len(rows)
    lines += [f"{hidden} more links are in .links"] if hidden else []
    lines += [f"{line}." for line in (*outcome.late_starts, *outcome.disturbed)]
    lines += assumed_lines(outcome.assumptions)
    lines += [each.unsettled for each in outcome.classes if each.unsettled is not None]
    lines += outcome.broken_assumptions
    return _page(str(outcome.scenario.get("name", "scenario")), lines, head, rows)


def _trace(trace: Trace) -> str:
    rows = [
        (
            name,
            count(link.buffer_packets, "packet"),
            f"{plain(100 * link.utilization)} %",
            plain(link.queue_mean_packets),
            str(int(link.drops.sum())),
        )
        for name, link in trace.links.items()
    ]
    head = ("link", "buffer", "busy", "queue, packets", "drops")
    rate = with_prefix(trace.bottleneck.capacity_bps, "bit/s")
    line = f"{rate}, seed {trace.seed}, {trace.samples} samples, one every {duration(trace.step_s)}"
    return _page(str(trace.scenario.get("name", "scenario")), [line], head, rows)


def _transient(course: Transient) -> str:
    rows = [
        (
            name,
            str(link.links),
            f"{plain(100 * link.utilization[-1])} %",
            f"{plain(100 * link.loss_rate[-1])} %",
            plain(link.queue_packets[-1]),
        )
        for name, link in course.links.items()
    ]
    head = ("links", "number", "utilization at the end", "loss", "queue, packets")
    return _page(str(course.scenario.get("name", "network")), sentences(course), head, rows)


def _page(title: str, lines: Iterable[str], head: Row, rows: Iterable[Row]) -> str:
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    columns = "".join(f"<th>{escape(each)}</th>" for each in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    table = f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><b>{escape(title)}</b>{text}{table if body else ''}</div>"
