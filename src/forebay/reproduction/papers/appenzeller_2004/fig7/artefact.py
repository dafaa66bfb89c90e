"""Figure 7: two flows become synchronized."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
SECOND_STARTS_S = 30.0
CLOSE = 0.1
NOTES = ["A loss is one congestion event: all drops within a round trip."]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace them in steady state and from the start; no randomness, so one run suffices."""
    first, second = shares(progress, 2)
    scenario = forebay.load(HERE / "scenario.toml")
    settled = forebay.trace(scenario, step="50 ms", flows=(0, 1), progress=first)
    whole = forebay.load(HERE / "scenario.toml", ["measure.warmup=0 s", "measure.duration=200 s"])
    start = forebay.trace(whole, step="50 ms", flows=(0, 1), progress=second)
    step = settled.synchronization
    return judge(
        "appenzeller-2004/fig7",
        "Appenzeller et al. 2004, Figure 7: two flows through one bottleneck",
        HERE,
        {
            "index": step.index,
            "together": None if step.reduced_fraction is None else 100 * step.reduced_fraction,
            "quickly": _losses_until_close(start),
            "full": 100 * float(settled.bottleneck.utilization),
            **_round_trips(settled, scenario),
            "rate": _smaller_share(settled),
        },
        notes=NOTES,
        picture=_picture(start),
    )


def _round_trips(trace: Any, scenario: forebay.Scenario) -> dict[str, float]:
    """Return the least and largest round trip of a packet that arrives at a sample, ms.

    It is the path's own plus the time that the queue needs to leave. A smoothed round trip lags
    behind by eight samples, and would not show a queue that is empty for a moment.
    """
    packet_s = 8.0 * scenario.packet / scenario.link.capacity
    path_s = float(scenario.traffic[0].rtt.low)  # type: ignore[union-attr]
    waits_s = packet_s * trace.bottleneck.queue_packets
    low, high = 1e3 * (path_s + waits_s.min()), 1e3 * (path_s + waits_s.max())
    return {"rtt-low": float(low), "rtt-high": float(high)}


def _smaller_share(trace: Any) -> float:
    """Smaller share of the sum of both rates, window over RTT (eq. 7), mean in percent."""
    rates = [np.nanmean(trace.flows[i].cwnd_packets / trace.flows[i].srtt_s) for i in (0, 1)]
    return float(100 * min(rates) / sum(rates))


def _losses_until_close(trace: Any) -> float:
    """Congestion events from the second flow's start until the windows stay close for one event."""
    a, b = (trace.flows[i].cwnd_packets for i in (0, 1))
    opened = trace.congestion_events.opened_s
    later = opened[opened > SECOND_STARTS_S]
    for count, (begin, end) in enumerate(pairwise(later), start=1):
        inside = (trace.at_s >= begin + (end - begin) / 2) & (trace.at_s < end)
        apart = np.abs(a[inside] - b[inside]) / np.maximum(a[inside], b[inside])
        if inside.any() and float(apart.max()) < CLOSE:
            return float(count)
    return math.nan


def _picture(trace: Any) -> Picture:
    x = trace.at_s.tolist()

    def lines(name: str, factor: float = 1.0) -> list[Line]:
        found = [(i, np.nan_to_num(getattr(trace.flows[i], name))) for i in (0, 1)]
        return [Line(x, (factor * values).tolist(), f"flow {i + 1}") for i, values in found]

    queue = Line(x, trace.bottleneck.queue_packets.tolist(), "queue")
    return Picture(
        [
            Panel(lines("srtt_s", 1e3), "s", "RTT, ms"),
            Panel(lines("cwnd_packets"), "s", "window, packets"),
            Panel([queue], "s", "queue, packets"),
        ]
    )
