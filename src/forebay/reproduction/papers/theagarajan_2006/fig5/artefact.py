"""Figure 5: loss of the video against the buffer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import Progress, Reproduction, judge
from forebay.reproduction.papers.theagarajan_2006 import bottleneck

HERE = Path(__file__).resolve().parent
measure = bottleneck.measure
VIDEOS = (1, 2)
NAMES = {1: "one video", 2: "two videos"}
TURN, FAR = 35, 100  # packets: where loss turns in the paper; where its rise must be seen
NOTES = [
    "The same runs as Figure 4's. Loss of the video: packets dropped at the bottleneck over "
    "packets that arrived there.",
    "Whether a larger buffer can harm such traffic at all, and when, is a page of its own: "
    "docs/explanation/when-more-buffer-hurts-udp.md.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every buffer with one and two videos; ``quick`` takes six buffers and 60 s."""
    made = bottleneck.curves(VIDEOS, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    curves = {
        videos: [(buffer, percent(classes[1].loss_rate)) for buffer, classes in points]
        for videos, points in made.items()
    }
    tested = {videos: bottleneck.testbed_curve(videos, "udp_loss") for videos in VIDEOS}
    return judge(
        "theagarajan-2006/fig5",
        "Theagarajan et al. 2006, Figure 5: loss of the video against the buffer",
        HERE,
        _all(curves),
        testbed=_all(tested) if bottleneck.complete(tested) else {},
        notes=[*NOTES, bottleneck.note()],
        picture=_picture(curves, tested),
    )


def _all(curves: dict[int, list[tuple[int, Any]]]) -> dict[str, float]:
    return {
        f"{name}-{videos}": value
        for videos, curve in curves.items()
        for name, value in _numbers(curve).items()
    }


def _numbers(curve: list[tuple[int, Any]]) -> dict[str, float]:
    loss = {buffer: metric.value for buffer, metric in curve}
    return {
        "falls": loss[18] / loss[TURN] - 1,
        "minimum": min(loss, key=lambda buffer: loss[buffer]),
        "rises": loss[FAR] / loss[TURN] - 1,
    }


def _picture(
    curves: dict[int, list[tuple[int, Any]]], tested: dict[int, list[tuple[int, Any]]]
) -> Picture:
    lines = []
    for videos, curve in curves.items():
        lines.append(bottleneck.line(curve, NAMES[videos]))
        bounds = [(b, end) for b, m in curve for end in (m.low, m.high) if end is not None]
        ends = [b for b, _ in bounds], [end for _, end in bounds]
        lines.append(Line(*ends, f"{NAMES[videos]}, 95 %", "dots"))
    lines += [
        bottleneck.line(curve, f"{NAMES[videos]}, testbed", "dashes")
        for videos, curve in tested.items()
    ]
    return Picture([Panel(lines, "buffer, packets", "video packets lost, %")])
