"""Figure 12: the buffer at which the completion time of short flows is 12.5 % higher."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
LOAD, INCREASE = 0.8, 0.125
RATES, LENGTHS = (40, 80, 200), (6, 14, 30, 62)
STEPS = (0.0625, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5)  # of the model's buffer
PACKETS, QUICK_PACKETS = 120_000, 60_000
RTTS = {100: '{uniform=["80 ms","120 ms"]}', 50: '{uniform=["40 ms","60 ms"]}'}
NOTES = [
    "Increase over a buffer of 20,000 packets on the same draws; the need is read off between the "
    "buffers tried (1/16 to 1.5 of the model's).",
]
Next = Iterator[Progress | None]
Point = tuple[int, int, int]  # Mbit/s, packets, mean RTT in ms


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every length at every rate; ``quick`` half as long."""
    points = [(rate, length, 100) for rate in RATES for length in LENGTHS] + [(80, 14, 50)]
    parts = shares(progress, len(points) * (len(STEPS) + 1))
    packets = QUICK_PACKETS if quick else PACKETS
    needs = {point: _need(point, packets, seeds, jobs, parts) for point in points}
    return judge(
        "appenzeller-2004/fig12",
        "Appenzeller et al. 2004, Figure 12: buffer for completion times 12.5 % above the least",
        HERE,
        _numbers(needs, RATES, LENGTHS),
        notes=NOTES,
        picture=_picture(needs, RATES, LENGTHS),
    )


def _numbers(
    needs: dict[Point, float], rates: tuple[int, ...], lengths: tuple[int, ...]
) -> dict[str, float]:
    by_length = {at: [needs[rate, at, 100] for rate in rates] for at in lengths}
    means = {at: float(np.mean(found)) for at, found in by_length.items()}
    apart = [abs(need / means[at] - 1) for at, found in by_length.items() for need in found]
    growth = [means[b] / means[a] - 1 for a, b in pairwise(lengths)]
    return {
        "coincide": 100 * max(apart),
        "rtt": 100 * (needs[80, 14, 50] / needs[80, 14, 100] - 1),
        "bound": 100 * max(need / model(at) for at, found in by_length.items() for need in found),
        "close": 100 * min(means[at] / model(at) for at in lengths),
        "grows": 100 * min(growth),
    }


def model(length: int) -> float:
    """The paper's curve: the buffer with P(Q > B) = 0.025."""
    bursts = forebay.laws.bursts.Bursts.of_lengths([length])
    return float(forebay.laws.completion_time.buffer(LOAD, bursts))


def _need(point: Point, packets: int, seeds: int, jobs: int, parts: Next) -> float:
    """Smallest buffer in packets with an increase of at most 12.5 %."""
    buffers = [max(1, round(step * model(point[1]))) for step in STEPS]
    least = _afct(point, 20_000, packets, seeds, jobs, next(parts))
    rise = [_afct(point, b, packets, seeds, jobs, next(parts)) / least - 1 for b in buffers]
    falling = np.minimum.accumulate(rise)
    found = np.interp(INCREASE, falling[::-1], np.log(buffers)[::-1], left=math.nan)
    return float(np.exp(found))


def _afct(
    point: Point,
    buffer: int,
    packets: int,
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> float:
    rate, length, rtt = point
    changes = [
        f"link.rate={rate} Mbit/s",
        f"traffic.0.length={length} packets",
        f"traffic.0.rtt={RTTS[rtt]}",
        f"queue.size={buffer} packets",
        f"measure.duration={packets * 12_000 / (LOAD * rate * 1e6):.3f} s",
    ]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    short = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress).classes[0]
    # With far smaller buffers, flows last longer than the window: a lower bound of it suffices.
    means = [each.mean for each in (short.fct_s, short.fct_least_s) if each and each.mean]
    return means[0].value if means else math.nan


def _picture(
    needs: dict[Point, float], rates: tuple[int, ...], lengths: tuple[int, ...]
) -> Picture:
    fine = list(range(2, max(lengths) + 1))
    lines = [Line(fine, [model(at) for at in fine], "M/G/1, P(Q > B) = 0.025")]
    for rate in rates:
        ours = [needs[rate, at, 100] for at in lengths]
        lines.append(Line(lengths, ours, f"{rate} Mbit/s", "dots"))
    return Picture([Panel(lines, "flow length, packets", "buffer, packets")])
