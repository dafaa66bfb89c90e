"""Figure 12: buffers against inequality 10."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, side_by_side
from forebay.reproduction.papers.yang_2013 import mix, testbed

HERE = Path(__file__).resolve().parent
measure = partial(testbed.measure, drops=True)
NOTES = [
    mix.NOTE,
    "The bound is inequality 10 with our mean of W (as in D.fig10) and the measured deviation of "
    "the sum of all congestion windows, from one traced replication. The paper does not say which "
    "deviation its own bound has.",
]
SAYS = (
    "The print has its buffers above the bound. That comes out with the deviation of eq. 6 alone: "
    "the bound is then so low, at two RTTs below zero, that next to any buffer is above it. With "
    "the deviation measured it does not, for the sum of the windows varies several times as much."
)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    points = mix.points(drops=True, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    wide = [mix.deviation(point, quick) for point in points]  # over that of eq. 6
    bounds = [_bound(point, times) for point, times in zip(points, wide, strict=True)]
    as_eq_6 = [_bound(point, 1.0) for point in points]
    tested = [each for each in testbed.played(drops=True) if each.deviation is not None]
    lines = [
        mix.dots(points, [point.buffer for point in points], "buffer"),
        Line(rtts, bounds, "least by inequality 10, deviation measured", "dashes"),
        Line(rtts, as_eq_6, "least by inequality 10, deviation of eq. 6", "line"),
        mix.dots(tested, [_least(each) for each in tested], testbed.LABEL),
    ]
    return judge(
        "yang-2013/fig12",
        "Yang et al. 2013, Figure 12: buffers against inequality 10",
        HERE,
        _spare(points, bounds),
        testbed={f"spare-{each.rtt_ms}": each.buffer - _least(each) for each in tested},
        notes=[*NOTES, testbed.note()],
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
        variants=side_by_side(
            HERE,
            {"deviation measured": _spare(points, bounds), "of eq. 6": _spare(points, as_eq_6)},
            SAYS,
        ),
    )


def _spare(points: list[Any], bounds: list[float]) -> dict[str, float]:
    found = zip(points, bounds, strict=True)
    return {f"spare-{point.rtt_ms}": point.buffer - bound for point, bound in found}


def _bound(point: Any, times: float) -> float:
    return float(mix.least_buffer(point.window, point.bdp, times))


def _least(tested: Any) -> float:
    return float(mix.least_buffer(tested.window.value, tested.bdp, tested.deviation.value))
