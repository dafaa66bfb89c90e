"""Section 5.3: RED and the required buffer, for many flows and for few."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge, shares

HERE = Path(__file__).resolve().parent
TARGET = 0.98
LADDER, QUICK = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0), (0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n)
MANY, FEW = 500, 20
MOST_SEEDS = 2
FEW_RUNS = 64  # the index of single runs is between 0.5 and 4
DISCIPLINES = ("drop-tail", "red")
NOTES = [
    "Need: the buffer for 98 %, read off between multiples of bdp/√n; the ladder's ends where it "
    "lies beyond. Index: var ΣW / Σ var W, 1 for independent flows and n for flows in step.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run both disciplines with every buffer; ``quick`` with three, once."""
    ladder, seeds = (QUICK, 1) if quick else (LADDER, min(seeds, MOST_SEEDS))
    parts = shares(progress, len(DISCIPLINES) * (len(ladder) + 1))
    curves = {
        name: [_utilization(name, step, seeds, jobs, next(parts)) for step in ladder]
        for name in DISCIPLINES
    }
    index = {name: _index(name, next(parts)) for name in DISCIPLINES}
    drop_tail, red = (_need(ladder, curves[name]) for name in DISCIPLINES)
    return judge(
        "appenzeller-2004/red",
        "Appenzeller et al. 2004, section 5.3: RED instead of drop-tail",
        HERE,
        {
            "many": red / drop_tail,
            "more": red / drop_tail,
            "few": index["red"] / index["drop-tail"],
        },
        notes=NOTES,
        picture=_picture(ladder, curves),
    )


def _load(discipline: str, flows: int, size: str) -> forebay.Scenario:
    changes = [
        f"queue.discipline={discipline}",
        f"queue.size={size}",
        f"traffic.0.flows={flows}",
    ]
    if discipline == "red":
        packets = _load("drop-tail", flows, size).buffer_packets
        changes += [f"queue.min={375 * packets} B", f"queue.max={1125 * packets} B"]  # 1/4, 3/4
        changes += ["queue.weight=0.002", "queue.probability=0.1", "queue.gentle=true"]
    return forebay.load(HERE / "scenario.toml", changes)


def _utilization(
    discipline: str,
    step: float,
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> float:
    scenario = _load(discipline, MANY, f"{step} bdp/sqrt(n)")
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    used = outcome.links["bottleneck"].utilization
    return math.nan if used is None else used.value


def _index(discipline: str, progress: Progress | None) -> float:
    """Mean index over the replications."""
    scenario = _load(discipline, FEW, "1 bdp")
    parts = each_with(progress, range(1, FEW_RUNS + 1))
    traces = [forebay.trace(scenario, seed=seed, progress=part) for seed, part in parts]
    known = [each.synchronization.index for each in traces]
    return float(np.mean([math.nan if index is None else index for index in known]))


def _need(ladder: tuple[float, ...], reached: list[float]) -> float:
    """Multiple of bdp/sqrt(n) at which the target is first reached, within the ladder."""
    rising = np.maximum.accumulate(reached)
    return float(np.exp(np.interp(TARGET, rising, np.log(ladder))))


def _picture(ladder: tuple[float, ...], curves: dict[str, list[float]]) -> Picture:
    lines = [Line(ladder, [100 * used for used in ours], name) for name, ours in curves.items()]
    return Picture([Panel(lines, "buffer, bdp/√n", "utilization of 500 flows, %")])
