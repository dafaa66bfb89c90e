"""Figure 5 of paper A: one flow through an underbuffered router."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture, Reproduction, judge

HERE = Path(__file__).resolve().parent


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Watch one flow; no draw is in it, so once is enough."""
    scenario = forebay.load(HERE / "scenario.toml")
    trace = forebay.trace(scenario, step="20 ms", progress=progress)
    window, queue = trace.flows[0].cwnd_packets, trace.bottleneck.queue_packets
    x = trace.at_s.tolist()
    panels = [
        Panel([Line(x, window.tolist(), "window")], "s", "packets"),
        Panel([Line(x, queue.tolist(), "queue")], "s", "packets"),
    ]
    return judge(
        "A.fig5",
        "Paper A, Figure 5: one flow, buffer half of bdp",
        HERE,
        {
            "halves": float(window.min() / window.max()),
            "empty": 100 * float(np.mean(queue == 0)),
            "utilization": 100 * float(trace.bottleneck.utilization),
        },
        picture=Picture(panels),
    )
