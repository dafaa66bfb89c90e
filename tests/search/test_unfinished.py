"""Goals on completion times where transfers had not ended: never met by silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forebay.engines.simulation import SimulationEngine
from forebay.outcome import ClassOutcome, LinkOutcome, Metric, Outcome, Quantiles, Verdict
from forebay.scenario import Scenario, load
from forebay.search.evidence import Evidence, at_least, is_open, judge
from forebay.search.goals import Goal, goals_of

INCAST = Path(__file__).with_name("incast.toml")


def exact(value: float) -> Metric:
    return Metric(value=value, low=None, high=None, n=1)


def quantiles(mean: Metric | None = None, p99: Metric | None = None) -> Quantiles | None:
    return Quantiles(mean=mean, p50=None, p95=None, p99=p99) if mean or p99 else None


def outcome(*fcts: tuple[float | None, float | None]) -> Outcome:
    """A class a pair: the mean that is known, or else what it is at least; seconds."""
    kinds = [
        ClassOutcome(
            kind="short", flows=10, throughput_bps=None, goodput_bps=None, jain=None, rtt_s=None,
            loss_rate=None, timeouts=None,
            fct_s=quantiles(None if known is None else exact(known)),
            fct_least_s=quantiles(None if least is None else exact(least)),
        )
        for known, least in fcts
    ]  # fmt: skip
    parts: dict[str, Any] = {"goal_metrics": {}}
    link = LinkOutcome.model_construct(**parts)
    parts = {"classes": kinds, "links": {"bottleneck": link}}
    return Outcome.model_construct(**parts)


@pytest.mark.parametrize(("least", "expected"), [(0.5, "missed"), (0.008, "undecided")])
def test_what_is_at_least_so_much_is_missed_or_undecided(least: float, expected: str) -> None:
    assert judge(at_least(least, 1), 0.008, at_least=False) == expected


def test_a_floor_is_met_by_what_is_at_least_so_much() -> None:
    assert judge(at_least(0.5, 1), 0.4, at_least=True) is Verdict.MET


def test_an_open_mean_is_read_as_what_it_is_at_least() -> None:
    read = Evidence(outcome((None, 0.3))).completion(0, "mean")
    assert read is not None and is_open(read) and read.low == 0.3


def test_a_class_of_which_nothing_ended_is_not_left_out_of_the_increase() -> None:
    """One class doubles, of the other nothing ends: twice is a bound from below, no answer."""
    seen = Evidence(outcome((0.2, None), (None, 0.4)), outcome((0.1, None), (0.1, None)))
    increase = seen.completion_increase()
    assert increase is not None and is_open(increase)
    assert increase.value == pytest.approx(0.6 / 0.2 - 1)


def test_an_increase_over_what_is_open_is_not_known() -> None:
    seen = Evidence(outcome((0.2, None)), outcome((None, 0.1)))
    increase = seen.completion_increase()
    assert increase is not None
    assert judge(increase, 0.125, at_least=False) is Verdict.UNDECIDED


def _goal(scenario: Scenario, packets: int) -> tuple[Goal, Metric]:
    seen = SimulationEngine().run(scenario.with_buffer(packets), [1], jobs=1)
    (goal,) = goals_of(scenario)
    metric = goal.kind.read(Evidence(seen))
    assert metric is not None
    return goal, metric


def test_one_packet_is_not_enough_for_an_incast() -> None:
    """The answer once was one packet, by the few transfers that got through."""
    goal, metric = _goal(load(INCAST), 1)
    assert goal.judge(metric) is Verdict.MISSED
    assert metric.value > 10 * goal.target
    assert goal.says(metric).startswith("at least") or not is_open(metric)


def test_users_who_stalled_before_the_window_count_in_it() -> None:
    """A window shorter than a timeout, begun amid the stall: most are under way all through it."""
    scenario = load(INCAST, overrides=["measure.warmup=20 ms", "measure.duration=50 ms"])
    seen = SimulationEngine().run(scenario.with_buffer(1), [1], jobs=1).classes[0]
    assert seen.transfers is not None and seen.unfinished is not None
    assert seen.transfers.value >= 100 and seen.unfinished.value > 0.5
    assert seen.fct_s is None or seen.fct_s.p99 is None
    goal, metric = _goal(scenario, 1)
    assert goal.judge(metric) is Verdict.MISSED
