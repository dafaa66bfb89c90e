"""Figure 1 by simulation: the sum of n windows approaches the normal distribution."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS = (10, 50, 100, 200)
NOTES = [
    "W: the sum of all congestion windows, sampled every 50 ms; samples of all replications "
    "together, each less its own mean and over its own deviation. Distance: Kolmogorov's, the "
    "largest gap between the two distributions.",
    "D.fig1 draws independent windows by the laws; here TCP makes them, so that flows in step "
    "would show.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace 10 to 200 flows for each seed; ``quick`` measures 40 s."""
    sums: dict[int, list[Any]] = {n: [] for n in FLOWS}
    wanted = [(n, seed) for n in FLOWS for seed in range(1, seeds + 1)]
    for (n, seed), report in each_with(progress, wanted):
        sets = [f"traffic.0.flows={n}", *(["measure.duration=40 s"] if quick else [])]
        scenario = forebay.load(HERE / "scenario.toml", sets)
        trace = forebay.trace(scenario, step="50 ms", seed=seed, progress=report)
        window = trace.window_sum_packets
        sums[n].append((window - window.mean()) / window.std())
    standard = {n: np.sort(np.concatenate(each)) for n, each in sums.items()}
    distance = {n: _distance(each) for n, each in standard.items()}
    return judge(
        "yang-2013/fig1-simulated",
        "Yang et al. 2013, Figure 1: the sum of n windows becomes normal, by simulation",
        HERE,
        {
            "distance-200": distance[200],
            "nearer-50": distance[10] - distance[50],
            "nearer-200": distance[10] - distance[200],
        },
        notes=NOTES,
        picture=Picture([_panel(n, each) for n, each in standard.items()], columns=2),
    )


def _distance(standard: Any) -> float:
    """Kolmogorov's distance of sorted standardized samples from the normal."""
    normal = forebay.laws.heterogeneous.probability(standard)
    steps = np.arange(len(standard) + 1) / len(standard)
    return float(max(np.max(steps[1:] - normal), np.max(normal - steps[:-1])))


def _panel(n: int, standard: Any) -> Panel:
    density, edges = np.histogram(standard, bins=50, range=(-4, 4), density=True)
    middles = (edges[1:] + edges[:-1]) / 2
    normal = NormalDist()
    return Panel(
        [
            Line(middles.tolist(), density.tolist(), "sum of n windows", "bars"),
            Line(middles.tolist(), [normal.pdf(x) for x in middles], "normal"),
        ],
        "W less its mean, over its deviation",
        "density",
        title=f"{n} flows: distance {_distance(standard):.3f}",
    )
