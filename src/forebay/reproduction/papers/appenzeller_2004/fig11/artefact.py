"""Figure 11: the buffer for 98, 99.5 and 99.9 % of an OC3."""

from __future__ import annotations

import math
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
TARGETS = (0.98, 0.995, 0.999)
FLOWS, QUICK = (10, 50, 100, 250, 500), (350,)
OF_MANY_N = ("few", "between")  # claims on numbers of flows that a quick run omits
MANY = 250
MOST_SEEDS, FEWEST_SEEDS = 4, 16  # runs of ten flows differ most
Needs = dict[tuple[int, float], float]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Size every number of flows for every target; ``quick`` only one number."""
    flows, seeds = (QUICK, 1) if quick else (FLOWS, min(seeds, MOST_SEEDS))
    points = [(n, target) for n in flows for target in TARGETS]
    needs: Needs = {
        point: _size(*point, seeds, jobs, part, quick)
        for point, part in each_with(progress, points)
    }
    return judge(
        "appenzeller-2004/fig11",
        "Appenzeller et al. 2004, Figure 11: buffer for 98, 99.5 and 99.9 % of an OC3 at 80 ms",
        HERE,
        _numbers(needs, [n for n in flows if n >= MANY]),
        left_out=OF_MANY_N if quick else (),
        picture=_picture(needs, flows),
    )


def _numbers(needs: Needs, many: list[int]) -> dict[str, float]:
    low, middle, high = TARGETS
    twice = [needs[n, high] / needs[n, low] for n in many]
    apart = [
        100 * min(needs[n, middle] / needs[n, low] - 1, needs[n, high] / needs[n, middle] - 1)
        for n, target in needs
        if target == middle
    ]
    fewest = min(n for n, _ in needs)
    return {
        "holds": _farthest([100 * needs[n, low] / _law(n) for n in many]),
        "few": 100 * needs[fewest, low] / _law(fewest),
        "twice": sum(twice) / len(twice),
        "between": min(apart),
    }


def _farthest(shares: list[float]) -> float:
    """Return the share that differs most from 100 %, in percent."""
    return max(shares, key=lambda share: abs(share - 100))


def _size(
    n: int,
    target: float,
    seeds: int,
    jobs: int,
    progress: Progress | None,
    quick: bool,
) -> float:
    changes = [f"traffic.0.flows={n}", f"goals.utilization={target}"]
    if quick:
        changes += ["measure.warmup=15 s", "measure.duration=15 s"]
    elif n < MANY:  # few flows have long cycles
        changes += ["measure.warmup=30 s", "measure.duration=90 s"]
        seeds = FEWEST_SEEDS if n == min(FLOWS) else seeds
    scenario = forebay.load(HERE / "scenario.toml", changes)
    # The whole search, however slow the machine: a row must not depend on a clock.
    found = forebay.size(
        scenario, seeds=seeds, max_seeds=seeds, jobs=jobs, progress=progress, budget="24 h"
    )
    document = found.to_dict()
    return math.nan if document["buffer"] is None else float(document["buffer"]["packets"])


def _law(n: int) -> float:
    scenario = forebay.load(HERE / "scenario.toml")
    return float(forebay.laws.sqrt_n.buffer(scenario.bdp_packets, n))


def _picture(needs: Needs, flows: tuple[int, ...]) -> Picture:
    law = [_law(n) for n in flows]
    lines = [Line(flows, law, "bdp/√n"), Line(flows, [2 * b for b in law], "2 bdp/√n", "dashes")]
    for target in TARGETS:
        sized = [n for n in flows if (n, target) in needs]
        ours = [needs[n, target] for n in sized]
        lines.append(Line(sized, ours, f"{100 * target:g} %", "dots"))
    return Picture([Panel(lines, "long flows", "buffer, packets")])
