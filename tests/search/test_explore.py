"""Where a search begins, and at which buffers a range is first looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.search.asking import evaluator_of, size

from forebay.outcome import Verdict
from forebay.search.evaluator import Evaluator
from forebay.search.problem import first_guess, upper_limit
from forebay.search.strategies.bisection.explore import best, explore, grid


@dataclass(frozen=True)
class Law:
    law: str
    packets: float | None
    assumptions_hold: bool = True
    broken_assumptions: tuple[str, ...] = ()
    source: str = "a paper, a section"


def test_a_range_is_first_looked_at_in_twelve_equal_ratios() -> None:
    assert grid(1, 4096) == [2**i for i in range(13)]
    assert grid(10, 10 * 3**12) == [10 * 3**i for i in range(13)]


def test_a_narrow_range_is_looked_at_once_a_packet_with_both_ends() -> None:
    assert grid(7, 7) == [7]
    assert grid(10, 12) == [10, 11, 12]
    assert (grid(100, 5231)[0], grid(100, 5231)[-1], len(grid(100, 5231))) == (100, 5231, 13)


def evaluator(known: SimpleNamespace, curve: Any, **goals: Any) -> Evaluator:
    scenario = replace(known.asked(**goals), traffic=(known.group("udp", 1),))
    engine = known.Engine({"utilization": known.saturating(1), "traffic.0.loss_rate": curve})
    return evaluator_of(scenario, engine, seeds=[1], max_seeds=1, jobs=1, limit=4096)


def test_the_first_look_is_the_grid_and_a_range_that_is_met_needs_no_more(
    known: SimpleNamespace,
) -> None:
    made = evaluator(known, lambda b: 0.001, realtime_loss=0.01)
    assert explore(made, made.problem.goals, 1, 4096) == [(1, 4096)]
    assert sorted(made.done) == grid(1, 4096)


def test_a_valley_between_two_points_of_the_grid_is_closed_in_on(known: SimpleNamespace) -> None:
    made = evaluator(known, lambda b: abs(b - 90) / 1000, realtime_loss=0.0025)
    assert explore(made, made.problem.goals, 1, 4096) == [(88, 92)]
    made = evaluator(known, lambda b: 0.001 + abs(b - 90) / 1000, realtime_loss=0.0005)
    (goal,) = made.problem.goals
    assert best(made, goal, 1, 4096).packets == 90
    assert made.done[90].verdict(made.problem.goals) is Verdict.MISSED


@pytest.mark.parametrize(
    ("laws", "expected"),
    [
        ([Law("a", 70.0), Law("b", 300.0), Law("c", 90.4)], 90),
        ([Law("a", 70.0), Law("b", 300.0)], 70),  # the lower of two
        ([Law("a", 70.0, False), Law("b", 300.0)], 300),
        ([Law("a", 0.2)], 1),
        ([Law("a", 70.0, False), Law("b", None), Law("c", 0.0)], 129),
        ([], 129),
    ],
)
def test_the_search_begins_at_the_lower_median_of_the_laws_that_hold(
    known: SimpleNamespace, laws: list[Law], expected: int
) -> None:
    scenario = known.asked(utilization=0.98)
    assert first_guess(scenario, laws) == expected  # 1291.7 / sqrt(100) without a law
    engine = known.Engine({"utilization": known.saturating(40)})
    size(scenario, engine, seeds=[1], max_seeds=1, laws=laws)
    assert engine.calls[0][0] == expected


def test_without_flows_that_last_the_search_begins_at_a_bdp_and_reaches_further(
    known: SimpleNamespace,
) -> None:
    scenario = replace(known.asked(utilization=0.98), n_flows=0)
    assert first_guess(scenario, []) == 1292
    assert upper_limit(scenario) == 5167 + 4096
    assert upper_limit(replace(scenario, n_flows=1)) == 5167 + 64
    assert first_guess(replace(scenario, bdp_packets=0.1), []) == 1
