"""Figures 13 and 14, sections 5.1, 5.3 and 6: mixes, RED, limits, loss, fairness, small windows."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture, percent
from forebay.reproduction import LINK, Reproduction, Work, artefact, chart, farthest, need, value
from forebay.reproduction.papers.appenzeller_2004.windows import readings

TARGET = 0.95
NEARLY_ALL = 0.9  # offered by short flows: long flows get a tenth
LADDER = (0.25, 0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n); the verdicts need no more
MIXES = (
    *((n, 20) for n in (1, 10, 50, 100, 200, 400, 500)),
    *((200, length) for length in (6, 62)),
)
WINDOW, ALIKE = 26, (10, 50, 100, 200, 400)  # packets of bdp a flow; numbers of such flows
MOST_SEEDS, FEW, FEW_SEEDS = 2, 10, 4
FEW_TIMES = ("measure.warmup=60 s", "measure.duration=180 s")  # for the reason see README.md
ONE_TIMES = ("measure.warmup=200 s", "measure.duration=800 s")  # half a window takes 130 s


@artefact()
def fig13(work: Work) -> Reproduction:
    """The buffer that a mix needs for 95 %; ``quick`` once, and without the single long flow."""
    work = work.once_if_quick()
    mixes, alike = MIXES[work.quick :], () if work.quick else ALIKE
    parts = work.shares((len(mixes) + len(alike)) * len(LADDER) + 1)
    whole = work.load()
    per_flow = WINDOW * whole.link.capacity / whole.bdp_packets

    def used(n: int, length: int, step: float, short_load: float, *sets: str) -> float:
        times = ONE_TIMES if n == 1 else FEW_TIMES if n <= FEW and not sets else ()
        asked = [
            *sets,
            f"traffic.1.load={short_load}",
            f"traffic.0.flows={n}",
            f"traffic.1.length={length} packets",
            f"queue.size={step} bdp/sqrt(n)",
            *times,
        ]
        return next(parts).at_most(FEW_SEEDS if n <= FEW else MOST_SEEDS).used(asked)

    def needed(n: int, length: int, *sets: str) -> float:
        return need(LADDER, [used(n, length, step, 0.2, *sets) for step in LADDER], TARGET)

    needs = {mix: needed(*mix) for mix in mixes}
    # Where the rate goes with the number of long flows.
    same = {(n, 20): needed(n, 20, f"link.rate={n * per_flow / 1e6:.3f} Mbit/s") for n in alike}
    shares = {mix: 100 * share for mix, share in needs.items()}
    ours = {
        "enough": farthest([shares[mix] for mix in mixes if mix[0] >= 200], 100),
        "few": shares[FEW, 20],
        "one": shares.get((1, 20), math.nan),
        "slope": _slope(needs),
        "same-window": _slope(same) if same else math.nan,
        "tenth": 100 * used(200, 20, 1.0, NEARLY_ALL),
        "lengths": farthest([shares[n, at] for n, at in mixes if n == 200 and at != 20], 100),
    }
    left_out = ("one", "slope", "same-window") if work.quick else ()
    return work.judge(ours, picture=_needs(needs, whole.bdp_packets), left_out=left_out)


def _slope(needs: dict[tuple[int, int], float]) -> float:
    """Return the power of n in the needs in packets, by least squares of logarithms."""
    points = [(n, need / math.sqrt(n)) for (n, length), need in needs.items() if length == 20]
    flows, packets = np.log(np.array(points)).T
    return float(np.polyfit(flows, packets, 1)[0])


def _needs(needs: dict[tuple[int, int], float], bdp: float) -> Picture:
    flows = sorted({n for n, _ in needs})
    lines = [Line(flows, [bdp / math.sqrt(n) for n in flows], "bdp/√n")]
    for length in (20, 6, 62):
        dots = [(n, need * bdp / math.sqrt(n)) for (n, at), need in needs.items() if at == length]
        x, y = zip(*dots, strict=True)
        lines.append(Line(x, y, f"short flows of {length}", "dots"))
    return chart(lines, "long flows", "buffer for 95 %, packets", log="xy")


FLOWS, MANY = (10, 50, 100, 200, 300, 500), 200
SIZES = ("1 bdp/sqrt(n)", "1 bdp")


@artefact()
def fig14(work: Work) -> Reproduction:
    """Short flows among long ones complete earlier with small buffers; ``quick`` once."""
    points = [(n, size) for n in FLOWS for size in SIZES]
    results = work.once_if_quick(2).over(points, _among_long)
    small, full = ([results[n, size] for n in FLOWS] for size in SIZES)
    times, used, shares = np.array(small).T
    ratios, many = 100 * times / np.array(full)[:, 0], np.array(FLOWS) >= MANY
    ours = {  # NaN where a number of flows was not measured
        "sooner": float(np.max(ratios)),
        "much-sooner": float(np.max(ratios[many])),
        "utilization": 100 * float(np.min(used[many])),
        "share": 100 * float(np.max(shares)),
    }
    lines = [
        Line(FLOWS, [1e3 * result[0] for result in full], "buffer bdp"),
        Line(FLOWS, [1e3 * result[0] for result in small], "buffer bdp/√n"),
    ]
    return work.judge(ours, picture=chart(lines, "long flows", "AFCT of short flows, ms"))


def _among_long(work: Work, n: int, size: str) -> tuple[float, float, float]:
    """AFCT of the short flows, utilization, share of the long flows."""
    sets = [f"traffic.0.flows={n}", f"queue.size={size}"]
    outcome = work.run(sets)
    (long, short), link = outcome.classes, outcome.links[LINK]
    if not (short.fct_s and short.fct_s.mean and link.utilization and long.throughput_bps):
        return math.nan, math.nan, math.nan
    share = long.throughput_bps.value / work.load(sets).link.rate
    return short.fct_s.mean.value, link.utilization.value, share


FULL = 0.98
RED_LADDER, QUICK_LADDER = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0), (0.5, 1.0, 2.0)
RED_MANY, RED_FEW = 500, 20
FEW_RUNS = 64  # the index of single runs is between 0.5 and 4
DISCIPLINES = ("drop-tail", "red")


@artefact()
def red(work: Work) -> Reproduction:
    """RED instead of drop-tail with every buffer; ``quick`` with three, once."""
    ladder, work = QUICK_LADDER if work.quick else RED_LADDER, work.once_if_quick(2)
    parts = work.shares(len(DISCIPLINES) * (len(ladder) + 1))

    def used(name: str, step: float) -> float:
        scenario = _with(work, name, RED_MANY, f"{step} bdp/sqrt(n)")
        return value(next(parts).play(scenario).links[LINK].utilization)

    curves = {name: [used(name, step) for step in ladder] for name in DISCIPLINES}
    index = {name: _index(next(parts), name) for name in DISCIPLINES}
    drop_tail, red = (need(ladder, curves[name], FULL) for name in DISCIPLINES)
    ours = {
        "many": red / drop_tail,
        "more": red / drop_tail,
        "few": index["red"] / index["drop-tail"],
    }
    lines = [Line(ladder, [100 * used for used in curve], name) for name, curve in curves.items()]
    return work.judge(ours, picture=chart(lines, "buffer, bdp/√n", "utilization of 500 flows, %"))


def _with(work: Work, discipline: str, flows: int, size: str) -> forebay.Scenario:
    sets = [f"queue.discipline={discipline}", f"queue.size={size}", f"traffic.0.flows={flows}"]
    if discipline == "red":
        packets = _with(work, "drop-tail", flows, size).buffer_packets
        sets += [f"queue.min={375 * packets} B", f"queue.max={1125 * packets} B"]  # 1/4, 3/4
        sets += ["queue.weight=0.002", "queue.probability=0.1", "queue.gentle=true"]
    return work.load(sets)


def _index(work: Work, discipline: str) -> float:
    """Mean index of synchronization over many replications."""
    scenario = _with(work, discipline, RED_FEW, "1 bdp")

    def index(part: Work, seed: int) -> float:
        reading = part.watch(scenario, seed=seed).synchronization.index
        return math.nan if reading is None else reading

    return float(np.mean(work.of(FEW_RUNS).over_seeds(index)))


LIMITS = {200: 6, 50: 24}  # flows, and packets of their largest window
LIMIT_LADDER = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n)
LATENCIES_MS, MIDDLE_MS = (20, 40, 80, 160, 320), 80  # the latter is of scenario.toml
LINUX = ("traffic.0.sender=linux", "traffic.0.initial_window=10")
CASES: dict[str, tuple[str, float, tuple[str, ...]]] = {
    "latency-half": ("half, ns2", 0.5, ()),
    "latency-whole": ("whole, ns2", 1.0, ()),
    "latency-linux": ("half, Linux", 0.5, LINUX),
}
LATENCY_SEEDS = 8  # a largest difference of five grows with noise, so a quick run has them too


@artefact()
def scope(work: Work) -> Reproduction:
    """Windows with a limit, and latency by the bdp alone; ``quick`` limits once."""
    limited, late = work.once_if_quick(2), work.of(LATENCY_SEEDS)
    parts = work.shares(2 * len(LIMITS) * len(LIMIT_LADDER) + len(CASES) * len(LATENCIES_MS))

    def used(asked: Work, multiple: float, *sets: str) -> float:
        share = next(parts).of(asked.effort.seeds)
        return share.used([f"queue.size={multiple} bdp/sqrt(n)", *sets])

    def curve(flows: int, *sets: str) -> list[float]:
        return [used(limited, step, f"traffic.0.flows={flows}", *sets) for step in LIMIT_LADDER]

    free = {n: curve(n) for n in LIMITS}
    held = {n: curve(n, f"traffic.0.max_window={most}") for n, most in LIMITS.items()}
    slow = {
        name: [100 * used(late, multiple, *sets, *_of_latency(ms)) for ms in LATENCIES_MS]
        for name, (_, multiple, sets) in CASES.items()
    }
    needed = partial(need, LIMIT_LADDER, target=FULL)
    ours = {f"limited-{most}": needed(held[n]) / needed(free[n]) for n, most in LIMITS.items()}
    lines = [Line(LIMIT_LADDER, [100 * u for u in free[n]], f"{n} flows") for n in LIMITS]
    for n, most in LIMITS.items():
        percents, label = [100 * u for u in held[n]], f"{n} flows, at most {most} packets"
        lines.append(Line(LIMIT_LADDER, percents, label, "dashes"))
    latency = [Line(LATENCIES_MS, shares, CASES[name][0]) for name, shares in slow.items()]
    y: Any = "utilization, %"
    panels = [
        Panel(lines, "buffer, bdp/√n", y, log="x"),
        Panel(latency, "mean round trip, ms", y, log="x"),
    ]
    ours |= {name: max(shares) - min(shares) for name, shares in slow.items()}
    return work.judge(ours, picture=Picture(panels, columns=2))


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


FLOODS = {"half": 0.5, "one": 1.0, "two": 2.0}  # of the link's rate


@artefact()
def flood(work: Work) -> Reproduction:
    """What a larger buffer gives TCP beside a flood; ``quick`` once."""
    rate = work.load().link.rate

    def goodput(part: Work, times: float, size: str) -> float:
        sets = [f"traffic.1.rate={times * rate / 1e6:g} Mbit/s", f"queue.size={size}"]
        return value(part.run(sets).classes[0].goodput_bps)

    points = [(times, size) for times in FLOODS.values() for size in SIZES]
    rates = work.once_if_quick(2).over(points, goodput)
    return work.judge({n: rates[at, SIZES[1]] / rates[at, SIZES[0]] for n, at in FLOODS.items()})


LOSSY_FLOWS = (50, 100, 200)


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
    of = forebay.laws.loss

    def run(part: Work, n: int, size: str) -> Point:
        asked = [f"traffic.0.flows={n}", f"queue.size={size}", *sets]
        scenario, outcome = part.load(asked), part.run(asked)
        link, flows = outcome.links[LINK], outcome.classes[0]
        if not (link.loss_rate and flows.goodput_bps and flows.jain):
            raise ValueError("loss, goodput or fairness was not measured")
        law = of.loss_rate(of.window(scenario.buffer_packets, scenario.bdp_packets, n))
        goodput = 100 * flows.goodput_bps.value / scenario.link.rate
        return Point(link.loss_rate.value, float(law), goodput, flows.jain.value)

    points = work.over([(n, size) for n in LOSSY_FLOWS for size in SIZES], run)
    small, full = ([points[n, size] for n in LOSSY_FLOWS] for size in SIZES)
    return small, full


def _compared(small: list[Point], full: list[Point]) -> dict[str, float]:
    pairs = list(zip(small, full, strict=True))
    laws = [point.loss / point.law for point in (*small, *full)]
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
        return [
            Line(LOSSY_FLOWS, [read(p) for p in which], label + of, kind) for of, which in pairs
        ]

    loss = lines(lambda p: 100 * p.loss)
    formula = lines(lambda p: 100 * p.law, "0.76/w², ", "dashes")
    curves = {
        "loss, %": [*loss, *formula],
        "goodput, % of the link": lines(lambda p: p.goodput),
        "Jain's index": lines(lambda p: p.jain),
    }
    return Picture([Panel(of, "long flows", y) for y, of in curves.items()], columns=3)


SMALL_FLOWS = (100, 250, 500, 800, 1200)


@artefact()
def small_windows(work: Work) -> Reproduction:
    """Windows below two packets, and timeouts by buffer; ``quick`` once."""

    def run(part: Work, n: int, step: float) -> tuple[float, float]:
        sets = [f"traffic.0.flows={n}", f"queue.size={step} bdp/sqrt(n)"]
        outcome, minutes = part.run(sets), part.load(sets).measure.duration / 60
        timeouts = value(outcome.classes[0].timeouts) / n / minutes
        return value(outcome.links[LINK].utilization), timeouts

    points = [(n, step) for n in SMALL_FLOWS for step in LADDER]
    results = work.once_if_quick(2).over(points, run)
    timeouts = {n: results[n, 1.0][1] for n in SMALL_FLOWS}
    needs = {n: need(LADDER, [results[n, step][0] for step in LADDER], FULL) for n in SMALL_FLOWS}
    fewer = [results[n, 0.25][1] / results[n, 2.0][1] for n in SMALL_FLOWS if n <= 500]
    ours = {
        "frequent": min(timeouts[n] for n in (800, 1200)) / timeouts[250],
        "more-buffer": min(needs[n] for n in (800, 1200)) / needs[250],
        "small-buffers": min(fewer),
    }
    lines = [
        Line(LADDER, [results[n, step][1] for step in LADDER], f"{n} flows") for n in SMALL_FLOWS
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

    points = work.once_if_quick().over(QUICK_BUFFERS if work.quick else BUFFERS, run)
    few, many = points[BDP], points[ENOUGH]
    ours = {
        "bdp": scenario.bdp_packets,
        "fraction": scenario.bdp_packets / USERS,
        "timeouts": few[0],
        "cured": 100 * many[0] / few[0],
        "fairness": many[1] / few[1],
        "utilization": 100 * (many[2] - few[2]),
    }
    x = [buffer / USERS for buffer in points]
    names = ("timeouts of a flow in a minute", "Jain's index", "utilization")
    panels = [
        Panel([Line(x, [point[i] for point in points.values()])], "buffer, packets a flow", name)
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
    rates = work.over([(n, step) for n in SHARES for step in STEPS], share)
    ours = {
        "enough": min(rates[n, 1.0] * n for n in SHARES),
        "needed": max(rates[n, 0.25] * n for n in SHARES),
        "penalized": rates[64, 1.0] / rates[4, 1.0],
    }
    lines = [
        Line(SHARES, [100 * rates[n, step] for n in SHARES], f"{step:g} × bdp/√n") for step in STEPS
    ]
    lines.append(Line(SHARES, [100 / n for n in SHARES], "1/n", "dashes"))
    label = "throughput of the long flow, % of the link"
    return work.judge(ours, picture=chart(lines, "n", label, log="xy"))


VERY_FEW = (1, 4, 8)
MULTIPLES, QUICK_MULTIPLES = (0.125, 0.25, 0.5, 1.0, 1.5), (0.5, 1.0)


@artefact()
def villamizar_song(work: Work) -> Reproduction:
    """Few flows need a bandwidth-delay product; ``quick`` with two buffers, once."""

    def used(part: Work, n: int, size: str) -> Any:
        sets = [f"traffic.0.flows={n}", f"queue.size={size}"]
        return percent(part.run(sets).links[LINK].utilization)

    sizes = QUICK_MULTIPLES if work.quick else MULTIPLES
    points = [(n, f"{size} bdp") for n in VERY_FEW for size in sizes] + [(8, "1 bdp/sqrt(n)")]
    loads = work.once_if_quick().over(points, used)
    ours = {f"full-{n}": loads[n, "1.0 bdp"] for n in VERY_FEW}
    ours |= {f"half-{n}": loads[n, "0.5 bdp"] for n in VERY_FEW}
    lines = [
        Line(sizes, [value(loads[n, f"{size} bdp"]) for size in sizes], f"{n} flow{'s' * (n > 1)}")
        for n in VERY_FEW
    ]
    return work.judge(
        ours | {"sqrt": loads[8, "1 bdp/sqrt(n)"]},
        picture=chart(lines, "buffer, bdp", "utilization, %"),
    )
