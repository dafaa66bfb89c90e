"""Figure 7: TCP throughput by the buffer of a core that is not the bottleneck."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import (
    Cell,
    Measured,
    Progress,
    Reproduction,
    Variants,
    each_with,
    facts,
    judge,
    record,
    side_by_side,
)
from forebay.reproduction.papers.theagarajan_2006 import bars, shaper

HERE = Path(__file__).resolve().parent
CORE = {0: 9.0, 1: 10.5, 2: 12.0}  # Mbit/s by number of videos: a load of 85 % each time
NAMES = ("no video", "one video", "two videos")
TCP = (0, 2, 4)  # classes: TCP and traffic that leaves before the core, three times; then the video
WANTED = 7.4  # Mbit/s
BARS_AT = 11  # packets
BUFFERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20)
QUICK_BUFFERS = (3, 4, 5, 6, 7, 9, 13)
TESTBED_BUFFERS = (3, 5, 7, 9, 11, 13)
NOTES = [
    "Throughput of 12 TCP flows, whole packets. The buffer for 7.4 Mbit/s is interpolated.",
    "In time the printed buffers are one and the same: 9.5, 11.5 and 13 packets are 12.7, 13.1 and "
    "13.0 ms of 9, 10.5 and 12 Mbit/s.",
]

Curve = list[tuple[int, float]]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every buffer with each number of videos; ``quick`` uses seven buffers and 60 s."""
    buffers = QUICK_BUFFERS if quick else BUFFERS
    wanted = [(videos, buffer) for videos in CORE for buffer in buffers]
    curves: dict[int, Curve] = {videos: [] for videos in CORE}
    for (videos, buffer), report in each_with(progress, wanted):
        scenario = scenario_of(videos, buffer, quick)
        curves[videos].append((buffer, _throughput(scenario, seeds, jobs, report)))
    variants = None if quick else _variants(curves, min(seeds, shaper.READING_SEEDS), jobs)
    tested = _tested()
    return judge(
        "theagarajan-2006/fig7",
        "Theagarajan et al. 2006, Figure 7: TCP over a core that is no bottleneck",
        HERE,
        _numbers(curves) | {"bars": _bars(quick, jobs)},
        testbed=_numbers(tested) if _complete(tested) else {},
        notes=[*NOTES, Measured(HERE).note()],
        picture=_picture(curves, tested),
        variants=variants,
    )


def _throughput(
    scenario: forebay.Scenario, seeds: int, jobs: int, progress: Progress | None = None
) -> float:
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    rates = [outcome.classes[place].goodput_bps for place in TCP]
    return sum(rate.value for rate in rates if rate) / 1e6


def _variants(chosen: dict[int, Curve], seeds: int, jobs: int) -> Variants:
    """Run the shaper's variants: their rows are shown, but the chosen one has the verdict."""
    found = {shaper.CHOSEN: _numbers(chosen)}
    for name in shaper.NAMES:
        curves = {
            videos: [
                (buffer, _throughput(scenario_of(videos, buffer, False, name), seeds, jobs))
                for buffer in BUFFERS
            ]
            for videos in CORE
        }
        found[name] = _numbers(curves)
    return side_by_side(HERE, found, shaper.SAYS, left_out=("bars",))


def _numbers(curves: dict[int, Curve]) -> dict[str, float]:
    asked = {videos: _reaches(curve) for videos, curve in curves.items()}
    tops = [max(rate for _, rate in curve) for curve in curves.values()]
    return {
        "saturation": max(tops, key=lambda top: abs(top - 7.6)),
        **{f"buffer-{videos}": packets for videos, packets in asked.items()},
        "more-with-one": asked[1] - asked[0],
        "more-with-two": asked[2] - asked[1],
    }


