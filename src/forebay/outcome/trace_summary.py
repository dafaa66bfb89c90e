"""What a Trace says in a few numbers, as a JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from forebay.outcome.quantiles import of_histogram

if TYPE_CHECKING:
    from forebay.outcome.trace import LinkTrace, Periods, Trace

_WAITS = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def summary(trace: Trace) -> dict[str, Any]:
    """Return numbers, None for what is not known; no arrays but those by traffic class."""
    fit = trace.window_sum_fit
    return {
        "schema": 1,
        "scenario": dict(trace.scenario),
        "seed": trace.seed,
        "step_s": trace.step_s,
        "samples": trace.at_s.size,
        "links": {name: _link(link) for name, link in trace.links.items()},
        "window_sum_packets": None if fit is None else asdict(fit),
        "synchronization": asdict(trace.synchronization),
        "long_flows": trace.long_flows,
    }


def _link(link: LinkTrace) -> dict[str, Any]:
    return {
        "utilization": link.utilization,
        "buffer_packets": link.buffer_packets,
        "bdp_packets": link.bdp_packets,
        "queue_mean_packets": link.queue_mean_packets,
        "queue_seen_mean_packets": link.seen_mean_packets,
        "delay_s": {name: of_histogram(link.delay, p) for name, p in _WAITS},
        "busy": _periods(link.busy),
        "idle": _periods(link.idle),
        "classes": [
            {"arrivals": arrivals, "drops": drops, "marks": marks}
            for arrivals, drops, marks in zip(
                link.arrivals.tolist(), link.drops.tolist(), link.marks.tolist(), strict=True
            )
        ],
    }


def _periods(periods: Periods) -> dict[str, Any]:
    return {
        "number": periods.number,
        "mean_s": periods.mean_s,
        "p50_s": of_histogram(periods.lengths, 0.5),
        "p99_s": of_histogram(periods.lengths, 0.99),
        "total_s": periods.total_s,
    }
