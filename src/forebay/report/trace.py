"""The report of one Trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome.statistics import of_histogram
from forebay.report.tables import console, count, plain, show_table, table

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.outcome.reading import Histogram
    from forebay.outcome.trace import LinkTrace, Periods, Trace


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
