"""Section 5.1 on loss, goodput and fairness, timeouts and small windows; section 6 on few flows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import LINK, Reproduction, Work, artefact, chart, need, value
from forebay.reproduction.papers.appenzeller_2004.readings import readings

FLOWS = (50, 100, 200)
SIZES = ("1 bdp/sqrt(n)", "1 bdp")


@dataclass(frozen=True, slots=True)
class Point:
    """One run: loss rate, its value by the paper's formula, goodput in % of the link, fairness."""

    loss: float
    law: float
    goodput: float
    jain: float


@artefact()
def goodput_loss_fairness(work: Work) -> Reproduction:
    """Run every number of flows with both buffers; ``quick`` once."""
    work = work.once_if_quick()
    small, full = _points(work, ())
    ours = _compared(small, full)

    def numbers(alone: Work, sets: Iterable[str]) -> dict[str, float]:
        return _compared(*_points(alone, sets))

    variants = work.under_each(readings(80), ours, numbers)
    return work.judge(ours, picture=_three(small, full), variants=variants)


def _points(work: Work, sets: Iterable[str]) -> tuple[list[Point], list[Point]]:
    """Run every number of flows with the small buffer, and with the large one."""

    def run(part: Work, n: int, size: str) -> Point:
        asked = [f"traffic.0.flows={n}", f"queue.size={size}", *sets]
        scenario, outcome = part.load(asked), part.run(asked)
        link, flows = outcome.links[LINK], outcome.classes[0]
        if not (link.loss_rate and flows.goodput_bps and flows.jain):
            raise ValueError("loss, goodput or fairness was not measured")
        window = (scenario.bdp_packets + scenario.buffer_packets) / n
        goodput = 100 * flows.goodput_bps.value / scenario.link.rate
        return Point(link.loss_rate.value, 0.76 / window**2, goodput, flows.jain.value)

    found = work.over([(n, size) for n in FLOWS for size in SIZES], run)
    small, full = ([found[n, size] for n in FLOWS] for size in SIZES)
    return small, full


def _compared(small: list[Point], full: list[Point]) -> dict[str, float]:
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


def _three(small: list[Point], full: list[Point]) -> Picture:
    def lines(read: Callable[[Point], float], label: str = "", kind: Any = "line") -> list[Line]:
        pairs = (("bdp/√n", small), ("bdp", full))
        return [Line(FLOWS, [read(p) for p in which], label + of, kind) for of, which in pairs]

    loss = lines(lambda p: 100 * p.loss)
    formula = lines(lambda p: 100 * p.law, "0.76/w², ", "dashes")
    curves = {
        "loss, %": [*loss, *formula],
        "goodput, % of the link": lines(lambda p: p.goodput),
        "Jain's index": lines(lambda p: p.jain),
    }
    return Picture([Panel(of, "long flows", y) for y, of in curves.items()], columns=3)


SMALL_FLOWS = (100, 250, 500, 800, 1200)
LADDER, TARGET = (0.25, 0.5, 1.0, 2.0), 0.98  # multiples of bdp/sqrt(n)


@artefact()
def small_windows(work: Work) -> Reproduction:
    """Windows below two packets, and timeouts by buffer; ``quick`` once."""

    def run(part: Work, n: int, step: float) -> tuple[float, float]:
        sets = [f"traffic.0.flows={n}", f"queue.size={step} bdp/sqrt(n)"]
        outcome, minutes = part.run(sets), part.load(sets).measure.duration / 60
        timeouts = value(outcome.classes[0].timeouts) / n / minutes
        return value(outcome.links[LINK].utilization), timeouts

    points = [(n, step) for n in SMALL_FLOWS for step in LADDER]
    found = work.once_if_quick(2).over(points, run)
    timeouts = {n: found[n, 1.0][1] for n in SMALL_FLOWS}
    needs = {n: need(LADDER, [found[n, step][0] for step in LADDER], TARGET) for n in SMALL_FLOWS}
    fewer = [found[n, 0.25][1] / found[n, 2.0][1] for n in SMALL_FLOWS if n <= 500]
    ours = {
        "frequent": min(timeouts[n] for n in (800, 1200)) / timeouts[250],
        "more-buffer": min(needs[n] for n in (800, 1200)) / needs[250],
        "small-buffers": min(fewer),
    }
    lines = [
        Line(LADDER, [found[n, step][1] for step in LADDER], f"{n} flows") for n in SMALL_FLOWS
    ]
    picture = chart(lines, "buffer, bdp/√n", "timeouts of a flow in a minute")
    return work.judge(ours, picture=picture)


