"""Figure 11 of paper D: utilization and drops with the buffers of inequality 14."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
NOTES = [
    mix.NOTE,
    "Drops are counted at the queue: packets dropped over packets that arrived.",
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
    used = [
        Line(rtts, [point.utilization.value for point in points], "ours", "dots"),
        Line(rtts, [97.39] * len(rtts), "as printed, the least", "dashes"),
    ]
    dropped = [
        Line(rtts, [point.loss.value for point in points], "ours", "dots"),
        Line(rtts, [1.0] * len(rtts), "φ", "dashes"),
    ]
    panels = [
        Panel(used, "RTT, ms", "utilization, %"),
        Panel(dropped, "RTT, ms", "drop rate, %"),
    ]
    return judge(
        "D.fig11",
        "Paper D, Figure 11: utilization and drops with the buffers of inequality 14",
        HERE,
        {
            "utilization": min(
                (point.utilization for point in points), key=lambda each: each.value
            ),
            "least-drops": min((point.loss for point in points), key=lambda each: each.value),
            **{f"drops-{point.rtt_ms}": point.loss for point in points},
        },
        notes=NOTES,
        picture=Picture(panels, columns=2),
    )
