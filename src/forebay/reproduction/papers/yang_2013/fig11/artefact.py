"""Figure 11: utilization and drops with the buffers of inequality 14."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, Variants, judge, side_by_side
from forebay.reproduction.papers.yang_2013 import mix, testbed

HERE = Path(__file__).resolve().parent
measure = partial(testbed.measure, drops=True)
NOTES = [
    mix.NOTE,
    "Drops are counted at the queue: packets dropped over packets that arrived.",
]
SAYS = (
    "The lowest drop rate, printed 0.5 %, comes out with round trips that differ by a few per "
    "cent or with jitter, the lowest utilization with the first of these and nearest on a tick. "
    "Drops below 1 % at 28 ms come out with none: what else kept them there is not known."
)


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run the mix at the three RTTs; ``quick`` measures 10 s."""
    points = mix.points(drops=True, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    rtts = [float(point.rtt_ms) for point in points]
    tested = testbed.played(drops=True)
    used = [
        mix.dots(points, [point.utilization.value for point in points], "ours"),
        mix.dots(tested, [each.utilization.value for each in tested], testbed.LABEL),
        Line(rtts, [97.39] * len(rtts), "as printed, the least", "dashes"),
    ]
    dropped = [
        mix.dots(points, [point.loss.value for point in points], "ours"),
        mix.dots(tested, [each.loss.value for each in tested], testbed.LABEL),
        Line(rtts, [1.0] * len(rtts), "φ", "dashes"),
    ]
    panels = [
        Panel(used, "RTT, ms", "utilization, %"),
        Panel(dropped, "RTT, ms", "drop rate, %"),
    ]
    return judge(
        "yang-2013/fig11",
        "Yang et al. 2013, Figure 11: utilization and drops with the buffers of inequality 14",
        HERE,
        _numbers(points),
        testbed=_numbers(tested) if len(tested) == len(points) else {},
        notes=[*NOTES, testbed.note()],
        picture=Picture(panels, columns=2),
        variants=None if quick else _variants(points, seeds, jobs),
    )


def _numbers(points: list[Any]) -> dict[str, Any]:
    """Return the claims' numbers of three points, the simulation's or the testbed's."""
    return {
        "utilization": min((each.utilization for each in points), key=_value),
        "least-drops": min((each.loss for each in points), key=_value),
        **{f"drops-{each.rtt_ms}": each.loss for each in points},
    }


def _value(metric: Any) -> float:
    return float(metric.value)


def _variants(points: list[Any], seeds: int, jobs: int) -> Variants:
    others = mix.under_each(drops=True, seeds=seeds, jobs=jobs)
    found = {mix.CHOSEN: points, **others}
    return side_by_side(HERE, {name: _numbers(each) for name, each in found.items()}, SAYS)
