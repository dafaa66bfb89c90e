"""Figure 13: the buffer that a mix of long and short flows needs for 95 %."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture
from forebay.reproduction import Progress, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
TARGET = 0.95
NEARLY_ALL = 0.9  # offered by short flows: long flows get a tenth
LADDER = (0.25, 0.5, 1.0, 2.0)  # multiples of bdp/sqrt(n); the verdicts need no more
MIXES = (
    *((n, 20) for n in (1, 10, 50, 100, 200, 400, 500)),
    *((200, length) for length in (6, 62)),
)
WINDOW, ALIKE = 26, (10, 50, 100, 200, 400)  # packets of bdp a flow; numbers of such flows
MOST_SEEDS = 2
FEW = 10
FEW_SEEDS = 4
FEW_TIMES = ("measure.warmup=60 s", "measure.duration=180 s")  # for the reason see README.md
ONE_TIMES = ("measure.warmup=200 s", "measure.duration=800 s")  # half a window takes 130 s
NOTES = [
    "Between two buffers the need is read off in the logarithm; below the smallest tried it is "
    "shown as a quarter of bdp/√n, above the largest as twice.",
]


def reproduce(
    seeds: int = 5, jobs: int = 0, progress: Progress | None = None, quick: bool = False
) -> Reproduction:
    """Run every mix with every buffer; ``quick`` once, and without the single long flow."""
    mixes, seeds = MIXES[quick:], 1 if quick else seeds
    parts = shares(progress, (len(mixes) + len(ALIKE[quick * len(ALIKE) :])) * len(LADDER) + 1)
    needs = {
        mix: _need([_utilization(*mix, step, seeds, jobs, next(parts)) for step in LADDER])
        for mix in mixes
    }
    return judge(
        "appenzeller-2004/fig13",
        "Appenzeller et al. 2004, Figure 13: buffer for 95 % with long and short flows, 400 Mbit/s",
        HERE,
        {
            "enough": _farthest([need for (n, length), need in needs.items() if n >= 200]),
            "few": 100 * needs[FEW, 20],
            "one": 100 * needs.get((1, 20), math.nan),
            "slope": _slope(needs),
            "same-window": math.nan if quick else _slope(_alike(seeds, jobs, parts)),
            "tenth": 100 * _utilization(200, 20, 1.0, seeds, jobs, next(parts), NEARLY_ALL),
            "lengths": _farthest(
                [need for (n, at), need in needs.items() if n == 200 and at != 20]
            ),
        },
        notes=NOTES,
        picture=_picture(needs),
        left_out=("one", "slope", "same-window") if quick else (),
    )


def _alike(seeds: int, jobs: int, parts: Iterator[Progress | None]) -> dict[tuple[int, int], float]:
    """Return the needs where the rate goes with the number of long flows."""
    scenario = forebay.load(HERE / "scenario.toml")
    per_flow = WINDOW * scenario.link.capacity / scenario.bdp_packets
    rates = {n: (f"link.rate={n * per_flow / 1e6:.3f} Mbit/s",) for n in ALIKE}
    return {
        (n, 20): _need(
            [_utilization(n, 20, step, seeds, jobs, next(parts), sets=rates[n]) for step in LADDER]
        )
        for n in ALIKE
    }


def _slope(needs: dict[tuple[int, int], float]) -> float:
    """Return the power of n in the needs in packets, by least squares of logarithms."""
    found = [(n, need / math.sqrt(n)) for (n, length), need in needs.items() if length == 20]
    flows, packets = np.log(np.array(found)).T
    return float(np.polyfit(flows, packets, 1)[0])


def _farthest(needs: list[float]) -> float:
    """Return the buffer that differs most from bdp/sqrt(n), in percent of it."""
    return max((100 * need for need in needs), key=lambda share: abs(share - 100))


def _utilization(
    n: int,
    length: int,
    step: float,
    seeds: int,
    jobs: int,
    progress: Progress | None,
    short_load: float = 0.2,
    sets: tuple[str, ...] = (),
) -> float:
    changes = [
        *sets,
        f"traffic.1.load={short_load}",
        f"traffic.0.flows={n}",
        f"traffic.1.length={length} packets",
        f"queue.size={step} bdp/sqrt(n)",
        *(ONE_TIMES if n == 1 else FEW_TIMES if n <= FEW and not sets else ()),
    ]
    scenario = forebay.load(HERE / "scenario.toml", changes)
    seeds = min(seeds, FEW_SEEDS if n <= FEW else MOST_SEEDS)
    outcome = forebay.run(scenario, seeds=seeds, jobs=jobs, progress=progress)
    used = outcome.links["bottleneck"].utilization
    return math.nan if used is None else used.value


def _need(reached: list[float]) -> float:
    """Multiple of bdp/sqrt(n) at which the target is first reached, within the ladder."""
    rising = np.maximum.accumulate(reached)
    return float(np.exp(np.interp(TARGET, rising, np.log(LADDER))))


def _picture(needs: dict[tuple[int, int], float]) -> Picture:
    bdp = forebay.load(HERE / "scenario.toml").bdp_packets
    flows = sorted({n for n, _ in needs})
    law = [bdp / math.sqrt(n) for n in flows]
    lines = [Line(flows, law, "bdp/√n")]
    for length in (20, 6, 62):
        found = [(n, need * bdp / math.sqrt(n)) for (n, at), need in needs.items() if at == length]
        if found:
            x, y = zip(*found, strict=True)
            lines.append(Line(x, y, f"short flows of {length}", "dots"))
    return Picture([Panel(lines, "long flows", "buffer for 95 %, packets", log="xy")])
