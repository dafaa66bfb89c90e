"""Several engines' Outcomes of one scenario, one column each (paper A, Figure 15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forebay.outcome import ClassOutcome, LinkOutcome, Outcome
from forebay.report.outcome import print_broken, print_first
from forebay.report.tables import (
    bounded,
    called,
    console,
    count,
    mean,
    p99,
    show,
    show_significant,
    show_table,
    table,
)

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
    made = table("", *names)
    for name, link in first.links.items():
        made.add_row(f"link {name}, {count(link.buffer_packets, 'packet')}", style="bold")
        for label, show_link in _LINK_ROWS:
            made.add_row(f"  {label}", *(show_link(_link(each, name)) for each in outcomes))
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


def _link(outcome: Outcome, name: str) -> LinkOutcome:
    link = outcome.links[name]
    used = bounded(link.utilization, outcome, "utilization")
    return link.model_copy(update={"utilization": used})
