"""Slide 19: throughput of connections by hops."""

from __future__ import annotations

import math
from pathlib import Path

from forebay.report import Line, Panel, Picture
from forebay.reproduction import FORMULA, Progress, Reproduction, judge
from forebay.reproduction.papers.hisamatsu_2007 import runs

HERE = Path(__file__).resolve().parent
HOPS = (4, 6, 7, 8, 9)
PRINTED = {
    "small": (160.32, 67.33, 3.29, 2.41, 2.15),
    "traditional": (141.94, 47.04, 7.10, 3.33, 2.32),
}
NOTES = [
    "4 and 6 hops stay out of the core, 7 and more cross 1, 2, 3 core links. Nothing was fitted to "
    "this slide: tail, sigma and packet are chosen by slides 16 to 18 (draws.csv).",
]


def reproduce(
    seeds: int = 1, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Solve the network with both rules for the core's buffers."""
    got = {rule: runs.by_hops("fast", rule) for rule in runs.RULES}
    ours = {f"{rule}-{hops}": got[rule][hops] for rule in runs.RULES for hops in HOPS}
    ratio = {hops: got["small"][hops] / got["traditional"][hops] for hops in HOPS}
    ours |= {f"gain-{hops}": ratio[hops] for hops in (4, 6)}
    ours |= {f"lose-{hops}": ratio[hops] for hops in (7, 8, 9)}
    title = "Hisamatsu 2007, slide 19: throughput by hops"
    return judge(
        "hisamatsu-2007/hops", title, HERE, ours, kind=FORMULA, notes=NOTES, picture=_picture(got)
    )


def _picture(got: dict[str, dict[int, float]]) -> Picture:
    lines = []
    for rule, each in got.items():
        hops = tuple(range(min(each), max(each) + 1))  # no path has 5: there is no line over it
        lines.append(Line(hops, [each.get(n, math.nan) for n in hops], f"{rule}, ours"))
        lines.append(Line(HOPS, PRINTED[rule], f"{rule}, printed", "dots"))
    return Picture([Panel(lines, "hops", "throughput of a connection, Mbit/s", log="y")])
