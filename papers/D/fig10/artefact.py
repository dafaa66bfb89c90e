"""Figure 10 of paper D: mean of the aggregate against inequality 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
NOTES = [
    mix.NOTE,
    "W is what the network holds: utilization times BDP, and the mean queue. The bound is eq. 8, "
    "inequality 1 with the deviation of eq. 6.",
    "The deviation is that of the sum of all congestion windows in one traced replication.",
]


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    points = mix.points(drops=False, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    bounds = [mix.least_mean(point.bdp) for point in points]
    lines = [
        Line(rtts, [point.window for point in points], "mean of W, ours", "dots"),
        Line(rtts, bounds, "least by inequality 1", "dashes"),
    ]
    return judge(
        "D.fig10",
        "Paper D, Figure 10: mean of the aggregate against inequality 1",
        HERE,
        {
            f"ratio-{point.rtt_ms}": point.window / bound
            for point, bound in zip(points, bounds, strict=True)
        }
        | {f"deviation-{point.rtt_ms}": mix.deviation(point, quick) for point in points},
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )
