"""Figure 9 of paper A: the sum of the windows and the queue, offset by 10,500 packets."""

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
    """Watch one replication; ``quick`` a third as long."""
    changes = ["measure.duration=20 s"] if quick else []
    scenario = forebay.load(HERE / "scenario.toml", changes)
    trace = forebay.trace(scenario, step="10 ms", progress=progress)
    windows, queue = trace.window_sum_packets, trace.bottleneck.queue_packets
    x = trace.at_s.tolist()
    offset = (queue + scenario.bdp_packets).tolist()
    lines = [Line(x, windows.tolist(), "ΣW"), Line(x, offset, "queue + 10,500")]
    return judge(
        "A.fig9",
        "Paper A, Figure 9: the sum of the windows and the queue",
        HERE,
        {
            "offset": float(np.mean(windows - queue)),
            "follows": float(np.corrcoef(windows, queue)[0, 1]),
        },
        picture=Picture([Panel(lines, "s", "packets")]),
    )
