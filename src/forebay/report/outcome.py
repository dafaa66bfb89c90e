"""The report of one Outcome, of its trace, and of the course of a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from forebay.catalogue import of_level
from forebay.catalogue.kinds import WITHOUT_SEEDS
from forebay.catalogue.metrics import Level
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles
from forebay.outcome.reading import Histogram
from forebay.outcome.statistics import of_histogram
from forebay.outcome.trace import LinkTrace, Trace
from forebay.outcome.transient import Transient
from forebay.report.tables import (
    assumed_lines,
    called,
    completion_times,
    console,
    count,
    duration,
    known_or_least,
    mean,
    number,
    p50,
    p95,
    p99,
    plain,
    rate_lines,
    short,
    show,
    show_significant,
    show_table,
    shown_links,
    table,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from forebay import catalogue


_MOST = 50
"""Links, and classes, that are shown: nobody reads more tables, and each takes some time."""


def print_outcome(outcome: Outcome) -> None:
    """Print one engine's answer as text."""
    out = console()
    out.print(f"{outcome.scenario.get('name', 'scenario')}", style="bold")
    seeds = outcome.provenance.seeds
    of = f"{len(seeds)} seeds" if len(seeds) != 1 else f"seed {seeds[0]}"
    out.print(f"by {outcome.engine}, {of}{_intervals(outcome)}")
    print_first(out, [outcome], [""])
    for name, link in _shown_links(out, outcome).items():
        out.print()
        out.print(_link_title(name, link), style="bold")
        show_table(out, _link(link))
    if len(outcome.classes) > _MOST:
        out.print(f"\n{_MOST} of {len(outcome.classes)} classes; --json has each")
    for kind in outcome.classes[:_MOST]:
        out.print()
        out.print(_class_title(kind), style="bold")
        show_table(out, _class(kind))
        if kind.unsettled is not None:
            out.print(kind.unsettled, style="yellow", highlight=False)
    print_broken(out, [outcome], [""])


def print_first(out: Console, outcomes: Sequence[Outcome], names: Sequence[str]) -> None:
    """Print what the numbers of outcomes rest on, each line once, and whose it is if not all's."""
    warned = [(*outcome.late_starts, *outcome.disturbed) for outcome in outcomes]
    for of, lines in _by_owners(names, warned):
        for line in lines:
            out.print(f"{_of(of)}{line}.", style="bold yellow", highlight=False)
    for of, lines in _by_owners(names, (rate_lines(outcome.rates or {}) for outcome in outcomes)):
        for line in lines:
            out.print(f"{_of(of)}{line}")
    for of, lines in _by_owners(names, (outcome.assumptions for outcome in outcomes)):
        for line in assumed_lines(lines):
            out.print(f"{_of(of)}{line}")


def _by_owners(
    names: Sequence[str], told: Iterable[Sequence[str]]
) -> Iterable[tuple[str, list[str]]]:
    """Return the lines of several outcomes by whose they are: ("64, 128", …); all's have ""."""
    owners: dict[str, list[str]] = {}
    for name, lines in zip(names, told, strict=True):
        for line in dict.fromkeys(lines):
            owners.setdefault(line, []).append(name)
    groups: dict[str, list[str]] = {"": []}
    for line, having in owners.items():
        of = "" if len(having) == len(names) else ", ".join(having)
        groups.setdefault(of, []).append(line)
    return groups.items()


def _of(names: str) -> str:
    return f"{names}: " if names else ""


def _shown_links(out: Console, outcome: Outcome) -> dict[str, LinkOutcome]:
    """Return all links, or of very many those that lose most, which is said."""
    links = shown_links(outcome)
    if len(links) <= _MOST:
        return links

    def loss(link: LinkOutcome) -> float:
        return float(link.loss_rate or 0.0)

    out.print(f"\nThe {_MOST} of {len(links)} links that lose most; --json has each")
    return dict(sorted(links.items(), key=lambda item: -loss(item[1]))[:_MOST])


def print_broken(out: Console, outcomes: Sequence[Outcome], names: Sequence[str]) -> None:
    """Print the assumptions of each engine that its scenarios violate, and which if not all do."""
    for engine in dict.fromkeys(outcome.engine for outcome in outcomes):
        own = [pair for pair in zip(names, outcomes, strict=True) if pair[1].engine == engine]
        broken = [outcome.broken_assumptions for _, outcome in own]
        for of, lines in _by_owners([name for name, _ in own], broken):
            if lines:
                scenario = f"the scenario of {of}" if of else "this scenario"
                out.print(f"\nAssumptions of {engine} that {scenario} breaks", style="bold")
            for assumption in lines:
                out.print(f"  {assumption}", style="yellow")


def _intervals(outcome: Outcome) -> str:
    """Return what the intervals are of: one draw of the traffic, or the scenario."""
    if outcome.engine == "theory":
        return ""
    if outcome.engine in WITHOUT_SEEDS:
        return "; 95 % intervals by the model's errors on links that it had not seen"
    if len(outcome.provenance.seeds) > 1:
        return "; 95 % intervals of the scenario"
    return "; 95 % intervals of this draw alone, five seeds give the scenario's"


