"""Figure 10: mean of the aggregate against inequality 1."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from forebay.report import Line, Panel, Picture, scaled
from forebay.reproduction import Progress, Reproduction, judge
from forebay.reproduction.papers.yang_2013 import mix, testbed

HERE = Path(__file__).resolve().parent
measure = partial(testbed.measure, drops=False)
NOTES = [
    mix.NOTE,
    "W is what the network holds: utilization times BDP, and the mean queue. The bound is eq. 8, "
    "inequality 1 with the deviation of eq. 6.",
    "The deviation is that of the sum of all congestion windows in one traced replication.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    points = mix.points(drops=False, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    bounds = [mix.least_mean(point.bdp) for point in points]
    tested = testbed.played(drops=False)
    lines = [
        mix.dots(points, [point.window for point in points], "mean of W, ours"),
        mix.dots(tested, [each.window.value for each in tested], testbed.LABEL),
        Line(rtts, bounds, "least by inequality 1", "dashes"),
    ]
    return judge(
        "yang-2013/fig10",
        "Yang et al. 2013, Figure 10: mean of the aggregate against inequality 1",
        HERE,
        {
            f"ratio-{point.rtt_ms}": point.window / bound
            for point, bound in zip(points, bounds, strict=True)
        }
        | {f"deviation-{point.rtt_ms}": mix.deviation(point, quick) for point in points},
        testbed={
            f"ratio-{each.rtt_ms}": scaled(each.window, 1.0 / mix.least_mean(each.bdp))
            for each in tested
        }
        | {
            f"deviation-{each.rtt_ms}": each.deviation
            for each in tested
            if each.deviation is not None
        },
        notes=[*NOTES, testbed.note()],
        picture=Picture([Panel(lines, "RTT, ms", "packets")]),
    )
