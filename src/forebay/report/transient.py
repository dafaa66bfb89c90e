"""The report of a network that is stepped through time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forebay.report.tables import NOT_MEASURED, console, duration, plain, show_table, table

if TYPE_CHECKING:
    from rich.table import Table

    from forebay.outcome.transient import Transient

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
