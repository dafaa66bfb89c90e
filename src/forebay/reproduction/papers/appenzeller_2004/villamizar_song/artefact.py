"""Section 6 on Villamizar and Song: few flows need a bandwidth-delay product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS, BUFFERS = (1, 4, 8), (0.125, 0.25, 0.5, 1.0, 1.5)
QUICK = (0.5, 1.0)
Used = dict[tuple[int, str], Any]  # Metric, percent


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run 1, 4 and 8 flows with every buffer; ``quick`` with two buffers, once."""
    buffers, seeds = (QUICK, 1) if quick else (BUFFERS, seeds)
    points = [(n, f"{size} bdp") for n in FLOWS for size in buffers] + [(8, "1 bdp/sqrt(n)")]
    used: Used = {
        (n, size): _utilization(n, size, seeds, jobs, part)
        for (n, size), part in each_with(progress, points)
    }
    full = {f"full-{n}": used[n, "1.0 bdp"] for n in FLOWS}
    half = {f"half-{n}": used[n, "0.5 bdp"] for n in FLOWS}
    return judge(
        "appenzeller-2004/villamizar-song",
        "Appenzeller et al. 2004, section 6: 1, 4 and 8 flows over 40 Mbit/s",
        HERE,
        {**full, **half, "sqrt": used[8, "1 bdp/sqrt(n)"]},
        picture=_picture(used, buffers),
    )


def _utilization(n: int, size: str, seeds: int, jobs: int, progress: Progress | None) -> Any:
    changes = [f"traffic.0.flows={n}", f"queue.size={size}"]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    return percent(outcome.links["bottleneck"].utilization)


def _picture(used: Used, buffers: tuple[float, ...]) -> Picture:
    lines = []
    for n in FLOWS:
        found = [(size, used[n, f"{size} bdp"]) for size in buffers]
        known = [(size, metric.value) for size, metric in found if metric is not None]
        x, y = [size for size, _ in known], [value for _, value in known]
        lines.append(Line(x, y, f"{n} flow{'s' * (n > 1)}"))
    return Picture([Panel(lines, "buffer, bdp", "utilization, %")])
