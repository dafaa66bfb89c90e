"""Figure 9 of paper D: utilization with the buffers of inequality 7."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
testbed: Any = beside(HERE, "testbed")
measure = partial(testbed.measure, drops=False)
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
    tested = testbed.played(drops=False)
    lines = [
        mix.dots(points, [point.utilization.value for point in points], "ours"),
        mix.dots(tested, [each.utilization.value for each in tested], testbed.LABEL),
        Line(rtts, [97.0] * len(rtts), "high, by the text of Figure 11", "dashes"),
    ]
    return judge(
        "D.fig9",
        "Paper D, Figure 9: utilization with the buffers of inequality 7",
        HERE,
        {f"utilization-{point.rtt_ms}": point.utilization for point in points},
        testbed={f"utilization-{each.rtt_ms}": each.utilization for each in tested},
        notes=[*NOTES, testbed.note()],
        picture=Picture([Panel(lines, "RTT, ms", "utilization, %")]),
    )
