"""Section 5.1.1 of paper A: what a small buffer does to loss, goodput and fairness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture, Reproduction, each_with, judge

HERE = Path(__file__).resolve().parent
FLOWS, QUICK = (50, 100, 200), (100,)
SIZES = ("1 bdp/sqrt(n)", "1 bdp")
NOTES = [
    "w is (bdp + B)/n, the mean window that the paper puts into its loss formula. Goodput is the "
    "share of the link.",
]


@dataclass(frozen=True, slots=True)
class Point:
    """One run: loss rate, the paper's formula for it, goodput in % of the link, Jain's index."""

    loss: float
    law: float
    goodput: float
    jain: float


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Run every number of flows with both buffers; ``quick`` one number, once."""
    flows, seeds = (QUICK, 1) if quick else (FLOWS, seeds)
    points = [(n, size) for n in flows for size in SIZES]
    found = {point: _run(*point, seeds, jobs, part) for point, part in each_with(progress, points)}
    small, full = ([found[n, size] for n in flows] for size in SIZES)
    return judge(
        "A.goodput-loss-fairness",
        "Paper A, section 5.1.1: loss, goodput and fairness with bdp/sqrt(n) and bdp",
        HERE,
        _numbers(small, full),
        notes=NOTES,
        picture=_picture(flows, small, full),
    )


def _numbers(small: list[Point], full: list[Point]) -> dict[str, float]:
    pairs = list(zip(small, full, strict=True))
    laws = [each.loss / each.law for each in (*small, *full)]
    grown = [a.loss / b.loss for a, b in pairs]
    unfair = [b.jain - a.jain for a, b in pairs]
    return {
        "law": max(laws),
        "law-least": min(laws),
        "rises": min(grown),
        "four": max(grown),
        "goodput": max(b.goodput - a.goodput for a, b in pairs),
        "fairness": min(unfair),
        "fairness-little": max(unfair),
    }


def _run(
    n: int, size: str, seeds: int, jobs: int, progress: Callable[[float], None] | None
) -> Point:
    changes = [f"traffic.0.flows={n}", f"queue.size={size}"]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    link, flows = outcome.links["bottleneck"], outcome.classes[0]
    if not (link.loss_rate and flows.goodput_bps and flows.jain):
        raise ValueError("loss, goodput or fairness was not measured")
    window = (scenario.bdp_packets + scenario.buffer_packets) / n
    goodput = 100 * flows.goodput_bps.value / scenario.link.rate
    return Point(link.loss_rate.value, 0.76 / window**2, goodput, flows.jain.value)


def _picture(flows: tuple[int, ...], small: list[Point], full: list[Point]) -> Picture:
    def panel(name: str, read: Callable[[Point], float]) -> Panel:
        pairs = (("bdp/√n", small), ("bdp", full))
        lines = [Line(flows, [read(each) for each in which], label) for label, which in pairs]
        return Panel(lines, "long flows", name)

    loss, law = panel("loss, %", lambda p: 100 * p.loss), panel("", lambda p: 100 * p.law)
    formula = [Line(line.x, line.y, f"0.76/w², {line.label}", "dashes") for line in law.lines]
    return Picture(
        [
            Panel([*loss.lines, *formula], "long flows", "loss, %"),
            panel("goodput, % of the link", lambda p: p.goodput),
            panel("Jain's index", lambda p: p.jain),
        ],
        columns=3,
    )
