"""Figure 8 of paper A: the sum of many windows is normal."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture, Reproduction, judge

HERE = Path(__file__).resolve().parent
BINS = 40


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
    fit = trace.window_sum_fit
    if fit is None:
        raise ValueError("the sum of the windows was not sampled")
    n = scenario.n_flows
    bound = (scenario.bdp_packets + scenario.buffer_packets) / math.sqrt(27 * n)
    return judge(
        "A.fig8",
        f"Paper A, Figure 8: the sum of {n} windows",
        HERE,
        {
            "normal": fit.kolmogorov_smirnov,
            "skewness": fit.skewness,
            "deviation": 100 * fit.standard_deviation / bound,
            "in-step": trace.synchronization.index,
        },
        picture=_picture(trace, fit),
    )


def _picture(trace: Any, fit: Any) -> Picture:
    density, edges = np.histogram(trace.window_sum_packets, bins=BINS, density=True)
    middles = (edges[:-1] + edges[1:]) / 2
    z = (middles - fit.mean) / fit.standard_deviation
    normal = np.exp(-(z**2) / 2) / (fit.standard_deviation * math.sqrt(2 * math.pi))
    link = trace.bottleneck
    ends = (link.bdp_packets, link.bdp_packets + link.buffer_packets)
    marks = [Line([at, at], [0.0, float(normal.max())], "fits the buffer", "dashes") for at in ends]
    lines = [
        Line(middles.tolist(), density.tolist(), "ΣW", "bars"),
        Line(middles.tolist(), normal.tolist(), "normal"),
        *marks,
    ]
    return Picture([Panel(lines, "ΣW, packets", "density")])
