"""A search by lines through the margins against one that only halves, over small random worlds."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.search.asking import size
from tests.search.conftest import KnownEngine, asked

from forebay.search.strategies.bisection import region
from forebay.search.strategies.bisection.bracket import next_buffer

TARGET = 0.98
WORLDS = 100
"""Worlds of each shape."""
_MOST = math.log(20.0)
_PACKET_S = 12_000 / 155e6

SHAPES: dict[str, Callable[[float, float], float]] = {
    "exponential": lambda x, k: -k * (math.exp(x) - 1),
    "power": lambda x, k: -k * x,
    "steep": lambda x, k: -4 * k * x,
    "step": lambda x, k: k / 2 if x < 0 else -k / 2,
    "plateau": lambda x, k: 0.1 - k * min(x + 0.7, 0) if x < 0 else -0.1 - k * x,
    "flat at the goal": lambda x, k: -4 * k * x**3 - 0.02 * x,
    "knee": lambda x, k: -k * x / 4 if x < 0 else -4 * k * x,
}
"""Log of harm over allowed harm by x = log(buffer / crossing), with a steepness k."""


class Spent(NamedTuple):
    """What the sizings of all worlds took and found.

    Attributes
    ----------
    replications : of all of them.
    width : mean of log(high / low) of the answers' ranges.
    inside : share of the ranges that hold the crossing.
    met : share of the answers that truly meet the goal.
    """

    replications: int
    width: float
    inside: float
    met: float


def solve(shape: str, number: int) -> tuple[int, float, bool, bool]:
    draw = np.random.default_rng([number, *shape.encode()])
    crossing = round(math.exp(draw.uniform(math.log(6), math.log(1200))))
    steepness = math.exp(draw.uniform(math.log(0.7), math.log(6)))
    noise = (1 - TARGET) * math.exp(draw.uniform(math.log(0.01), math.log(0.4)))
    start = crossing * math.exp(draw.uniform(-1.4, 1.4))

    def used(packets: float) -> float:
        harm = SHAPES[shape](math.log(packets / crossing), steepness)
        return 1 - (1 - TARGET) * math.exp(min(harm, _MOST))

    curves = {"utilization": used, "queue_delay_p99": lambda b: _PACKET_S * b}
    engine: Any = KnownEngine(curves, {"utilization": noise, "queue_delay_p99": 1e-6}, 0.8, number)
    law = SimpleNamespace(
        law="", packets=start, assumptions_hold=True, broken_assumptions=(), source=""
    )
    longest = _PACKET_S * crossing * math.exp(draw.uniform(0.5, 1.4))
    scenario: Any = asked(utilization=TARGET, queue_delay_p99=longest)
    found = size(scenario, engine, seeds=range(1, 6), max_seeds=20, laws=[law]).buffer
    assert found is not None
    spent = len({(packets, seed) for packets, seeds in engine.calls for seed in seeds})
    met = used(found.packets) >= TARGET - 1e-12
    width = math.log(found.high / found.low)
    return spent, width, found.low <= crossing <= found.high, met


def all_worlds(worlds: int = WORLDS) -> Spent:
    each = [solve(shape, number) for shape in SHAPES for number in range(worlds)]
    spent, width, inside, met = (np.array(column) for column in zip(*each, strict=True))
    return Spent(int(spent.sum()), float(width.mean()), float(inside.mean()), float(met.mean()))


def test_ranges_by_line_hold_the_crossing() -> None:
    by_line = all_worlds(WORLDS // 10)
    assert min(by_line.inside, by_line.met) >= 0.95


@pytest.mark.long
def test_lines_need_fewer_replications_for_the_same_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    by_line = all_worlds()
    halves = lambda table, start, limit, _: next_buffer(table, start, limit, {})  # noqa: E731
    monkeypatch.setattr(region, "next_buffer", halves)
    by_halves = all_worlds()
    assert by_line.replications < 0.92 * by_halves.replications
    assert by_line.width < 1.02 * by_halves.width
    assert min(by_line.inside, by_line.met) >= 0.95