USERS, BDP = 1500, 217
BUFFERS, QUICK_BUFFERS = (BDP, 750, 1500, 3000, 6000, 9000), (BDP, 6000)
ENOUGH = 6000  # four packets a flow


@artefact()
def morris(work: Work) -> Reproduction:
    """More flows than packets in flight; ``quick`` only the two buffers compared, once."""
    scenario = work.load()

    def run(part: Work, buffer: int) -> tuple[float, float, float]:
        outcome = part.play(scenario.with_buffer(buffer))
        flows, minutes = outcome.classes[0], scenario.measure.duration / 60
        used = value(outcome.links[LINK].utilization)
        return value(flows.timeouts) / USERS / minutes, value(flows.jain), used

    found = work.once_if_quick().over(QUICK_BUFFERS if work.quick else BUFFERS, run)
    few, many = found[BDP], found[ENOUGH]
    ours = {
        "bdp": scenario.bdp_packets,
        "fraction": scenario.bdp_packets / USERS,
        "timeouts": few[0],
        "cured": 100 * many[0] / few[0],
        "fairness": many[1] / few[1],
        "utilization": 100 * (many[2] - few[2]),
    }
    x = [buffer / USERS for buffer in found]
    names = ("timeouts of a flow in a minute", "Jain's index", "utilization")
    panels = [
        Panel([Line(x, [point[i] for point in found.values()])], "buffer, packets a flow", name)
        for i, name in enumerate(names)
    ]
    return work.judge(ours, picture=Picture(panels, columns=3))


SHARES = (4, 16, 64)  # n: the flow may take C/n
STEPS = (0.25, 1.0)  # multiples of bdp/sqrt(n)


@artefact()
def one_nth(work: Work) -> Reproduction:
    """A long flow on an uncongested link gets 1/n with a buffer of bdp/sqrt(n); ``quick`` twice."""

    def share(part: Work, n: int, step: float) -> float:
        sets = [f"queue.size={step / math.sqrt(n)} bdp"]
        return value(part.run(sets).classes[0].throughput_bps) / part.load(sets).link.rate

    work = work.at_most(2) if work.quick else work
    found = work.over([(n, step) for n in SHARES for step in STEPS], share)
    ours = {
        "enough": min(found[n, 1.0] * n for n in SHARES),
        "needed": max(found[n, 0.25] * n for n in SHARES),
        "penalized": found[64, 1.0] / found[4, 1.0],
    }
    lines = [
        Line(SHARES, [100 * found[n, step] for n in SHARES], f"{step:g} × bdp/√n") for step in STEPS
    ]
    lines.append(Line(SHARES, [100 / n for n in SHARES], "1/n", "dashes"))
    label = "throughput of the long flow, % of the link"
    return work.judge(ours, picture=chart(lines, "n", label, log="xy"))


FEW = (1, 4, 8)
MULTIPLES, QUICK_MULTIPLES = (0.125, 0.25, 0.5, 1.0, 1.5), (0.5, 1.0)


@artefact()
def villamizar_song(work: Work) -> Reproduction:
    """Few flows need a bandwidth-delay product; ``quick`` with two buffers, once."""

    def used(part: Work, n: int, size: str) -> Any:
        sets = [f"traffic.0.flows={n}", f"queue.size={size}"]
        return percent(part.run(sets).links[LINK].utilization)

    sizes = QUICK_MULTIPLES if work.quick else MULTIPLES
    points = [(n, f"{size} bdp") for n in FEW for size in sizes] + [(8, "1 bdp/sqrt(n)")]
    found = work.once_if_quick().over(points, used)
    ours = {f"full-{n}": found[n, "1.0 bdp"] for n in FEW}
    ours |= {f"half-{n}": found[n, "0.5 bdp"] for n in FEW}
    lines = [
        Line(sizes, [value(found[n, f"{size} bdp"]) for size in sizes], f"{n} flow{'s' * (n > 1)}")
        for n in FEW
    ]
    return work.judge(
        ours | {"sqrt": found[8, "1 bdp/sqrt(n)"]},
        picture=chart(lines, "buffer, bdp", "utilization, %"),
    )
