"""Figures 4 and 1: one flow with a buffer of a bandwidth-delay product."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
BDP = BUFFER = 142.0
RATE = 1000.0  # packets/s
NOTES = [
    "Eq. 10 is laid through each cycle from the moment at which the queue is least. The paper "
    "calculates the period, 30.2 s, and says that the simulated one fits.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace one flow in steady state and from its start; no randomness, so one run suffices."""
    first, second = shares(progress, 2)
    scenario = forebay.load(HERE / "scenario.toml")
    settled = forebay.trace(scenario, step="20 ms", progress=first)
    whole = ["measure.warmup=0 s", "measure.duration=120 s"]
    begun = forebay.load(HERE / "scenario.toml", whole)
    start = forebay.trace(begun, step="2 ms", progress=second)
    return judge(
        "appenzeller-2004/fig4",
        "Appenzeller et al. 2004, Figures 4 and 1: one flow, buffer equal to bdp",
        HERE,
        {**_numbers(settled), "slow-start": _empty_in_slow_start(start)},
        notes=NOTES,
        picture=_picture(settled, start),
    )


def _numbers(trace: Any) -> dict[str, float]:
    window, queue = trace.flows[0].cwnd_packets, trace.bottleneck.queue_packets
    cuts = trace.reductions.at_s
    cycles = [
        (trace.at_s[inside] - begin, queue[inside])
        for begin, end in pairwise(cuts)
        if np.any(inside := (trace.at_s >= begin) & (trace.at_s < end))
    ]
    return {
        "period": float(np.mean(np.diff(cuts))),
        "halves": float(window.min() / window.max()),
        "largest": float(100 * window.max() / (BDP + BUFFER)),
        "almost-empty": max(100 * float(part.min()) / BUFFER for _, part in cycles),
        "never-idle": 100 * float(trace.bottleneck.utilization),
        "root": max(100 * _from_root(*cycle) / BUFFER for cycle in cycles),
    }


def _from_root(at_s: Any, queue: Any) -> float:
    """Largest difference from eq. 10, in packets, from the smallest queue on."""
    lowest = int(np.argmin(queue))
    since = at_s[lowest:] - at_s[lowest]
    law = np.sqrt(2 * RATE * since + BDP**2) - BDP
    return float(np.max(np.abs(np.minimum(law, BUFFER) - queue[lowest:])))


def _empty_in_slow_start(trace: Any) -> float:
    """Percent of the time until the window reaches bdp in which the queue is empty."""
    begun = trace.flows[0].cwnd_packets > 0
    reached = int(np.argmax(trace.flows[0].cwnd_packets >= BDP))
    before = np.flatnonzero(begun[:reached])
    return 100 * float(np.mean(trace.bottleneck.queue_packets[before] == 0))


def _picture(settled: Any, start: Any) -> Picture:
    panels = []
    for trace, title in ((settled, "settled (Fig. 4)"), (start, "from the start (Fig. 1)")):
        x = trace.at_s.tolist()
        window = Line(x, trace.flows[0].cwnd_packets.tolist(), "window")
        queue = Line(x, trace.bottleneck.queue_packets.tolist(), "queue")
        panels += [Panel([window], "s", "packets", title), Panel([queue], "s", "packets")]
    return Picture(panels, columns=2)
