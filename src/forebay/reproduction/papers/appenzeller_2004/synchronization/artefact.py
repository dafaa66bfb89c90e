"""Section 3.2: in-phase synchronization by the number of flows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge, side_by_side

HERE = Path(__file__).resolve().parent
FLOWS = (10, 20, 50, 100, 200, 500, 800)
RUNS = 2
CHOSEN = "RTTs 80–120 ms"
READINGS = {
    "ACKs delayed, 40 ms": ["traffic.0.delayed_ack=true"],
    "RTTs 98–102 ms": ["traffic.0.rtt={uniform=['98 ms', '102 ms']}"],
    "RTTs all 100 ms": ["traffic.0.rtt=100 ms"],
}
SAYS = (
    "The print cannot have come from round trips that differ, by a fifth or by 2 %, whenever "
    "receivers acknowledge: there no number of flows is in step. With one round trip for all, tens "
    "of flows are; but then hundreds are too, a little."
)
NOTES = [
    "Correlation of two windows on average, (index - 1) / (n - 1), index being var ΣW / Σ var W: "
    "1 in lockstep, 0 if independent.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Trace every number of flows; ``quick`` once."""
    runs = 1 if quick else min(seeds, RUNS)
    mean = _means(runs, (), progress)
    others = {} if quick else {name: _means(runs, sets, None) for name, sets in READINGS.items()}
    under = {name: _numbers(each) for name, each in {CHOSEN: mean, **others}.items()}
    return judge(
        "appenzeller-2004/synchronization",
        "Appenzeller et al. 2004, section 3.2: synchronization by the number of flows",
        HERE,
        _numbers(mean),
        notes=NOTES,
        picture=_picture({CHOSEN: mean, **others}),
        variants=None if quick else side_by_side(HERE, under, SAYS),
    )


def _means(runs: int, sets: Iterable[str], progress: Progress | None) -> dict[int, float]:
    """Mean correlation for each number of flows."""
    points = [(n, seed) for n in FLOWS for seed in range(1, runs + 1)]
    found: dict[int, list[float]] = {n: [] for n in FLOWS}
    for (n, seed), part in each_with(progress, points):
        found[n].append(_correlation(n, seed, sets, part))
    return {n: float(np.mean(each)) for n, each in found.items()}


def _numbers(mean: dict[int, float]) -> dict[str, float]:
    return {
        "common": min(mean[n] for n in FLOWS if n < 100),
        "rare": max(mean[n] for n in FLOWS if n >= 500),
        "falls": min(mean[few] - mean[many] for few, many in pairwise((10, 100, 500))),
    }


def _correlation(n: int, seed: int, sets: Iterable[str], progress: Progress | None) -> float:
    scenario = forebay.load(HERE / "scenario.toml", [f"traffic.0.flows={n}", *sets])
    index = forebay.trace(scenario, seed=seed, progress=progress).synchronization.index
    return math.nan if index is None else (index - 1) / (n - 1)


def _picture(means: dict[str, dict[int, float]]) -> Picture:
    lines = [Line(list(mean), list(mean.values()), name) for name, mean in means.items()]
    return Picture([Panel(lines, "flows", "correlation of two windows", log="x")])
