"""Figure 16 of paper A: how long the queue of short flows is, with and without a hidden FIFO."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import forebay
from forebay.report import Line, Panel, Picture, Reproduction, judge, shares

HERE = Path(__file__).resolve().parent
LOAD, LENGTH = 0.8, 14
HIDDEN = 64 * 1024 // 1500  # packets, footnote 10
LEVELS = (0.1, 0.01, 0.001)
DRAWN = 140  # packets
NOTES = [
    "P(Q >= b), Q the packets that the interface queue holds. Model: effective bandwidth to second "
    "order, as the paper's section 4; the exact queue of the same bursts beside it.",
    "Neither load nor length of the flows nor RTT of this figure is in the text.",
]
Tail = np.ndarray  # P(Q >= b) at b = 0, 1, …


def reproduce(
    seeds: int = 5,
    jobs: int = 0,
    progress: Callable[[float], None] | None = None,
    quick: bool = False,
) -> Reproduction:
    """Watch the queue without and with the FIFO; ``quick`` 20 s."""
    parts = shares(progress, 2 * seeds)
    plain, hidden = (
        np.mean([_tail(ring, seed, quick, next(parts)) for seed in range(1, seeds + 1)], axis=0)
        for ring in (0, HIDDEN)
    )
    return judge(
        "A.fig16",
        "Paper A, Figure 16: queue of short flows on an OC3 line card",
        HERE,
        _numbers(plain, hidden),
        notes=NOTES,
        picture=_picture(plain, hidden),
    )


def _tail(ring: int, seed: int, quick: bool, progress: Callable[[float], None] | None) -> Tail:
    sets = [f"queue.transmit_ring={ring}", *(["measure.duration=20 s"] if quick else [])]
    scenario = forebay.load(HERE / "scenario.toml", sets)
    queue = forebay.trace(scenario, step="1 s", seed=seed, progress=progress).bottleneck
    assert queue.queue_step == 1 and not queue.drops.any()
    above = np.cumsum(queue.queue_s[::-1])[::-1]
    return above / above[0]


def _numbers(plain: Tail, hidden: Tail) -> dict[str, float]:
    return {
        "hidden": HIDDEN,
        "matches": 100 * max(abs(reached(plain, p) / model(p) - 1) for p in LEVELS),
        "under-reports": reached(plain, 0.01) - reached(hidden, 0.01),
        "all-along": reached(plain, 0.001) - reached(hidden, 0.001),
        "unexplained": 100 * reached(hidden, 0.01) / model(0.01),
    }


def reached(tail: Tail, probability: float) -> float:
    """Queue that is reached with that probability, packets; log P is taken as straight between."""
    after = int(np.argmax(tail <= probability))
    above, below = np.log(tail[after - 1 : after + 1])
    return float(after - 1 + (np.log(probability) - above) / (below - above))


def model(probability: float) -> float:
    """The paper's: the queue that short flows reach with that probability."""
    return float(forebay.laws.effective_bandwidth.buffer_for(probability, LOAD, _bursts()))


def _bursts() -> forebay.laws.bursts.Bursts:
    return forebay.laws.bursts.Bursts.of_lengths([LENGTH])


def _picture(plain: Tail, hidden: Tail) -> Picture:
    x = np.arange(DRAWN)
    second = forebay.laws.effective_bandwidth.tail(x, LOAD, _bursts())
    exact = forebay.laws.exact_bursts.exact_queue(LOAD, _bursts()).tail(x)
    lines = [
        Line(x.tolist(), second.tolist(), "model"),
        Line(x.tolist(), exact.tolist(), "exact queue of bursts", "dashes"),
        _line(plain, "simulation"),
        _line(hidden, "simulation, reported beside a hidden FIFO"),
        *_measured(),
    ]
    return Picture([Panel(lines, "b, packets", "P(Q ≥ b)", log="y")])


def _line(tail: Tail, name: str) -> Line:
    seen = tail[:DRAWN][tail[:DRAWN] > 1e-5]
    return Line(list(range(seen.size)), seen.tolist(), name)


def _measured() -> list[Line]:
    """Exp., the figure's third column: the testbed's, where it was recorded."""
    path = HERE / "measured.toml"
    if not path.exists():
        return []
    found = tomllib.loads(path.read_text())
    return [Line(found["packets"], found["probability"], "experiment (testbed)", "dots")]