def _link_title(name: str, link: LinkOutcome | LinkTrace) -> str:
    buffer = count(link.buffer_packets, "packet")
    return f"Link {name}: buffer {buffer}, BDP {plain(link.bdp_packets)}"


def _class_title(kind: ClassOutcome) -> str:
    flows, active = count(kind.flows, "flow"), kind.flows_active
    few = "" if active is None or active.value == kind.flows else f", {_number(active)} sent"
    return f"{called(kind)}: {flows}{few}"


def _number(mean: Metric) -> str:
    """Write a mean of counts: whole if it is, as that of one seed."""
    return f"{mean.value:.0f}" if mean.value.is_integer() else plain(mean.value)


def _link(link: LinkOutcome) -> Table:
    grid = table("", "value", "p50", "p95", "p99")
    _rows(grid, link, "link")
    return grid


def _class(kind: ClassOutcome) -> Table:
    grid = table("", "value", "p50", "p95", "p99")
    _rows(grid, kind, "class")
    for name, part in (kind.controllers or {}).items():
        goodput, lost = show(part.goodput_bps, 1e-6), show_significant(part.loss_rate, 100)
        grid.add_row(f"{name}, {count(part.flows, 'flow')}: goodput, Mbit/s", goodput)
        grid.add_row(f"{name}: loss, %", lost)
    return grid


def _rows(grid: Table, part: LinkOutcome | ClassOutcome, level: Level) -> None:
    """Add a row for each metric of the catalogue that has a title."""
    for metric in of_level(level):
        value = getattr(part, metric.key)
        if metric.form == "completion":
            _completion(grid, metric, part)
        elif metric.title and not _is_omitted(metric, value):
            _row(grid, metric, value)


def _is_omitted(metric: catalogue.Metric, value: Any) -> bool:
    if value is None:
        return metric.if_unknown != "dash"
    return metric.if_unknown == "omit also 0" and not value.value > 0


def _row(grid: Table, metric: catalogue.Metric, value: Any) -> None:
    if metric.form == "quantiles":
        _spread(grid, metric.title, value, metric.factor)
    elif metric.form == "significant":
        grid.add_row(metric.title, show_significant(value, metric.factor))
    else:
        digits = 3 if metric.form == "3 decimals" else 2
        grid.add_row(metric.title, show(value, metric.factor, digits))


def _completion(grid: Table, metric: catalogue.Metric, part: LinkOutcome | ClassOutcome) -> None:
    """Add completion times, of which parts may be known only as lower bounds."""
    known, least = completion_times(part, metric.key)
    if known is not None or least is not None:
        parts = (mean, p50, p95, p99)
        grid.add_row(metric.title, *(known_or_least(known, least, each) for each in parts))


def _spread(grid: Table, name: str, quantiles: Quantiles | None, factor: float) -> None:
    if quantiles is None:
        grid.add_row(name, show(None))
        return
    rest = (quantiles.p50, quantiles.p95, quantiles.p99)
    grid.add_row(name, show(quantiles.mean, factor), *(short(value, factor) for value in rest))


def print_trace(trace: Trace) -> None:
    """Print a trace of one replication as text."""
    out = console()
    out.print(f"{trace.scenario.get('name', 'scenario')}", style="bold")
    out.print(f"seed {trace.seed}, {trace.at_s.size} samples, one every {trace.step_s * 1e3:g} ms")
    for name, why in trace.unsettled.items():
        if why is not None:
            out.print(f"{name}: {why}", style="bold yellow")
    # As in an Outcome: the scenario's names, else kind and index.
    traffic = enumerate(trace.scenario.get("traffic", ()))
    names = [group.get("name") or f"{group.get('kind', 'long')}-{i}" for i, group in traffic]
    for name, link in trace.links.items():
        out.print()
        out.print(_link_title(name, link), style="bold")
        show_table(out, _traced_link(link, names))
    out.print()
    out.print(count(trace.window_variance.size, "flow"), style="bold")
    show_table(out, _windows(trace))


def _traced_link(link: LinkTrace, names: Sequence[str]) -> Table:
    grid = table("", "mean", "p50", "p99", "number")
    grid.add_row("busy, %", plain(100 * link.utilization))
    grid.add_row("queue by time, packets", plain(link.queue_mean_packets))
    grid.add_row("queue seen by arrivals, packets", _shown(link.seen_mean_packets))
    grid.add_row("wait, ms", "", *_quantiles(link.delay))
    for name, periods in (("busy", link.busy), ("idle", link.idle)):
        spread = (_shown(periods.mean_s, 1e3), *_quantiles(periods.lengths))
        grid.add_row(f"{name} periods, ms", *spread, str(periods.number))
    for index, (arrivals, drops) in enumerate(zip(link.arrivals, link.drops, strict=True)):
        loss = plain(100 * drops / arrivals) if arrivals else "–"
        name = names[index] if index < len(names) else f"class {index}"
        grid.add_row(f"loss of {name}, %", loss, "", "", str(drops))
    if link.marks.any():
        grid.add_row("marks", "", "", "", str(link.marks.sum()))
    return grid


