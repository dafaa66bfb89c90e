"""Figure 4: TCP throughput by buffer, with no, one and two videos."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, Variants, judge, side_by_side
from forebay.reproduction.papers.theagarajan_2006 import bars, bottleneck, shaper

HERE = Path(__file__).resolve().parent
measure = bottleneck.measure
VIDEOS = (0, 1, 2)
NAMES = ("no video", "one video", "two videos")
SHARE = 0.98
OPERATING = 35  # packets
BARS_AT = (35, 62, 100)  # packets
BARS = ("bars-with-video", "bars-smooth")
NOTES = [
    "TCP throughput as iperf tells it, payload only: 1448 of 1514 bytes of Ethernet frame, with "
    "which the printed 20.08 Mbit/s is exactly a full link.",
    "Saturation is the highest point of a curve up to 150 packets; the buffer for 98 % of it is "
    "interpolated. Where 18 packets, the least of the paper's router, are enough, it says 18.",
    "The printed saturations leave 0.80 and 1.38 Mbit/s for one and two videos that the text "
    "gives as 1.3 Mbit/s each.",
]

Curves = dict[int, list[tuple[int, Any]]]  # by videos: buffer and throughput


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every buffer with each number of videos; ``quick`` uses six buffers and 60 s."""
    made = bottleneck.curves(VIDEOS, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    curves = _curves(made)
    variants = None if quick else _variants(curves, seeds, jobs)
    tested = {videos: bottleneck.testbed_curve(videos, "tcp_bps") for videos in VIDEOS}
    return judge(
        "theagarajan-2006/fig4",
        "Theagarajan et al. 2006, Figure 4: TCP throughput against the buffer",
        HERE,
        _numbers(curves) | _bars(curves, quick, jobs),
        testbed=_numbers(tested) if bottleneck.complete(tested) else {},
        notes=[*NOTES, bottleneck.note()],
        picture=_picture(curves, tested),
        variants=variants,
    )


def _curves(made: Mapping[int, list[bottleneck.Point]]) -> Curves:
    return {
        videos: [(buffer, bottleneck.megabits(classes)) for buffer, classes in points]
        for videos, points in made.items()
    }


def _variants(chosen: Curves, seeds: int, jobs: int) -> Variants:
    """Run the shaper's variants: their rows are shown, but the chosen one has the verdict."""
    others = bottleneck.under_each(VIDEOS, seeds=seeds, jobs=jobs)
    found = {shaper.CHOSEN: _numbers(chosen)}
    found |= {name: _numbers(_curves(made)) for name, made in others.items()}
    return side_by_side(HERE, found, shaper.SAYS, left_out=BARS)


def _numbers(curves: Curves) -> dict[str, Any]:
    top = {videos: max((m for _, m in curve), key=_value) for videos, curve in curves.items()}
    asked = {videos: _reaches(curve, SHARE * top[videos].value) for videos, curve in curves.items()}
    lowered = [
        above.value - below.value
        for more in (1, 2)
        for (_, above), (_, below) in zip(curves[more - 1], curves[more], strict=True)
    ]
    return {
        **{f"saturation-{videos}": metric for videos, metric in top.items()},
        **{f"buffer-{videos}": packets for videos, packets in asked.items()},
        "more-with-one": asked[1] - asked[0],
        "more-with-two": asked[2] - asked[1],
        "lower": min(lowered),
        "operating-point": 100 * dict(curves[1])[OPERATING].value / top[1].value,
    }


def _bars(curves: Curves, quick: bool, jobs: int) -> dict[str, float]:
    """Compare the deviations of readings of 10 s, Mbit/s."""
    bar = {
        (videos, buffer): bottleneck.PAYLOAD
        * 1e-6
        * bars.deviation(bottleneck.scenario_of(videos, buffer, 60), [0], quick=quick, jobs=jobs)
        for videos in (0, 1)
        for buffer in BARS_AT
    }
    falls = [low.value - high.value for (_, low), (_, high) in pairwise(curves[1])]
    return {
        "bars-with-video": min(bar[1, buffer] / bar[0, buffer] for buffer in BARS_AT),
        "bars-smooth": max(falls) / min(bar[1, buffer] for buffer in BARS_AT),
    }


def _value(metric: Any) -> float:
    return float(metric.value)


def _reaches(curve: list[tuple[int, Any]], wanted: float) -> float:
    """Return the buffer at which a curve first reaches a throughput, packets."""
    if curve[0][1].value >= wanted:
        return float(curve[0][0])
    pairs = pairwise(curve)
    (b0, y0), (b1, y1) = next((a, b) for a, b in pairs if b[1].value >= wanted)
    return float(b0 + (wanted - y0.value) / (y1.value - y0.value) * (b1 - b0))


def _picture(curves: Curves, tested: Curves) -> Picture:
    lines = [bottleneck.line(curve, NAMES[videos]) for videos, curve in curves.items()]
    lines += [
        bottleneck.line(curve, f"{NAMES[videos]}, testbed", "dashes")
        for videos, curve in tested.items()
    ]
    stated = {0: (27, 20.08), 1: (48, 19.32), 2: (62, 18.76)}
    x = [packets for packets, _ in stated.values()]
    y = [SHARE * rate for _, rate in stated.values()]
    lines.append(Line(x, y, "98 % of saturation, as printed", "dots"))
    return Picture([Panel(lines, "buffer, packets", "TCP throughput, Mbit/s")])
