"""Figure 14: with small buffers, short flows among long ones complete earlier."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS = (10, 50, 100, 200, 300, 500)
MANY = 200
SIZES = ("1 bdp/sqrt(n)", "1 bdp")
MOST_SEEDS = 2
Point = tuple[float, float, float]  # AFCT of the short flows, utilization, share of the long flows


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every number of long flows with both buffers; ``quick`` once."""
    flows, seeds = FLOWS, 1 if quick else min(seeds, MOST_SEEDS)
    points = [(n, size) for n in flows for size in SIZES]
    found = {point: _run(*point, seeds, jobs, part) for point, part in each_with(progress, points)}
    small, full = ([found[n, size] for n in flows] for size in SIZES)
    ratios = {n: 100 * a[0] / b[0] for n, a, b in zip(flows, small, full, strict=True)}
    return judge(
        "appenzeller-2004/fig14",
        "Appenzeller et al. 2004, Figure 14: completion time of short flows among long ones",
        HERE,
        {
            "sooner": max(ratios.values()),
            "much-sooner": max(ratio for n, ratio in ratios.items() if n >= MANY),
            "utilization": 100 * min(found[n, SIZES[0]][1] for n in flows if n >= MANY),
            "share": 100 * max(share for _, _, share in small),
        },
        picture=_picture(flows, small, full),
    )


def _run(n: int, size: str, seeds: int, jobs: int, progress: Progress | None) -> Point:
    changes = [f"traffic.0.flows={n}", f"queue.size={size}"]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    long, short = outcome.classes
    link = outcome.links["bottleneck"]
    if not (short.fct_s and short.fct_s.mean and link.utilization and long.throughput_bps):
        return math.nan, math.nan, math.nan
    share = long.throughput_bps.value / scenario.link.rate
    return short.fct_s.mean.value, link.utilization.value, share


def _picture(flows: tuple[int, ...], small: list[Point], full: list[Point]) -> Picture:
    lines = [
        Line(flows, [1e3 * each[0] for each in full], "buffer bdp"),
        Line(flows, [1e3 * each[0] for each in small], "buffer bdp/√n"),
    ]
    return Picture([Panel(lines, "long flows", "AFCT of short flows, ms")])
