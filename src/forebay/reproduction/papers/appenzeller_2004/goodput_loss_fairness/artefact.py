"""Section 5.1.1: effect of a small buffer on loss, goodput and fairness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, each_with, judge, side_by_side
from forebay.reproduction.papers.appenzeller_2004 import readings as open_choices

HERE = Path(__file__).resolve().parent
SAYS = (
    "0.76 / w² comes out with delayed ACKs, of 40 or of 100 ms, and not with an ACK for each "
    "packet: its constant counts on an ACK for every second packet. Less equal shares with small "
    "buffers come out with a wider spread of round trips alone."
)
FLOWS = (50, 100, 200)
SIZES = ("1 bdp/sqrt(n)", "1 bdp")
NOTES = [
    "w is (bdp + B)/n, the mean window that the paper puts into its loss formula. Goodput is the "
    "share of the link.",
]


@dataclass(frozen=True, slots=True)
class Point:
    """One run: loss rate, its value by the paper's formula, goodput in % of the link, fairness."""

    loss: float
    law: float
    goodput: float
    jain: float


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every number of flows with both buffers; ``quick`` once."""
    flows, seeds = FLOWS, 1 if quick else seeds
    small, full = _points(flows, (), seeds, jobs, progress)
    ours = _numbers(small, full)

    def numbers(sets: Iterable[str]) -> dict[str, float]:
        return _numbers(*_points(flows, sets, seeds, jobs, None))

    under = {} if quick else open_choices.under_each(80, ours, numbers)
    return judge(
        "appenzeller-2004/goodput-loss-fairness",
        "Appenzeller et al. 2004, section 5.1.1: loss, goodput, fairness with bdp/sqrt(n) and bdp",
        HERE,
        ours,
        notes=NOTES,
        picture=_picture(flows, small, full),
        variants=None if quick else side_by_side(HERE, under, SAYS),
    )


def _points(
    flows: tuple[int, ...],
    sets: Iterable[str],
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> tuple[list[Point], list[Point]]:
    """Run every number of flows with the small buffer, and with the large one."""
    wanted = [(n, size) for n in flows for size in SIZES]
    found = {
        (n, size): _run(n, size, sets, seeds, jobs, part)
        for (n, size), part in each_with(progress, wanted)
    }
    small, full = ([found[n, size] for n in flows] for size in SIZES)
    return small, full


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
    n: int,
    size: str,
    sets: Iterable[str],
    seeds: int,
    jobs: int,
    progress: Progress | None,
) -> Point:
    changes = [f"traffic.0.flows={n}", f"queue.size={size}", *sets]
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
