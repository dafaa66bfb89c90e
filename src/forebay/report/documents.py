"""Read documents of `--json`, and print and draw the answers in them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from forebay.errors import either
from forebay.outcome import (
    ClassOutcome,
    Comparison,
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
from forebay.report.outcome import print_broken, print_first, print_outcome
from forebay.report.ports import print_class_queues
from forebay.report.size import print_size
from forebay.report.tables import (
    called,
    console,
    count,
    mean,
    p99,
    show,
    show_significant,
    show_table,
    shown_links,
    table,
)
from forebay.report.trace import print_trace, print_transient
from forebay.report.uncertain import text

Answer: TypeAlias = (
    ClassQueueSizes | Comparison | Outcome | Sensitivity | SizeResult | Trace | Transient
    | UncertainSize
)  # fmt: skip

_TOLD_BY: tuple[tuple[str, type[Answer]], ...] = (
    ("outcomes", Comparison),
    ("class_queues", ClassQueueSizes),
    ("held", UncertainSize),
    ("influences", Sensitivity),
    ("buffer", SizeResult),
    ("samples", Trace),
    ("instants", Transient),
    ("links", Outcome),
)
"""A field that only this kind of document has."""


def read_answer(text: str | bytes, source: str) -> Answer:
    """Return the answer in a document; ``source`` names the document in messages.

    Raises
    ------
    DocumentError
        It is no document of ``run``, ``compare``, ``size``, ``trace`` or ``network``, or its schema
        is newer.
    """
    document = parse(text, source)
    for field, kind in _TOLD_BY:
        if isinstance(document, dict) and field in document:
            return _whole(kind.from_dict(document, source), source)
    wrong = "is no document of run, compare, size, trace or network"
    raise DocumentError(source, wrong, f"make one with {either('to_json()', '--json')}")


def _whole(answer: Answer, source: str) -> Answer:
    """Return an answer of which all that follows from its values can be computed.

    Each value alone was checked when it was read; lists of different lengths only show here.
    """
    try:
        with warnings.catch_warnings(action="error"):
            answer.to_json()
    except (ValueError, TypeError, LookupError, ArithmeticError, RuntimeWarning) as error:
        hint = "make the document anew"
        wrong = f"its values do not fit together ({type(error).__name__}: {error})"
        raise DocumentError(source, " ".join(wrong.split())[:300], hint) from None
    return answer


def read_file(path: str) -> Answer:
    """Return the answer in a file, or with "-" on standard input. Raises DocumentError."""
    source = "standard input" if path == "-" else path
    raw = within_bounds(sys.stdin.buffer, source) if path == "-" else content_of(path)
    return read_answer(raw, source)


def print_answer(answer: Answer) -> None:
    """Print an answer as text, like the command that made it."""
    if isinstance(answer, Comparison):
        print_comparison(answer.outcomes)
    elif isinstance(answer, ClassQueueSizes):
        print_class_queues(answer)
    elif isinstance(answer, SizeResult):
        print_size(answer)
    elif isinstance(answer, Trace):
        print_trace(answer)
    elif isinstance(answer, Sensitivity | UncertainSize):
        print(text(answer))
    elif isinstance(answer, Transient):
        print_transient(answer)
    elif answer.network is not None:
        print_network(answer)
    else:
        print_outcome(answer)


def draw_answer(answer: Answer, path: Path) -> None:
    """Draw an answer to a .svg, .png or .pdf file.

    Raises
    ------
    DocumentError
        It is a comparison, or of class queues, and has no picture.
    """
    if isinstance(answer, Comparison | ClassQueueSizes):
        hint = "draw each of its outcomes, which run gives one by one"
        raise DocumentError("figure", "what has several answers has no picture", hint)
    from forebay.report import figures

    figures.save(answer.figure(), path)


_LINK_ROWS: tuple[tuple[str, Callable[[LinkOutcome], str]], ...] = (
    ("utilization, %", lambda link: show(link.utilization, 100)),
    ("loss, %", lambda link: show_significant(link.loss_rate, 100)),
    ("queue mean, packets", lambda link: show(mean(link.queue_packets))),
    ("delay mean, ms", lambda link: show(mean(link.queue_delay_s), 1e3)),
    ("delay p99, ms", lambda link: show(p99(link.queue_delay_s), 1e3)),
)
_CLASS_ROWS: tuple[tuple[str, Callable[[ClassOutcome], str]], ...] = (
    ("goodput, Mbit/s", lambda c: show(c.goodput_bps, 1e-6)),
    ("Jain's fairness", lambda c: show(c.jain, 1, 3)),
    ("RTT mean, ms", lambda c: show(mean(c.rtt_s), 1e3)),
)


def print_comparison(outcomes: Sequence[Outcome], titles: Sequence[str] = ()) -> None:
    """Print Outcomes of the same scenario next to each other; – means "not measured".

    ``titles`` are those of the columns; without them the engines' names.
    """
    out = console()
    if not outcomes:
        out.print("No engine that can run here has an answer.")
        return
    first = outcomes[0]
    out.print(f"{first.scenario.get('name', 'scenario')}", style="bold")
    print_first(out, outcomes)
    names = tuple(titles) or tuple(each.engine for each in outcomes)
    made, shown = table("", *names), [shown_links(each) for each in outcomes]
    for name, link in first.links.items():
        made.add_row(f"link {name}, {count(link.buffer_packets, 'packet')}", style="bold")
        for label, show_link in _LINK_ROWS:
            made.add_row(f"  {label}", *(show_link(links[name]) for links in shown))
    for place, kind in enumerate(first.classes):
        made.add_row(f"{called(kind)}: {count(kind.flows, 'flow')}", style="bold")
        for label, show_class in _CLASS_ROWS:
            cells = (
                show_class(o.classes[place]) if place < len(o.classes) else "–" for o in outcomes
            )
            made.add_row(f"  {label}", *cells)
    show_table(out, made)
    for title, each in zip(names, outcomes, strict=True):
        for kind in each.classes:
            if kind.unsettled is not None:
                line = f"{title}, {called(kind)}: {kind.unsettled}"
                out.print(line, style="yellow", highlight=False)
    for each in outcomes:
        print_broken(out, each)
