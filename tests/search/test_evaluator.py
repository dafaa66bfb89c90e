"""How many seeds a buffer gets when its interval does not clear the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.search.asking import evaluator_of

from forebay.engines.base import Engine
from forebay.outcome import Metric, Outcome
from forebay.search.evaluator import FARTHEST


class Narrowing(Engine):
    """Half-widths by the number of seeds; the value stays at 98.5 %."""

    name = "narrowing"

    def __init__(self, known: SimpleNamespace, half: dict[int, float]) -> None:
        self._link = known.Engine({"utilization": lambda b: 0.985})
        self._half = half
        self.asked: list[int] = []

    def run(self, scenario: Any, seeds: Sequence[int], **options: Any) -> Outcome:
        self.asked.append(len(seeds))
        half = self._half.get(len(seeds), 0.0)
        metric = Metric(value=0.985, low=0.985 - half, high=0.985 + half, n=len(seeds))
        outcome: Outcome = self._link.run(scenario, seeds)
        link = outcome.links["bottleneck"].model_copy(update={"utilization": metric})
        return outcome.model_copy(update={"links": {"bottleneck": link}})


@pytest.mark.parametrize(
    ("half", "asked"),
    [
        ({}, [5]),  # decided at the first look
        ({5: 0.0051}, [5, 10]),  # nearly decided: twice as many, never a few
        ({5: 0.02}, [5, 96]),  # 1.2 times the 80 that should decide
        ({5: 0.5}, [5, 200]),  # never more than there are
        ({5: 0.0051, 10: 0.0051}, [5, 10, 20]),
    ],
)
def test_an_undecided_buffer_goes_at_once_to_the_seeds_that_should_decide(
    known: SimpleNamespace, half: dict[int, float], asked: list[int]
) -> None:
    scenario, engine = known.asked(utilization=0.98), Narrowing(known, half)
    evaluator = evaluator_of(scenario, engine, seeds=range(1, 6), max_seeds=200, jobs=1, limit=5000)
    goals = evaluator.problem.goals
    evaluator.settle(100, goals)
    assert engine.asked == asked


def test_a_goal_that_is_undecided_below_forbids_less_as_one_that_is_missed(
    known: SimpleNamespace,
) -> None:
    scenario, engine = known.asked(utilization=0.98), Narrowing(known, {5: 0.02})
    evaluator = evaluator_of(scenario, engine, seeds=range(1, 6), max_seeds=5, jobs=1, limit=5000)
    goals = evaluator.problem.goals
    evaluator.at(100)
    assert evaluator.evaluations.not_met_below(101, goals) == goals
    assert evaluator.evaluations.not_met_below(100, goals) == ()  # nothing smaller was tried


def test_progress_counts_a_run_by_its_new_replications(known: SimpleNamespace) -> None:
    told: list[float] = []

    class Halfway(Narrowing):
        def run(self, scenario: Any, seeds: Sequence[int], **options: Any) -> Outcome:
            options["progress"](0.5)
            return super().run(scenario, seeds)

    evaluator = evaluator_of(
        known.asked(utilization=0.98), Halfway(known, {}),
        seeds=range(1, 6), max_seeds=20, jobs=1, progress=told.append, limit=1000,
    )  # fmt: skip
    evaluator.remaining = 4
    evaluator.at(100)
    evaluator.settle_fully(100)  # 15 new replications: three runs of the first five
    assert told == pytest.approx([0.5 / 4, 1 / 5, 2.5 / 7, 4 / 8])


def test_the_search_for_a_buffer_without_drops_ends_at_a_multiple_of_the_limit(
    known: SimpleNamespace,
) -> None:
    """Datagrams above the link's rate are lost with any buffer."""
    scenario = replace(known.asked(fct_increase=0.1), traffic=(known.group("short"),))
    engine = known.Engine({"loss_rate": lambda b: 0.1, "traffic.0.fct_mean": lambda b: 0.2})
    evaluator = evaluator_of(scenario, engine, seeds=range(1, 6), max_seeds=5, jobs=1, limit=100)
    evaluator.at(100)
    assert evaluator.evaluations.reference is not None
    assert evaluator.evaluations.reference[0] == FARTHEST * 100
