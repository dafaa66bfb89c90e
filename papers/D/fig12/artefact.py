"""Figure 12 of paper D: buffers against inequality 10."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
NOTES = [
    mix.NOTE,
    "The bound is inequality 10 with our mean of W (as in D.fig10) and the "
    "deviation of eq. 6. Below zero it asks for no buffer.",
]


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    points = mix.points(drops=True, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    bounds = [mix.least_buffer(point.window, point.bdp) for point in points]
    lines = [
        Line(rtts, [point.buffer for point in points], "buffer", "dots"),
        Line(rtts, bounds, "least by inequality 10", "dashes"),
    ]
    return judge(
        "D.fig12",
        "Paper D, Figure 12: buffers against inequality 10",
        HERE,
        {
            f"spare-{point.rtt_ms}": point.buffer - bound
            for point, bound in zip(points, bounds, strict=True)
        },
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )
