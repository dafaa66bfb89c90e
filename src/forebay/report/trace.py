"""The report of one Trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from forebay.outcome.statistics import of_histogram
from forebay.report.tables import NOT_MEASURED, console, count, duration, plain, show_table, table

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.outcome.reading import Histogram
    from forebay.outcome.trace import LinkTrace, Periods, Trace
    from forebay.outcome.transient import Transient


def print_trace(trace: Trace) -> None:
    """Print a trace of one replication as text."""
    out = console()
    out.print(f"{trace.scenario.get('name', 'scenario')}", style="bold")
    out.print(f"seed {trace.seed}, {trace.at_s.size} samples, one every {trace.step_s * 1e3:g} ms")
    for name, why in trace.unsettled.items():
        if why is not None:
            out.print(f"{name}: {why}", style="bold yellow")
    for name, link in trace.links.items():
        out.print()
        buffer = count(link.buffer_packets, "packet")
        title = f"Link {name}: buffer {buffer}, BDP {plain(link.bdp_packets)}"
        out.print(title, style="bold")
        show_table(out, _link(link, _class_names(trace)))
    out.print()
    out.print(count(trace.window_variance.size, "flow"), style="bold")
    show_table(out, _windows(trace))


def _class_names(trace: Trace) -> list[str]:
    """Names of the classes: the scenario's, else kind and index as in an Outcome."""
    traffic = trace.scenario.get("traffic", ())
    return [each.get("name") or f"{each.get('kind', 'long')}-{i}" for i, each in enumerate(traffic)]


def _link(link: LinkTrace, names: Sequence[str]) -> Table:
    made = table("", "mean", "p50", "p99", "number")
    made.add_row("busy, %", plain(100 * link.utilization))
    made.add_row("queue by time, packets", plain(link.queue_mean_packets))
    made.add_row("queue seen by arrivals, packets", _shown(link.seen_mean_packets))
    made.add_row("wait, ms", "", *_quantiles(link.delay))
    _periods(made, "busy periods, ms", link.busy)
    _periods(made, "idle periods, ms", link.idle)
    for index, (arrivals, drops) in enumerate(zip(link.arrivals, link.drops, strict=True)):
        loss = plain(100 * drops / arrivals) if arrivals else "–"
        name = names[index] if index < len(names) else f"class {index}"
        made.add_row(f"loss of {name}, %", loss, "", "", str(drops))
    if link.marks.any():
        made.add_row("marks", "", "", "", str(link.marks.sum()))
    return made


def _periods(made: Table, name: str, periods: Periods) -> None:
    mean = _shown(periods.mean_s, 1e3)
    made.add_row(name, mean, *_quantiles(periods.lengths), str(periods.number))


def _quantiles(histogram: Histogram) -> list[str]:
    return [_shown(of_histogram(histogram, p), 1e3) for p in (0.5, 0.99)]


def _windows(trace: Trace) -> Table:
    made, fit, found = table("", "value"), trace.window_sum_fit, trace.synchronization
    if fit is not None:
        made.add_row("sum of windows, mean, packets", plain(fit.mean))
        made.add_row("  standard deviation", plain(fit.standard_deviation))
        made.add_row("  distance to normal (Kolmogorov-Smirnov)", f"{fit.kolmogorov_smirnov:.4f}")
        made.add_row("  skewness", f"{fit.skewness:.2f}")
        made.add_row("  excess kurtosis", f"{fit.excess_kurtosis:.2f}")
    made.add_row("synchronization index (1 … n)", _shown(found.index))
    made.add_row("congestion events", str(found.congestion_events))
    made.add_row("  flows that reduced their window, %", _shown(found.reduced_fraction, 100))
    made.add_row("  flows that lost a packet, %", _shown(found.hit_fraction, 100))
    made.add_row("in congestion avoidance, 5 % quantile", _shown(trace.long_flows))
    return made


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
    if not course.oscillating_links:
        return []
    n = course.oscillating_links
    lines = [f"{n} queue{'' if n == 1 else 's'} still oscillate{'s' if n == 1 else ''}:"]
    for each in course.oscillations:
        swing = f"{plain(each.low_packets)} to {plain(each.high_packets)} packets"
        lines.append(f"  {each.link}: {swing}, every {duration(each.period_s)}")
    return lines


def _instants(course: Transient) -> list[int]:
    last = course.instants - 1
    return sorted({round(last * k / (_SHOWN - 1)) for k in range(_SHOWN)})


def _links(course: Transient) -> Table:
    shown = _instants(course)
    times = (duration(float(course.at_s[k])) if k else "0 s" for k in shown)
    made = table("links", "mean of", *times, "steady state")
    for name, link in course.links.items():
        for field, words, factor in (
            ("utilization", "utilization, %", 100.0),
            ("loss_rate", "loss, %", 100.0),
            ("queue_packets", "queue, packets", 1.0),
        ):
            values = getattr(link, field)
            still = None if link.steady is None else getattr(link.steady, field)
            cells = (_number(values[k], factor) for k in shown)
            made.add_row(name, words, *cells, _number(still, factor))
            name = ""
    return made


def _hops(course: Transient) -> Table:
    shown = _instants(course)
    times = (duration(float(course.at_s[k])) if k else "0 s" for k in shown)
    made = table("throughput, Mbit/s", "connections", *times, "steady state")
    for each in course.hops:
        cells = (_number(each.throughput_bps[k], 1e-6) for k in shown)
        still = _number(each.steady_throughput_bps, 1e-6)
        made.add_row(f"{each.hops} hops", f"{each.connections:,.0f}", *cells, still)
    cells = (_number(course.throughput_bps[k], 1e-6) for k in shown)
    made.add_row("all", "", *cells, _number(course.steady_throughput_bps, 1e-6))
    cells = (_number(course.rtt_s[k], 1e3) for k in shown)
    made.add_row("round trip, ms", "", *cells, _number(course.steady_rtt_s, 1e3))
    return made


def _number(value: Any, factor: float) -> str:
    if value is None:
        return NOT_MEASURED
    return f"{value * factor:.4g}" if abs(value) > 1e-12 else "0"
