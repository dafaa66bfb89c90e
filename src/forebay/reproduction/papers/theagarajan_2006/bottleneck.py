"""Runs of the bottleneck for Figures 4 and 5: 21 Mbit/s, 40 TCP flows, videos."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, percent, scaled
from forebay.reproduction import Cell, Measured, Metric, each_with, facts, record
from forebay.reproduction.papers.theagarajan_2006 import shaper

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "scenario.toml"
BUFFERS = (18, 22, 27, 31, 35, 40, 48, 55, 62, 75, 100, 150)
QUICK_BUFFERS = (18, 27, 35, 48, 62, 100)
# iperf counts payload; the shaped line has Ethernet frames: 21 x 1448 / 1514 is 20.08.
PAYLOAD = 1448 / 1514
RATE = "21 Mbit/s"

Point = tuple[int, list[Any]]
Progress = Callable[[float], None] | None


def curves(
    videos: tuple[int, ...],
    *,
    seeds: int,
    jobs: int,
    progress: Progress,
    quick: bool,
    reading: str = shaper.CHOSEN,
) -> dict[int, list[Point]]:
    """Return, for each number of videos, the classes (TCP, then video) at each buffer."""
    buffers = QUICK_BUFFERS if quick else BUFFERS
    wanted = [(number, buffer) for number in videos for buffer in buffers]
    made: dict[int, list[Point]] = {number: [] for number in videos}
    for (number, buffer), report in each_with(progress, wanted):
        if report is not None:
            report(0.0)
        made[number].append((buffer, _classes(number, buffer, seeds, jobs, quick, reading)))
    return made


@cache
def _classes(
    videos: int, buffer: int, seeds: int, jobs: int, quick: bool, reading: str
) -> list[Any]:
    """Run one point. Cached, because Figures 4 and 5 have the same runs."""
    scenario = scenario_of(videos, buffer, 60 if quick else 300, reading)
    return forebay.run(scenario, seeds=seeds, jobs=jobs).classes


def under_each(
    videos: tuple[int, ...], *, seeds: int, jobs: int
) -> dict[str, dict[int, list[Point]]]:
    """Run every buffer for each variant but the chosen one."""
    few = min(seeds, shaper.READING_SEEDS)
    return {
        name: curves(videos, seeds=few, jobs=jobs, progress=None, quick=False, reading=name)
        for name in shaper.NAMES
    }


def scenario_of(
    videos: int, buffer: int, seconds: int, reading: str = shaper.CHOSEN
) -> forebay.Scenario:
    """Return the scenario; `seconds` are measured."""
    sets = [*shaper.sets(reading, RATE, buffer), f"measure.duration={seconds} s"]
    if videos:
        sets.append(f"traffic.1.flows={videos}")
    else:  # a class needs flows; one small packet in a second is negligible
        sets += ['traffic.1.rate="1 kbit/s"', "traffic.1.frame_rate=1.0"]
    return forebay.load(SCENARIO, sets)


def line(curve: list[tuple[int, Metric]], name: str, kind: Any = "line") -> Line:
    """Return a curve's values as a line of a figure."""
    return Line([b for b, _ in curve], [metric.value for _, metric in curve], name, kind)


def megabits(classes: list[Any]) -> Any:
    """TCP throughput as reported by iperf, Mbit/s."""
    goodput = classes[0].goodput_bps
    assert goodput is not None
    return scaled(goodput, PAYLOAD / 1e6)


# --- the testbed: both figures use the same runs, which are in this file's folder ----------------


def measure(*, seeds: int = 3, progress: Progress = None, again: bool = False) -> list[str]:
    """Run the buffers of a quick run on the testbed, and record them."""
    asked = range(1, seeds + 1)
    return record(HERE, testbed_cells(), seeds=asked, progress=progress, again=again)


def testbed_cells() -> list[Cell]:
    """Return the testbed's cells: 80 s of real time each."""
    return [
        Cell(key(videos, buffer), _play(videos, buffer))
        for videos in (0, 1, 2)
        for buffer in QUICK_BUFFERS
    ]


def key(videos: int, buffer: int) -> dict[str, int]:
    """Return the key of a point in measured.toml."""
    return {"videos": videos, "packets": buffer}


def _play(videos: int, buffer: int) -> Callable[..., Mapping[str, Any]]:
    scenario = scenario_of(videos, buffer, 60)
    return lambda seed, told: read(forebay.run(scenario, "testbed", seed=seed, progress=told))


def read(outcome: forebay.Outcome) -> dict[str, Any]:
    """Return the record of a run: TCP's packets per second in bit/s, and the video's loss rate."""
    tcp, video = outcome.classes
    assert tcp.goodput_bps is not None and video.loss_rate is not None
    return {
        "tcp_bps": tcp.goodput_bps.value,
        "udp_loss": video.loss_rate.value,
        **facts(outcome),
    }


def testbed_curve(videos: int, name: str) -> list[tuple[int, Metric]]:
    """Return the recorded points of a curve, in iperf's Mbit/s or in percent."""
    measured = Measured(HERE)
    found = [(buffer, measured.metric(key(videos, buffer), name)) for buffer in QUICK_BUFFERS]
    return [(buffer, _shown(metric, name)) for buffer, metric in found if metric is not None]


def complete(curves: Mapping[int, list[tuple[int, Metric]]]) -> bool:
    """Whether every buffer of every curve is recorded."""
    return all(len(curve) == len(QUICK_BUFFERS) for curve in curves.values())


def note() -> str:
    """Return when and on which kernel the testbed ran."""
    return Measured(HERE).note()


def _shown(metric: Metric, name: str) -> Any:
    return scaled(metric, PAYLOAD / 1e6) if name == "tcp_bps" else percent(metric)