def _quantiles(histogram: Histogram) -> list[str]:
    return [_shown(of_histogram(histogram, p), 1e3) for p in (0.5, 0.99)]


def _windows(trace: Trace) -> Table:
    grid, fit, synchrony = table("", "value"), trace.window_sum_fit, trace.synchronization
    if fit is not None:
        grid.add_row("sum of windows, mean, packets", plain(fit.mean))
        grid.add_row("  standard deviation", plain(fit.standard_deviation))
        grid.add_row("  distance to normal (Kolmogorov-Smirnov)", f"{fit.kolmogorov_smirnov:.4f}")
        grid.add_row("  skewness", f"{fit.skewness:.2f}")
        grid.add_row("  excess kurtosis", f"{fit.excess_kurtosis:.2f}")
    grid.add_row("synchronization index (1 … n)", _shown(synchrony.index))
    grid.add_row("congestion events", str(synchrony.congestion_events))
    grid.add_row("  flows that reduced their window, %", _shown(synchrony.reduced_fraction, 100))
    grid.add_row("  flows that lost a packet, %", _shown(synchrony.hit_fraction, 100))
    grid.add_row("in congestion avoidance, 5 % quantile", _shown(trace.long_flows))
    return grid


def _shown(value: float | None, factor: float = 1.0) -> str:
    return "–" if value is None else plain(value * factor)


_SHOWN = 6
_NEAR = 0.01


def print_transient(course: Transient) -> None:
    """Print a transient as text: some instants of every series, and the steady state beside."""
    out = console()
    out.print(str(course.scenario.get("name", "network")), style="bold")
    for line in sentences(course):
        out.print(line)
    out.print()
    show_table(out, _links(course))
    out.print()
    show_table(out, _hops(course))


def sentences(course: Transient) -> list[str]:
    """Return where it began, how long a step is, how near it came, and what still oscillates."""
    begin = "windows of one packet and empty queues"
    if course.start_scenario is not None:
        begin = f"the steady state of {course.start_scenario.get('name', 'network')}"
    time = f"{duration(float(course.at_s[-1]))} in {course.steps:,} steps"
    return [
        f"from {begin}: {time} of {duration(course.step_s)}",
        _nearness(course),
        *_oscillations(course),
    ]


def _nearness(course: Transient) -> str:
    if course.distance is None:
        return f"no steady state was found; residual {course.residual:.1e} at the end"
    apart = plain(100 * course.distance)
    if course.distance < _NEAR:
        return f"at the end within {apart} % of the steady state, residual {course.residual:.1e}"
    rest = f"at the end up to {apart} % from the steady state, residual {course.residual:.1e}"
    return f"{rest}: not settled, or another steady state"


def _oscillations(course: Transient) -> list[str]:
    n = course.oscillating_links
    if not n:
        return []
    lines = [f"{n} queue{'' if n == 1 else 's'} still oscillate{'s' if n == 1 else ''}:"]
    for oscillation in course.oscillations:
        swing = f"{plain(oscillation.low_packets)} to {plain(oscillation.high_packets)} packets"
        lines.append(f"  {oscillation.link}: {swing}, every {duration(oscillation.period_s)}")
    return lines


def _instants(course: Transient) -> tuple[list[int], list[str]]:
    """Return which instants a table shows, and their times."""
    last = course.instants - 1
    shown = sorted({round(last * k / (_SHOWN - 1)) for k in range(_SHOWN)})
    return shown, [duration(float(course.at_s[k])) if k else "0 s" for k in shown]


def _links(course: Transient) -> Table:
    shown, times = _instants(course)
    grid = table("links", "mean of", *times, "steady state")
    for name, link in course.links.items():
        for field, words, factor in (
            ("utilization", "utilization, %", 100.0),
            ("loss_rate", "loss, %", 100.0),
            ("queue_packets", "queue, packets", 1.0),
        ):
            values = getattr(link, field)
            still = None if link.steady is None else getattr(link.steady, field)
            cells = (number(values[k], factor) for k in shown)
            grid.add_row(name, words, *cells, number(still, factor))
            name = ""
    return grid


def _hops(course: Transient) -> Table:
    shown, times = _instants(course)
    grid = table("throughput, Mbit/s", "connections", *times, "steady state")
    for hop in course.hops:
        cells = (number(hop.throughput_bps[k], 1e-6) for k in shown)
        still = number(hop.steady_throughput_bps, 1e-6)
        grid.add_row(f"{hop.hops} hops", f"{hop.connections:,.0f}", *cells, still)
    cells = (number(course.throughput_bps[k], 1e-6) for k in shown)
    grid.add_row("all", "", *cells, number(course.steady_throughput_bps, 1e-6))
    cells = (number(course.rtt_s[k], 1e3) for k in shown)
    grid.add_row("round trip, ms", "", *cells, number(course.steady_rtt_s, 1e3))
    return grid
