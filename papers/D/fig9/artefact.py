"""Figure 9 of paper D: utilization with the buffers of inequality 7."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
NOTES = [
    mix.NOTE,
    "The paper gives no number for this figure. It calls 97.39 % high (Figure 11).",
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
    lines = [
        Line(rtts, [point.utilization.value for point in points], "ours", "dots"),
        Line(rtts, [97.0] * len(rtts), "high, by the text of Figure 11", "dashes"),
    ]
    return judge(
        "D.fig9",
        "Paper D, Figure 9: utilization with the buffers of inequality 7",
        HERE,
        {f"utilization-{point.rtt_ms}": point.utilization for point in points},
        notes=NOTES,
        picture=Picture([Panel(lines, "RTT, ms", "utilization, %")]),
    )
