"""Figures 5 and 6: a trace of one flow through a bottleneck."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture


def watch(
    folder: Path, progress: Callable[[float], None] | None
) -> tuple[dict[str, float], Picture]:
    """Return the claims' numbers and the figure; the run has no randomness, so one suffices."""
    trace = forebay.trace(forebay.load(folder / "scenario.toml"), step="20 ms", progress=progress)
    window, queue = trace.flows[0].cwnd_packets, trace.bottleneck.queue_packets
    x = trace.at_s.tolist()
    panels = [
        Panel([Line(x, window.tolist(), "window")], "s", "packets"),
        Panel([Line(x, queue.tolist(), "queue")], "s", "packets"),
    ]
    numbers = {
        "halves": float(window.min() / window.max()),
        "empty": 100 * float(np.mean(queue == 0)),
        "utilization": 100 * float(trace.bottleneck.utilization),
        "left": float(queue.min()),
    }
    return numbers, Picture(panels)
