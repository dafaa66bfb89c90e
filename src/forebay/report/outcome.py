"""The report of one Outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.catalogue import of_level
from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles
from forebay.report.tables import (
    assumed_lines,
    called,
    completion_times,
    console,
    count,
    known_or_least,
    mean,
    p50,
    p95,
    p99,
    plain,
    rate_lines,
    show,
    show_significant,
    show_table,
    shown_links,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from forebay import catalogue
    from forebay.catalogue.metrics import Level


_MOST = 50
"""Links, and classes, that are shown: nobody reads more tables, and each takes some time."""


def print_outcome(outcome: Outcome) -> None:
    """Print one engine's answer as text."""
    out = console()
    out.print(f"{outcome.scenario.get('name', 'scenario')}", style="bold")
    out.print(f"by {outcome.engine}, {_seeds(outcome)}{_intervals(outcome)}")
    print_first(out, [outcome])
    for name, link in _shown_links(out, outcome).items():
        out.print()
        out.print(_link_title(name, link), style="bold")
        show_table(out, _link(link))
    if len(outcome.classes) > _MOST:
        out.print(f"\n{_MOST} of {len(outcome.classes)} classes; --json has each")
    for each in outcome.classes[:_MOST]:
        out.print()
        out.print(_class_title(each), style="bold")
        show_table(out, _class(each))
        if each.unsettled is not None:
            out.print(each.unsettled, style="yellow", highlight=False)
    print_broken(out, outcome)


def print_first(out: Console, outcomes: Sequence[Outcome]) -> None:
    """Print what the numbers of outcomes of one scenario rest on, each line once."""
    warned = (line for each in outcomes for line in (*each.late_starts, *each.disturbed))
    for line in dict.fromkeys(warned):
        out.print(f"{line}.", style="bold yellow", highlight=False)
    rates = next((each.rates for each in outcomes if each.rates), None)
    if rates:
        for line in rate_lines(rates):
            out.print(line)
    assumed = dict.fromkeys(line for each in outcomes for line in each.assumptions)
    for line in assumed_lines(tuple(assumed)):
        out.print(line)


def _shown_links(out: Console, outcome: Outcome) -> dict[str, LinkOutcome]:
    """Return all links, or of very many those that lose most, which is said."""
    links = shown_links(outcome)
    if len(links) <= _MOST:
        return links

    def loss(link: LinkOutcome) -> float:
        return 0.0 if link.loss_rate is None else link.loss_rate.value

    out.print(f"\nThe {_MOST} of {len(links)} links that lose most; --json has each")
    return dict(sorted(links.items(), key=lambda item: -loss(item[1]))[:_MOST])


def print_broken(out: Console, outcome: Outcome) -> None:
    """Print the assumptions of the engine that the scenario violates, if any."""
    if outcome.broken_assumptions:
        out.print()
        out.print(f"Assumptions of {outcome.engine} that this scenario breaks", style="bold")
        for each in outcome.broken_assumptions:
            out.print(f"  {each}", style="yellow")


def _intervals(outcome: Outcome) -> str:
    """Return what the intervals are of: one draw of the traffic, or the scenario."""
    if outcome.engine == "theory":
        return ""
    if outcome.engine in WITHOUT_SEEDS:
        return "; 95 % intervals by the model's errors on links that it had not seen"
    if len(outcome.provenance.seeds) > 1:
        return "; 95 % intervals of the scenario"
    return "; 95 % intervals of this draw alone, five seeds give the scenario's"


def _seeds(outcome: Outcome) -> str:
    seeds = outcome.provenance.seeds
    return f"{len(seeds)} seeds" if len(seeds) != 1 else f"seed {seeds[0]}"


def _link_title(name: str, link: LinkOutcome) -> str:
    buffer = count(link.buffer_packets, "packet")
    return f"Link {name}: buffer {buffer}, BDP {plain(link.bdp_packets)}"


def _class_title(each: ClassOutcome) -> str:
    flows, active = count(each.flows, "flow"), each.flows_active
    few = "" if active is None or active.value == each.flows else f", {_number(active)} sent"
    return f"{called(each)}: {flows}{few}"


def _number(mean: Metric) -> str:
    """Write a mean of counts: whole if it is, as that of one seed."""
    return f"{mean.value:.0f}" if mean.value.is_integer() else plain(mean.value)


def _link(link: LinkOutcome) -> Table:
    made = table("", "value", "p50", "p95", "p99")
    _rows(made, link, "link")
    return made


def _class(each: ClassOutcome) -> Table:
    made = table("", "value", "p50", "p95", "p99")
    _rows(made, each, "class")
    for name, part in (each.controllers or {}).items():
        goodput, lost = show(part.goodput_bps, 1e-6), show_significant(part.loss_rate, 100)
        made.add_row(f"{name}, {count(part.flows, 'flow')}: goodput, Mbit/s", goodput)
        made.add_row(f"{name}: loss, %", lost)
    return made


def _rows(made: Table, part: LinkOutcome | ClassOutcome, level: Level) -> None:
    """Add a row for each metric of the catalogue that has a title."""
    for metric in of_level(level):
        value = getattr(part, metric.key)
        if metric.form == "completion":
            _completion(made, metric, part)
        elif metric.title and not _is_omitted(metric, value):
            _row(made, metric, value)


def _is_omitted(metric: catalogue.Metric, value: Any) -> bool:
    if value is None:
        return metric.if_unknown != "dash"
    return metric.if_unknown == "omit also 0" and not value.value > 0


def _row(made: Table, metric: catalogue.Metric, value: Any) -> None:
    if metric.form == "quantiles":
        _spread(made, metric.title, value, metric.factor)
    elif metric.form == "significant":
        made.add_row(metric.title, show_significant(value, metric.factor))
    else:
        digits = 3 if metric.form == "3 decimals" else 2
        made.add_row(metric.title, show(value, metric.factor, digits))


def _completion(made: Table, metric: catalogue.Metric, part: LinkOutcome | ClassOutcome) -> None:
    """Add completion times, of which parts may be known only as lower bounds."""
    known, least = completion_times(part, metric.key)
    if known is not None or least is not None:
        parts = (mean, p50, p95, p99)
        made.add_row(metric.title, *(known_or_least(known, least, each) for each in parts))


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
