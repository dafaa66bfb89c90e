"""The report of one Outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.outcome import ClassOutcome, LinkOutcome, Outcome, Quantiles
from forebay.report.tables import (
    called,
    completion,
    console,
    count,
    mean,
    p50,
    p95,
    p99,
    plain,
    show,
    show_significant,
    show_table,
    table,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_outcome(outcome: Outcome) -> None:
    """Print one engine's answer as text."""
    out = console()
    out.print(f"{outcome.scenario.get('name', 'scenario')}", style="bold")
    out.print(f"by {outcome.engine}, {_seeds(outcome)}, 95 % intervals")
    for name, link in outcome.links.items():
        out.print()
        out.print(_link_title(name, link), style="bold")
        show_table(out, _link(link))
    for each in outcome.classes:
        out.print()
        out.print(_class_title(each), style="bold")
        show_table(out, _class(each))
    print_broken(out, outcome)


def print_broken(out: Console, outcome: Outcome) -> None:
    """Print the assumptions of the engine that the scenario violates, if any."""
    if outcome.broken_assumptions:
        out.print()
        out.print(f"Assumptions of {outcome.engine} that this scenario breaks", style="bold")
        for each in outcome.broken_assumptions:
            out.print(f"  {each}", style="yellow")


def _seeds(outcome: Outcome) -> str:
    seeds = outcome.provenance.seeds
    return f"{len(seeds)} seeds" if len(seeds) != 1 else f"seed {seeds[0]}"


def _link_title(name: str, link: LinkOutcome) -> str:
    buffer = count(link.buffer_packets, "packet")
    return f"Link {name}: buffer {buffer}, BDP {plain(link.bdp_packets)}"


def _class_title(each: ClassOutcome) -> str:
    return f"{called(each)}: {count(each.flows, 'flow')}"


def _link(link: LinkOutcome) -> Table:
    made = table("", "value", "p50", "p95", "p99")
    made.add_row("utilization, %", show(link.utilization, 100))
    made.add_row("loss, %", show_significant(link.loss_rate, 100))
    if link.marks is not None and link.marks.value > 0:
        made.add_row("marks", show_significant(link.marks))
    _spread(made, "queue, packets", link.queue_packets, 1)
    _spread(made, "queueing delay, ms", link.queue_delay_s, 1e3)
    return made


def _class(each: ClassOutcome) -> Table:
    made = table("", "value", "p50", "p95", "p99")
    made.add_row("throughput, Mbit/s", show(each.throughput_bps, 1e-6))
    made.add_row("goodput, Mbit/s", show(each.goodput_bps, 1e-6))
    made.add_row("Jain's fairness", show(each.jain, 1, 3))
    made.add_row("loss, %", show_significant(each.loss_rate, 100))
    made.add_row("timeouts", show_significant(each.timeouts))
    if each.retransmissions is not None:
        made.add_row("segments sent again", show_significant(each.retransmissions))
    _spread(made, "round-trip time, ms", each.rtt_s, 1e3)
    if each.queue_delay_s is not None:
        _spread(made, "queueing delay, ms", each.queue_delay_s, 1e3)
    if each.fct_s is not None or each.fct_least_s is not None:
        parts = (mean, p50, p95, p99)
        made.add_row("completion time, ms", *(completion(each, part) for part in parts))
    if each.unfinished is not None:
        made.add_row("unfinished in the window, %", show_significant(each.unfinished, 100))
    for name, part in (each.controllers or {}).items():
        goodput, lost = show(part.goodput_bps, 1e-6), show_significant(part.loss_rate, 100)
        made.add_row(f"{name}, {count(part.flows, 'flow')}: goodput, Mbit/s", goodput)
        made.add_row(f"{name}: loss, %", lost)
    return made


def _spread(made: Table, name: str, quantiles: Quantiles | None, factor: float) -> None:
    if quantiles is None:
        made.add_row(name, show(None))
        return
    rest = (quantiles.p50, quantiles.p95, quantiles.p99)
    made.add_row(
        name,
        show(quantiles.mean, factor),
        *("–" if each is None else plain(each.value * factor) for each in rest),
    )
