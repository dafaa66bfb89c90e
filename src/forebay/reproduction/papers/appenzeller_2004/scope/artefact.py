"""Section 5.3: windows with a limit need less buffer; latency matters by the bdp alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
LIMITS = {200: 6, 50: 24}  # flows, and packets of their largest window
LADDER = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n)
TARGET = 0.98
LATENCIES_MS = (20, 40, 80, 160, 320)
MIDDLE_MS = 80  # the round trip of scenario.toml
LINUX = ("traffic.0.sender=linux", "traffic.0.initial_window=10")
CASES = {"latency-half": (0.5, ()), "latency-whole": (1.0, ()), "latency-linux": (0.5, LINUX)}
MOST_SEEDS = 2
LATENCY_SEEDS = 8  # a largest difference of five grows with noise, so a quick run has them too
NOTES = [
    "Need: the buffer for 98 %, read off between multiples of bdp/√n; a sixteenth if that is "
    "enough. Of one bdp: the rate goes down as the round trip goes up, times of a run go up.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every limit and latency; ``quick`` limits once."""
    seeds = 1 if quick else min(seeds, MOST_SEEDS)
    parts = shares(progress, 2 * len(LIMITS) * len(LADDER) + len(CASES) * len(LATENCIES_MS))

    def used(multiple: float, many: int, *sets: str) -> float:
        return _utilization((f"queue.size={multiple} bdp/sqrt(n)", *sets), many, jobs, next(parts))

    def curve(flows: int, *sets: str) -> list[float]:
        return [used(step, seeds, f"traffic.0.flows={flows}", *sets) for step in LADDER]

    free = {n: curve(n) for n in LIMITS}
    held = {n: curve(n, f"traffic.0.max_window={most}") for n, most in LIMITS.items()}
    late = {
        name: [100 * used(multiple, LATENCY_SEEDS, *sets, *_of_latency(ms)) for ms in LATENCIES_MS]
        for name, (multiple, sets) in CASES.items()
    }
    ours = {f"limited-{most}": need(held[n]) / need(free[n]) for n, most in LIMITS.items()}
    return judge(
        "appenzeller-2004/scope",
        "Appenzeller et al. 2004, section 5.3: windows with a limit, and latency",
        HERE,
        ours | {name: max(found) - min(found) for name, found in late.items()},
        notes=NOTES,
        picture=_picture(free, held, late),
    )


def _of_latency(ms: int) -> tuple[str, ...]:
    """Return the settings of a round trip: the same bdp, and as many round trips measured."""
    slower = ms / MIDDLE_MS
    return (
        f"link.rate={155 / slower} Mbit/s",
        f'traffic.0.rtt={{uniform=["{0.75 * ms} ms","{1.25 * ms} ms"]}}',
        f'traffic.0.start={{uniform=["0 s","{10 * slower} s"]}}',
        f"measure.warmup={20 * slower} s",
        f"measure.duration={60 * slower} s",
    )


def _utilization(sets: Iterable[str], seeds: int, jobs: int, progress: Progress | None) -> float:
    scenario = forebay.load(HERE / "scenario.toml", list(sets))
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    used = outcome.links["bottleneck"].utilization
    return math.nan if used is None else used.value


def need(reached: list[float]) -> float:
    """Multiple of bdp/sqrt(n) at which the target is first reached, within the ladder."""
    rising = np.maximum.accumulate(reached)
    return float(np.exp(np.interp(TARGET, rising, np.log(LADDER))))


def _picture(
    free: dict[int, list[float]], held: dict[int, list[float]], late: dict[str, list[float]]
) -> Picture:
    limited = [Line(LADDER, [100 * u for u in free[n]], f"{n} flows") for n in LIMITS]
    limited += [
        Line(LADDER, [100 * u for u in held[n]], f"{n} flows, at most {most} packets", "dashes")
        for n, most in LIMITS.items()
    ]
    names = ("half, ns2", "whole, ns2", "half, Linux")
    latency = [
        Line(LATENCIES_MS, found, name) for name, found in zip(names, late.values(), strict=True)
    ]
    return Picture(
        [
            Panel(limited, "buffer, bdp/√n", "utilization, %", log="x"),
            Panel(latency, "mean round trip, ms", "utilization, %", log="x"),
        ],
        columns=2,
    )
