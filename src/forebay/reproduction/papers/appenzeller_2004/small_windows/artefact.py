"""Section 5.1.1: windows below two packets, and timeouts by buffer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS = (100, 250, 500, 800, 1200)
LADDER = (0.25, 0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n)
TARGET = 0.98
MOST_SEEDS = 2
NOTES = [
    "The mean window is (RTT C + B) / n (eq. 1): above two at 250 flows, below at 800 and 1200. "
    "Need: the buffer for 98 %, read off between multiples of bdp/√n; the ladder's ends beyond it.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every number of flows with every buffer; ``quick`` once."""
    seeds = 1 if quick else min(seeds, MOST_SEEDS)
    points = [(n, step) for n in FLOWS for step in LADDER]
    found = {point: _run(*point, seeds, jobs, part) for point, part in each_with(progress, points)}
    timeouts = {n: found[n, 1.0][1] for n in FLOWS}
    needs = {n: _need([found[n, step][0] for step in LADDER]) for n in FLOWS}
    return judge(
        "appenzeller-2004/small-windows",
        "Appenzeller et al. 2004, section 5.1.1: windows below two, timeouts against buffers",
        HERE,
        {
            "frequent": min(timeouts[n] for n in (800, 1200)) / timeouts[250],
            "more-buffer": min(needs[n] for n in (800, 1200)) / needs[250],
            "small-buffers": min(found[n, 0.25][1] / found[n, 2.0][1] for n in FLOWS if n <= 500),
        },
        notes=NOTES,
        picture=_picture(found),
    )


def _run(
    n: int, step: float, seeds: int, jobs: int, progress: Progress | None
) -> tuple[float, float]:
    """Utilization, and timeouts for each flow and minute."""
    sets = [f"traffic.0.flows={n}", f"queue.size={step} bdp/sqrt(n)"]
    scenario = forebay.load(HERE / "scenario.toml", sets)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    used, timeouts = outcome.links["bottleneck"].utilization, outcome.classes[0].timeouts
    minutes = scenario.measure.duration / 60
    return _value(used), _value(timeouts) / n / minutes


def _value(metric: Any) -> float:
    return math.nan if metric is None else float(metric.value)


def _need(reached: list[float]) -> float:
    """Multiple of bdp/sqrt(n) at which the target is first reached, within the ladder."""
    rising = np.maximum.accumulate(reached)
    return float(np.exp(np.interp(TARGET, rising, np.log(LADDER))))


def _picture(found: dict[tuple[int, float], tuple[float, float]]) -> Picture:
    lines = [Line(LADDER, [found[n, step][1] for step in LADDER], f"{n} flows") for n in FLOWS]
    return Picture([Panel(lines, "buffer, bdp/√n", "timeouts of a flow in a minute")])
