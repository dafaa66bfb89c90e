"""Figure 5: loss of the video by buffer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from forebay.report import Panel, Picture, percent
from forebay.reproduction import Progress, Reproduction, Variants, judge, side_by_side
from forebay.reproduction.papers.theagarajan_2006 import bottleneck, shaper

HERE = Path(__file__).resolve().parent
measure = bottleneck.measure
VIDEOS = (1, 2)
NAMES = {1: "one video", 2: "two videos"}
TURN, FAR = (
    35,
    100,
)  # packets: minimum of the loss in the paper; buffer at which its increase must be visible
NOTES = [
    "The same runs as Figure 4's. Loss of the video: packets dropped at the bottleneck over "
    "packets that arrived there.",
    "Whether a larger buffer can harm such traffic at all, and when, is a page of its own: "
    "docs/explanation/when-more-buffer-hurts-udp.md.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every buffer with one and two videos; ``quick`` uses six buffers and 60 s."""
    made = bottleneck.curves(VIDEOS, seeds=seeds, jobs=jobs, progress=progress, quick=quick)
    curves = _curves(made)
    variants = None if quick else _variants(curves, seeds, jobs)
    tested = {videos: bottleneck.testbed_curve(videos, "udp_loss") for videos in VIDEOS}
    return judge(
        "theagarajan-2006/fig5",
        "Theagarajan et al. 2006, Figure 5: loss of the video against the buffer",
        HERE,
        _all(curves),
        testbed=_all(tested) if bottleneck.complete(tested) else {},
        notes=[*NOTES, bottleneck.note()],
        picture=_picture(curves, tested),
        variants=variants,
    )


def _curves(made: Mapping[int, list[bottleneck.Point]]) -> dict[int, list[tuple[int, Any]]]:
    return {
        videos: [(buffer, percent(classes[1].loss_rate)) for buffer, classes in points]
        for videos, points in made.items()
    }


def _variants(chosen: dict[int, list[tuple[int, Any]]], seeds: int, jobs: int) -> Variants:
    """Run the shaper's variants: their rows are shown, but the chosen one has the verdict."""
    others = bottleneck.under_each(VIDEOS, seeds=seeds, jobs=jobs)
    found = {shaper.CHOSEN: _all(chosen)}
    found |= {name: _all(_curves(made)) for name, made in others.items()}
    return side_by_side(HERE, found, shaper.SAYS)


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
        ends = [(m.low, m.high) for _, m in curve if None not in (m.low, m.high)]
        bounds = ends if len(ends) == len(curve) else ()
        lines.append(replace(bottleneck.line(curve, NAMES[videos]), y_bounds=bounds))
    lines += [
        bottleneck.line(curve, f"{NAMES[videos]}, testbed", "dashes")
        for videos, curve in tested.items()
    ]
    return Picture([Panel(lines, "buffer, packets", "video packets lost, %")])
