"""A study of 15,000 runs on an OC3: whom the rule serves, and what 98 to 99.9 % need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from statistics import mean

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge
from forebay.reproduction.papers.appenzeller_2004.oc3_campaign.runs import Cell, Runs, read

HERE = Path(__file__).resolve().parent
MANY, FEW = 250, 100
TARGETS = (0.98, 0.99, 0.995, 0.999)
AGAIN, AGAIN_QUICK = 15, 5
NOTES = [
    "The rows read runs.csv, which ships with this page: 1,500 cells of ten runs. Some of the runs "
    "are made again each time and must have the same digits.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Judge the table, and make some of its runs again; ``quick`` fewer of them."""
    runs = read(HERE / "runs.csv")
    cells = list(runs)
    again = cells[:: len(cells) // (AGAIN_QUICK if quick else AGAIN)]
    same = [_is_same(cell, runs, jobs, part) for cell, part in each_with(progress, again)]
    return judge(
        "appenzeller-2004/oc3-campaign",
        "Appenzeller et al. 2004, section 5.1: 15,000 runs on an OC3",
        HERE,
        _numbers(runs) | {"same": 100 * mean(same)},
        notes=NOTES,
        picture=_picture(runs),
    )


def _is_same(cell: Cell, runs: Runs, jobs: int, progress: Progress | None) -> bool:
    """Whether the first seed's run of a cell has the digits of the table."""
    outcome = forebay.run(scenario_of(cell), seed=1, jobs=jobs, progress=progress)
    used = outcome.links["bottleneck"].utilization
    return used is not None and round(used.value, 5) == runs[cell][0]


def scenario_of(cell: Cell) -> forebay.Scenario:
    """Return the scenario of a cell."""
    sets = [
        f"traffic.0.flows={cell.flows}",
        f'traffic.0.rtt={{uniform=["{cell.rtt_low} ms","{cell.rtt_high} ms"]}}',
        f"queue.size={cell.multiple:g} bdp/sqrt(n)",
    ]
    return forebay.load(HERE / "scenario.toml", sets)


def _numbers(runs: Runs) -> dict[str, float]:
    rule = [cell for cell in runs if cell.flows >= MANY and cell.multiple == 1.0]
    many = sorted({(cell.flows, cell.rtts) for cell in runs if cell.flows >= MANY})
    needs = [(need(runs, *each, 0.98), need(runs, *each, 0.999)) for each in many]
    return {
        "rule-250": _share(runs, lambda cell: cell in rule),
        "rule-250-mean": 100 * min(mean(runs[cell]) for cell in rule),
        "few": _share(runs, lambda cell: cell.flows < FEW and 1.0 <= cell.multiple <= 1.5),
        "half": _share(runs, lambda cell: cell.flows >= MANY and cell.multiple <= 0.5),
        "need-250": 100 * max((low for low, _ in needs), key=lambda each: abs(each - 1.0)),
        "twice": mean(high / low for low, high in needs),
        "runs": sum(map(len, runs.values())),
    }


def _share(runs: Runs, chosen: Callable[[Cell], bool]) -> float:
    """Return the share of the chosen cells' runs that use 98 % of the link, in percent."""
    used = [each for cell, found in runs.items() if chosen(cell) for each in found]
    return 100 * mean(each >= 0.98 for each in used)


def need(runs: Runs, flows: int, rtts: tuple[int, int], target: float) -> float:
    """Return the buffer at which the mean of ten runs crosses a target, in bdp/sqrt(n).

    The idle share is interpolated between two buffers by its logarithm. Infinite if the largest
    buffer does not reach it; the smallest buffer of the table if that does.
    """
    points = [
        (cell.multiple, 1.0 - mean(found))
        for cell, found in runs.items()
        if cell.flows == flows and cell.rtts == rtts
    ]
    allowed = 1.0 - target
    if points[0][1] <= allowed:
        return points[0][0]
    for (low, idle), (high, less) in pairwise(points):
        if less <= allowed:
            there = math.log(idle / allowed) / math.log(idle / max(less, 1e-9))
            return low * math.pow(high / low, there)
    return math.inf


def _picture(runs: Runs) -> Picture:
    ranges = sorted({cell.rtts for cell in runs}, key=lambda each: (each[1] - each[0], each))
    return Picture([_panel(runs, rtts) for rtts in ranges], columns=len(ranges))


def _panel(runs: Runs, rtts: tuple[int, int]) -> Panel:
    flows = sorted({cell.flows for cell in runs})
    lines = [Line(flows, [1.0 for _ in flows], "BDP/√n", "dashes")]
    for target in TARGETS:
        needs = [(n, need(runs, n, rtts, target)) for n in flows]
        lines.append(_line([each for each in needs if math.isfinite(each[1])], f"{target:.1%}"))
    title = f"{rtts[0]} to {rtts[1]} ms"
    return Panel(lines, "long-lived flows", "buffer, BDP/√n", title, log="y")


def _line(points: Iterable[tuple[int, float]], label: str) -> Line:
    every = list(points)
    return Line([n for n, _ in every], [size for _, size in every], label)
