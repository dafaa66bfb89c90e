"""A range of flows: the rule is the same whichever strategy answered its ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.search.asking import size, size_within
from tests.search.known_links import KnownLinks, half_root, link
from tests.search.known_links import _outcome as played

from forebay.engines.base import Engine
from forebay.outcome import Buffer, Interval, Metric, Outcome, SizeResult, Verdict
from forebay.report.headline import (
    helpless_line,
)
from forebay.scenario import Scenario
from forebay.search.evaluations import Evaluation
from forebay.search.flow_range import intersection, serve_both
from forebay.search.options import Options
from forebay.search.problem import Problem, problem_of
from forebay.search.stopping import END
from forebay.search.strategies.protocol import Session
from forebay.search.strategies.scaling.strategy import Extrapolated, Scaling

RANGE = link("1 Gbit/s", '"400..600"')  # type: ignore[arg-type]


def session(engine: Engine | None = None) -> Session:
    return Session.begin(engine or KnownLinks(), Options(range(1, 6), 20))


def answered(packets: int) -> SizeResult:
    """Return an answer from which on all sizes meet the goals."""
    buffer = Buffer(packets=packets, bytes=1500 * packets, seconds=1.0, low=packets, high=packets)
    region = Interval(low=packets, high=None, binding_low=("utilization",), binding_high=())
    return SizeResult(buffer=buffer, region=(region,), notes=("a note",))


@dataclass
class Ends:
    """A strategy that knows the answers of both ends; a run finds ``used`` of the link there."""

    packets: dict[int, int]
    used: float | None
    lost: float = 0.0
    ran: list[tuple[int, int]] = field(default_factory=list)

    def answer(self, problem: Problem, session: Session) -> Found:
        return Found(self, problem, answered(self.packets[problem.scenario.n_flows]))


@dataclass
class Found:
    strategy: Ends
    problem: Problem
    result: SizeResult
    predicted_s: float = 1.5

    def evaluate(self, packets: int, session: Session) -> Evaluation | None:
        used = self.strategy.used
        self.strategy.ran.append((self.problem.scenario.n_flows, packets))
        if used is None:
            return None
        metric = Metric(value=used, low=used - 0.001, high=used + 0.001, n=5)
        outcome = played(self.problem.scenario, [used], self.strategy.lost, [1])
        return Evaluation(packets, outcome, 5, self.problem.goals, (metric,))


def served(used: float | None, lost: float = 0.0) -> tuple[SizeResult, Ends]:
    ends = Ends({400: 120, 600: 80}, used, lost)
    result, predicted_s = serve_both(problem_of(RANGE, "simulation"), ends, session())
    assert predicted_s == 3.0
    assert [each.flows for each in result.ends] == [400, 600]
    return result, ends


@pytest.mark.parametrize("used", [0.99, 0.98])
def test_the_larger_answer_is_verified_by_a_run_at_the_other_end(used: float) -> None:
    result, ends = served(used)
    assert ends.ran == [(600, 120)]
    assert result.buffer is not None and result.buffer.packets == 120
    assert result.notes == ("a note",)


@pytest.mark.parametrize(
    ("lost", "warned"), [(0.0, False), (0.01, False), (0.011, True), (0.2, True)]
)
def test_the_end_that_loses_more_decides_the_warning(lost: float, warned: bool) -> None:
    result, _ = served(0.99, lost)
    assert (result.loss_warning is not None) == warned
    if result.loss_warning is not None:
        assert result.loss_warning.loss == lost and result.loss_warning.largest == 120


def test_an_answer_that_misses_at_the_other_end_is_none_and_the_goal_is_relaxed() -> None:
    result, _ = served(0.95)
    assert result.buffer is None and result.nearest == 120 and result.region == ()
    assert result.reason is not None and "no buffer serves the whole range" in result.reason
    (given,) = result.relaxations
    assert given.name == "utilization" and given.relaxed == pytest.approx(0.949)


def test_an_answer_that_no_time_was_left_to_verify_says_so() -> None:
    result, _ = served(None)
    assert result.buffer is not None
    assert result.notes[-1] == "no time was left to verify 120 packets with 600 flows"


def test_sizes_of_both_regions_have_the_goals_that_bind_there() -> None:
    low = Interval(low=10, high=50, binding_low=("a",), binding_high=("b",))
    high = Interval(low=20, high=None, binding_low=("c",), binding_high=())
    (both,) = intersection([low], [high])
    assert (both.low, both.high, both.binding_low, both.binding_high) == (20, 50, ("c",), ("b",))
    assert intersection([low], [high.model_copy(update={"low": 51})]) == ()


@dataclass
class Watched(KnownLinks):
    """Remembers the flows of the last run."""

    last_flows: int = 0

    def run(self, scenario: Scenario, seeds: Any, **how: Any) -> Outcome:
        self.last_flows = scenario.n_flows
        return super().run(scenario, seeds, **how)


@pytest.mark.parametrize(
    ("rate", "flows", "budget_s"),
    [
        ("50 Mbit/s", "60..90", 60.0),  # searched
        ("1 Gbit/s", "400..600", 15.0),  # the crossing of the link itself
        ("100 Gbit/s", "150000..250000", 20.0),  # smaller links
    ],
)
def test_every_strategy_runs_the_answer_at_the_end_that_needs_less(
    rate: str, flows: str, budget_s: float
) -> None:
    scenario, engine = link(rate, f'"{flows}"'), Watched(noise=0.01)  # type: ignore[arg-type]
    found = size_within(
        scenario, engine, budget_s, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock
    )
    assert found.buffer is not None and engine.now <= budget_s
    needs_more = max(found.ends, key=lambda end: end.buffer.packets if end.buffer else 0)
    (less,) = (end for end in found.ends if end is not needs_more)
    factor = 1.0 if found.scaled is None else found.scaled.factor
    assert engine.last_flows == pytest.approx(less.flows / factor, rel=0.2)
    assert not any("no time was left" in note for note in found.notes)
    assert found.buffer.low - 1 <= half_root(scenario.at_flows("low")) <= found.buffer.high


def study_of(engine: KnownLinks, budget_s: float) -> Extrapolated:
    """Return what a study of a link found."""
    asked = problem_of(link("100 Gbit/s", 200_000), "simulation")
    options = Options(range(1, 6), 20, jobs=2, budget_s=budget_s, clock=engine.clock)
    return Scaling().answer(asked, Session.begin(engine, options))


def test_a_study_evaluates_a_size_on_the_largest_link_for_which_there_is_time() -> None:
    engine = KnownLinks()
    found = study_of(engine, 20.0)
    packets = found.result.chosen or 0
    known = found.evaluate(packets, session(engine))
    assert known is not None and known.packets == packets
    reported: list[float] = []
    options = Options(range(1, 6), 20, clock=engine.clock, progress=reported.append)
    left = Session.begin(engine, options).for_seconds(60.0)
    twice = found.evaluate(2 * packets, left)
    assert twice is not None and twice.verdict(twice.goals) is Verdict.MET
    assert engine.runs[-1][0] == pytest.approx(100e9 / found.study.levels[0].factor)
    assert reported and max(reported) <= 0.99
    assert found.evaluate(3 * packets, left.for_seconds(1e-6)) is None
    assert found.evaluate(3 * packets, left.for_seconds(2.0)) is not None
    assert engine.runs[-1][0] < 100e9 / found.study.levels[0].factor * 1.01


def test_only_a_smaller_link_reserves_time_for_one_smaller_still() -> None:
    study = study_of(KnownLinks(), 20.0).study
    study.reserved_s, study.levels = 0.0, study.levels[:1]
    alone = study.levels[0]
    alone.factor = 4.0
    assert study.shrinks(alone.factor) and study.end_s < 0.9 * END * 20.0
    alone.factor = 1.0
    assert study.end_s == END * 20.0


def test_an_evaluation_that_the_end_of_the_time_stops_is_none() -> None:
    engine = KnownLinks()
    found = study_of(engine, 20.0)
    packets = found.result.chosen or 0
    options = Options(range(1, 6), 20, clock=engine.clock)
    left = Session.begin(engine, options).for_seconds(10.0)
    engine.packets_per_s /= 1000.0
    assert found.evaluate(2 * packets, left) is None
    assert left.time.spent_s <= 10.0


@pytest.mark.parametrize("delay", ["0.05 ms", "0.1 ms", "0.2 ms"])
def test_relaxations_of_a_range_hold_at_both_ends_or_do_not_blame_the_others(delay: str) -> None:
    """A wait that is shorter than both ends need: each goal alone can give way."""
    goals = f'utilization = 0.98\nqueue_delay_p99 = "{delay}"'
    asked = link("1 Gbit/s", '"400..600"', goals)  # type: ignore[arg-type]
    found = size(asked, KnownLinks(noise=0.0), seeds=range(1, 4), max_seeds=3)
    assert found.buffer is None
    given = {each.name: each for each in found.relaxations}
    assert given["queue_delay_p99"].relaxed is not None
    assert given["queue_delay_p99"].packets is not None
    enough = half_root(asked.at_flows("low"))
    assert given["queue_delay_p99"].packets >= 0.9 * enough
    out = " ".join(helpless_line(found))
    assert "contradict each other" not in out
