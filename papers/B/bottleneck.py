"""Runs of paper B's bottleneck, which Figures 4 and 5 share: 21 Mbit/s, 40 TCP flows, videos."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import forebay
from forebay.report import scaled, shares

SCENARIO = Path(__file__).resolve().parent / "scenario.toml"
BUFFERS = (18, 22, 27, 31, 35, 40, 48, 55, 62, 75, 100, 150)
QUICK_BUFFERS = (18, 27, 35, 48, 62, 100)
# iperf counts payload; the shaped line carries Ethernet frames: 21 x 1448 / 1514 is 20.08.
PAYLOAD = 1448 / 1514

Point = tuple[int, list[Any]]
Progress = Callable[[float], None] | None


def curves(
    videos: tuple[int, ...], *, seeds: int, jobs: int, progress: Progress, quick: bool
) -> dict[int, list[Point]]:
    """Return for each number of videos the classes (TCP, then video) at each buffer."""
    buffers = QUICK_BUFFERS if quick else BUFFERS
    wanted = [(number, buffer) for number in videos for buffer in buffers]
    made: dict[int, list[Point]] = {number: [] for number in videos}
    for (number, buffer), report in zip(wanted, shares(progress, len(wanted)), strict=True):
        if report is not None:
            report(0.0)
        made[number].append((buffer, _classes(number, buffer, seeds, jobs, quick)))
    return made


@cache
def _classes(videos: int, buffer: int, seeds: int, jobs: int, quick: bool) -> list[Any]:
    """One point. Kept in memory: `reproduce --all` asks for Figure 5's after Figure 4's."""
    sets = [f"queue.size={buffer} packets", f"measure.duration={60 if quick else 300} s"]
    if videos:
        sets.append(f"traffic.1.flows={videos}")
    else:  # a class of no flows is no scenario; one small packet a second is as good as none
        sets += ['traffic.1.rate="1 kbit/s"', "traffic.1.frame_rate=1.0"]
    return forebay.run(forebay.load(SCENARIO, sets), seeds=seeds, jobs=jobs).classes


def megabits(classes: list[Any]) -> Any:
    """TCP throughput as iperf tells it, Mbit/s."""
    goodput = classes[0].goodput_bps
    assert goodput is not None
    return scaled(goodput, PAYLOAD / 1e6)
