"""Figure 9: utilization with the buffers of inequality 7."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, Variants, judge, side_by_side
from forebay.reproduction.papers.yang_2013 import mix, testbed

HERE = Path(__file__).resolve().parent
measure = partial(testbed.measure, drops=False)
NOTES = [
    mix.NOTE,
    "The paper gives no number for this figure. It calls 97.39 % high (Figure 11).",
]
SAYS = (
    "The print, utilization that is called high, can have come from round trips that differ by a "
    "few per cent. A delay line on a tick of a millisecond, which the router's kernel had, brings "
    "67 ms in, and both together 67 and 90 ms; at 28 ms a tick's packets are twice the buffer. "
    "Jitter of a millisecond is not enough. Round trips of exactly one length synchronize the "
    "flows; those that differ by 20 % let bursts meet, and are worse."
)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
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
        "yang-2013/fig9",
        "Yang et al. 2013, Figure 9: utilization with the buffers of inequality 7",
        HERE,
        _numbers(points),
        testbed={f"utilization-{each.rtt_ms}": each.utilization for each in tested},
        notes=[*NOTES, testbed.note()],
        picture=Picture([Panel(lines, "RTT, ms", "utilization, %")]),
        variants=None if quick else _variants(points, seeds, jobs),
    )


def _numbers(points: list[Any]) -> dict[str, Any]:
    return {f"utilization-{point.rtt_ms}": point.utilization for point in points}


def _variants(points: list[Any], seeds: int, jobs: int) -> Variants:
    others = mix.under_each(drops=False, seeds=seeds, jobs=jobs)
    found = {mix.CHOSEN: points, **others}
    return side_by_side(HERE, {name: _numbers(each) for name, each in found.items()}, SAYS)
