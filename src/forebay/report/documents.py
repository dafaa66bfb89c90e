"""Read documents of `--json`, and print and draw the answers in them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from forebay.outcome import (
    ClassOutcome,
    Comparison,
    Document,
    DocumentError,
    LinkOutcome,
    Outcome,
    SizeResult,
    parse,
)
from forebay.outcome.class_queues import ClassQueueSizes
from forebay.outcome.document import content_of, within_bounds
from forebay.outcome.trace import Trace
from forebay.outcome.transient import Transient
from forebay.outcome.uncertain import Sensitivity, UncertainSize
from forebay.report.network import print_network
from forebay.report.outcome import (
    print_broken,
    print_first,
    print_outcome,
    print_trace,
    print_transient,
    sentences,
)
from forebay.report.ports import print_class_queues
from forebay.report.size import brief, print_size
from forebay.report.study import text
from forebay.report.tables import (
    NOT_MEASURED,
    assumed_lines,
    called,
    console,
    count,
    duration,
    mean,
    p99,
    plain,
    scale,
    show,
    show_interval,
    show_significant,
    show_table,
    shown_links,
    table,
    target,
    with_prefix,
)
from forebay.words import Fact

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


Answer: TypeAlias = (
    ClassQueueSizes | Comparison | Outcome | Sensitivity | SizeResult | Trace | Transient
    | UncertainSize
)  # fmt: skip


def read_answer(text: str | bytes, source: str) -> Answer:
    """Return the answer in a document; ``source`` names the document in messages.

    Raises DocumentError: it is no document of ``run``, ``compare``, ``size``, ``trace`` or
    ``network``, or its schema is newer.
    """
    document = parse(text, source)
    for kind in _KINDS:
        if isinstance(document, dict) and kind.told_by in document:
            return _whole(kind.type.from_dict(document, source), source)
    raise DocumentError("unreadable-document.of-no-answer", file=source)


def _whole(answer: Answer, source: str) -> Answer:
    """Return an answer of which all that follows from its values can be computed.

    Each value alone was checked when it was read; lists of different lengths only show here.
    """
    try:
        with warnings.catch_warnings(action="error"):
            answer.to_json().encode()
    except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeWarning) as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())[:250]
        raise DocumentError("unreadable-document.inconsistent", file=source, why=why) from None
    return answer


def read_file(path: str) -> Answer:
    """Return the answer in a file, or with "-" on standard input. Raises DocumentError."""
    source = "standard input" if path == "-" else path
    raw = within_bounds(sys.stdin.buffer, source) if path == "-" else content_of(path)
    return read_answer(raw, source)


def print_answer(answer: Answer) -> None:
    """Print an answer as text, like the command that made it."""
    _kind(answer).print(answer)


def draw_answer(answer: Answer, path: Path) -> None:
    """Draw an answer to a .svg, .png or .pdf file.

    Raises DocumentError: it is a comparison, or of class queues, and has no picture.
    """
    if not _kind(answer).figure:
        raise DocumentError("unreadable-document.several", file="figure")
    from forebay.report import figures

    figures.save(answer.figure(), path)


def html(answer: Document) -> str:
    """Return an answer as a heading, a line, and one small table.

    `forebay.outcome` imports this, and `figure`, by name.
    """
    return _kind(answer).html(answer)


def figure(answer: Document) -> Figure:
    """Return an answer as a picture."""
    name = _kind(answer).figure
    if not name:
        raise TypeError(f"{type(answer).__name__} is no answer that can be drawn")
    from forebay.report import figures

    drawing: Figure = getattr(figures, name)(answer)
    return drawing


_LINK_ROWS: tuple[tuple[str, Callable[[LinkOutcome], str]], ...] = (
    ("buffer, packets", lambda link: str(link.buffer_packets)),
    ("utilization, %", lambda link: show(link.utilization, 100)),
    ("loss, %", lambda link: show_significant(link.loss_rate, 100)),
    ("queue mean, packets", lambda link: show(mean(link.queue_packets))),
    ("wait mean, ms", lambda link: show(mean(link.queue_delay_s), 1e3)),
    ("wait p99, ms", lambda link: show(p99(link.queue_delay_s), 1e3)),
)
_CLASS_ROWS: tuple[tuple[str, Callable[[ClassOutcome], str]], ...] = (
    ("flows", lambda c: str(c.flows)),
    ("goodput, Mbit/s", lambda c: show(c.goodput_bps, 1e-6)),
    ("Jain's fairness", lambda c: show(c.jain, 1, 3)),
    ("RTT mean, ms", lambda c: show(mean(c.rtt_s), 1e3)),
)


def print_comparison(outcomes: Sequence[Outcome], titles: Sequence[str] = ()) -> None:
    """Print Outcomes next to each other; – means "not measured".

    ``titles`` are those of the columns; without them the engines' names.
    """
    out = console()
    if not outcomes:
        out.print(str(Fact("answers.none")))
        return
    first = outcomes[0]
    out.print(f"{first.scenario.get('name', 'scenario')}", style="bold")
    names = titles or [outcome.engine for outcome in outcomes]
    print_first(out, outcomes, names)
    grid = table("", *names)
    links = [{f"link {n}": of for n, of in shown_links(outcome).items()} for outcome in outcomes]
    _add_parts(grid, links, _LINK_ROWS)
    _add_parts(grid, [{called(of): of for of in outcome.classes} for outcome in outcomes],
               _CLASS_ROWS)  # fmt: skip
    show_table(out, grid)
    for title, outcome in zip(names, outcomes, strict=True):
        for kind in outcome.classes:
            if kind.unsettled is not None:
                line = f"{title}, {called(kind)}: {kind.unsettled}"
                out.print(line, style="yellow", highlight=False)
    print_broken(out, outcomes, names)


def _add_parts(
    grid: Table, parts: Sequence[dict[str, Any]], rows: Sequence[tuple[str, Callable[[Any], str]]]
) -> None:
    """Add the rows of each link or class that any column has."""
    for name in dict.fromkeys(name for part in parts for name in part):
        grid.add_row(name, style="bold")
        for label, show_part in rows:
            cells = (show_part(part[name]) if name in part else NOT_MEASURED for part in parts)
            grid.add_row(f"  {label}", *cells)


_MOST_LINKS = 12
Row = Sequence[str]


def _size(result: SizeResult) -> str:
    rows = [
        (
            goal.title,
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
    lines += [str(Fact("answers.more-links", links=hidden))] if hidden else []
    lines += [f"{line}." for line in (*outcome.late_starts, *outcome.disturbed)]
    lines += assumed_lines(outcome.assumptions)
    lines += [kind.unsettled for kind in outcome.classes if kind.unsettled is not None]
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
    rate, step = with_prefix(trace.bottleneck.capacity_bps, "bit/s"), duration(trace.step_s)
    line = str(Fact("answers.trace", trace=trace, rate=rate, step=step))
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


def _class_queues(sizes: ClassQueueSizes) -> str:
    head = ("class queue", "packets", "bytes")
    rows = [(queue.name, f"{queue.packets}", f"{queue.bytes}") for queue in sizes.class_queues]
    return _page(str(sizes.outcome.scenario["name"]), (), head, rows)


def _of_inputs(answer: Sensitivity | UncertainSize) -> str:
    return f"<pre>{escape(text(answer))}</pre>"


def _page(title: str, lines: Iterable[str], head: Row, rows: Sequence[Row]) -> str:
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f"<div><b>{escape(title)}</b>{text}{html_table(head, rows) if rows else ''}</div>"


def html_table(head: Row, rows: Iterable[Row]) -> str:
    """Return a table for a notebook."""
    columns = "".join(f"<th>{escape(title)}</th>" for title in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of answers: the field that only its documents have, and what shows it."""

    told_by: str
    type: type[Answer]
    print: Callable[[Any], None]
    html: Callable[[Any], str]
    figure: str = ""


_KINDS = (
    _Kind("outcomes", Comparison, lambda answer: print_comparison(answer.outcomes, answer.titles),
          lambda answer: "".join(map(_outcome, answer.outcomes))),
    _Kind("class_queues", ClassQueueSizes, print_class_queues, _class_queues),
    _Kind("held", UncertainSize, lambda answer: print(text(answer)), _of_inputs,
          "uncertain_figure"),
    _Kind("influences", Sensitivity, lambda answer: print(text(answer)), _of_inputs,
          "sensitivity_figure"),
    _Kind("buffer", SizeResult, print_size, _size, "size_figure"),
    _Kind("samples", Trace, print_trace, _trace, "trace_figure"),
    _Kind("instants", Transient, print_transient, _transient, "transient_figure"),
    _Kind("links", Outcome,
          lambda answer: (print_network if answer.network is not None else print_outcome)(answer),
          _outcome, "outcome_figure"),
)  # fmt: skip


def _kind(answer: Document) -> _Kind:
    for kind in _KINDS:
        if isinstance(answer, kind.type):
            return kind
    raise TypeError(f"{type(answer).__name__} is no answer that can be shown")
