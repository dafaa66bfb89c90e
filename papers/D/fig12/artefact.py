"""Figure 12 of paper D: buffers against inequality 10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, Reproduction, beside, judge

HERE = Path(__file__).resolve().parent
mix: Any = beside(HERE, "mix")  # what the figures of these runs share
testbed: Any = beside(HERE, "testbed")
measure = partial(testbed.measure, drops=True)
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
    tested = testbed.played(drops=True)
    lines = [
        mix.dots(points, [point.buffer for point in points], "buffer"),
        Line(rtts, bounds, "least by inequality 10", "dashes"),
        mix.dots(tested, [_least(each) for each in tested], testbed.LABEL),
    ]
    return judge(
        "D.fig12",
        "Paper D, Figure 12: buffers against inequality 10",
        HERE,
        {
            f"spare-{point.rtt_ms}": point.buffer - bound
            for point, bound in zip(points, bounds, strict=True)
        },
        testbed={f"spare-{each.rtt_ms}": each.buffer - _least(each) for each in tested},
        notes=[*NOTES, testbed.note()],
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )


def _least(tested: Any) -> float:
    return float(mix.least_buffer(tested.window.value, tested.bdp))