def _bars(quick: bool, jobs: int) -> float:
    """Standard error of the mean of 60 readings of 10 s, largest of the three, Mbit/s."""
    scenarios = [scenario_of(videos, BARS_AT, quick=True) for videos in CORE]
    widest = max(bars.deviation(each, TCP, quick=quick, jobs=jobs) for each in scenarios)
    return 1e-6 * widest / math.sqrt(bars.READINGS)


def _tested() -> dict[int, Curve]:
    """Return the testbed's recorded points."""
    measured = Measured(HERE)
    read = {
        videos: [(each, measured.metric(_key(videos, each), "tcp_bps")) for each in TESTBED_BUFFERS]
        for videos in CORE
    }
    return {
        videos: [(at, rate.value / 1e6) for at, rate in curve if rate is not None]
        for videos, curve in read.items()
    }


def _complete(curves: dict[int, Curve]) -> bool:
    return all(len(curve) == len(TESTBED_BUFFERS) for curve in curves.values())


def measure(seeds: int = 2, progress: Progress | None = None, again: bool = False) -> list[str]:
    """Run six buffers with each number of videos on the testbed, 80 s of real time each."""
    return record(HERE, cells(), seeds=range(1, seeds + 1), progress=progress, again=again)


def cells() -> list[Cell]:
    """Return the testbed's cells."""
    return [
        Cell(_key(videos, buffer), _play(videos, buffer))
        for videos in CORE
        for buffer in TESTBED_BUFFERS
    ]


def _key(videos: int, buffer: int) -> dict[str, int]:
    return {"videos": videos, "packets": buffer}


def _play(videos: int, buffer: int) -> Callable[..., Mapping[str, Any]]:
    scenario = scenario_of(videos, buffer, quick=True)
    return lambda seed, told: _read(forebay.run(scenario, "testbed", seed=seed, progress=told))


def _read(outcome: forebay.Outcome) -> dict[str, Any]:
    rates = [outcome.classes[place].goodput_bps for place in TCP]
    tcp = sum(rate.value for rate in rates if rate)
    return {"tcp_bps": tcp, **facts(outcome)}


def scenario_of(
    videos: int, buffer: int, quick: bool, reading: str = shaper.CHOSEN
) -> forebay.Scenario:
    """Return the scenario."""
    return forebay.load(HERE / "scenario.toml", _overrides(videos, buffer, quick, reading))


def _overrides(videos: int, buffer: int, quick: bool, reading: str) -> list[str]:
    sets = shaper.sets(reading, f"{CORE[videos]} Mbit/s", buffer, TCP)
    if quick:
        sets.append("measure.duration=60 s")
    if videos:
        return [*sets, f"traffic.6.flows={videos}"]
    # A class needs flows; one small packet in a second is negligible.
    return [*sets, 'traffic.6.rate="1 kbit/s"', "traffic.6.frame_rate=1.0"]


def _reaches(curve: Curve) -> float:
    """Return the buffer at which a curve first reaches 7.4 Mbit/s, packets."""
    if curve[0][1] >= WANTED:
        return float(curve[0][0])
    pairs = pairwise(curve)
    found = next(((a, b) for a, b in pairs if b[1] >= WANTED), None)
    if found is None:
        return float("nan")
    (b0, y0), (b1, y1) = found
    return b0 + (WANTED - y0) / (y1 - y0) * (b1 - b0)


def _picture(curves: dict[int, Curve], tested: dict[int, Curve]) -> Picture:
    lines = [
        Line([b for b, _ in curve], [rate for _, rate in curve], NAMES[videos])
        for videos, curve in curves.items()
    ]
    for videos, curve in tested.items():
        x, y = [b for b, _ in curve], [rate for _, rate in curve]
        lines.append(Line(x, y, f"{NAMES[videos]}, testbed", "dashes"))
    lines.append(Line([9.5, 11.5, 13.0], [WANTED] * 3, "7.4 Mbit/s, as printed", "dots"))
    return Picture([Panel(lines, "buffer of the core, packets", "TCP throughput, Mbit/s")])
