"""Goals as tables, goals of a class, and numbers of flows that are not known exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import (
    AtLeast,
    Duration,
    FlowCount,
    Rate,
    Scenario,
    ScenarioError,
    dumps,
    loads,
)

from .build import SMALLEST


def read(*overrides: str) -> Scenario:
    return loads(SMALLEST, overrides=overrides)


def refused(*overrides: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read(*overrides)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_goal_is_a_number_or_says_how_surely() -> None:
    plain = read("goals.utilization=0.98").goals.utilization
    surely = read("goals.utilization={at_least=0.98, probability=0.99}").goals.utilization
    assert plain == 0.98 and plain is not None and plain.probability is None
    assert surely is not None and (float(surely), surely.probability) == (0.98, 0.99)
    assert plain != surely and surely == AtLeast(0.98, 0.99)
    lost = read("goals.loss_rate={at_most=0.01, probability=0.9}").goals.loss_rate
    assert lost is not None and (float(lost), lost.probability) == (0.01, 0.9)


def test_delays_of_any_quantile_and_the_maximum() -> None:
    table = read('goals.queue_delay={quantile=0.999, at_most="5 ms"}').goals.queue_delay
    assert table is not None
    assert (table.quantile, table.at_most, table.maximum) == (0.999, Duration(5e-3), None)
    table = read('goals.queue_delay={maximum="10 ms"}').goals.queue_delay
    assert table is not None and table.maximum == Duration(10e-3)
    assert read("goals.queue_delay.maximum=10 ms").goals.queue_delay == table


def test_a_class_has_goals_of_its_own() -> None:
    goals = read('traffic.0.goals={loss_rate=0.001, throughput="30 Mbit/s"}').traffic[0].goals
    assert goals is not None
    assert (goals.loss_rate, goals.throughput) == (0.001, Rate(30e6))
    again = read("traffic.0.goals.loss_rate=0.001", "traffic.0.goals.throughput=30 Mbit/s")
    assert again.traffic[0].goals == goals


@pytest.mark.parametrize(
    ("setting", "code", "place", "said"),
    [
        ("goals.utilization={at_most=0.9, probability=0.9}", "unknown-key",
         "goals.utilization.at_most", "at_least = 0.98"),
        ("goals.utilization={at_least=0.9}", "missing", "goals.utilization.probability", "0.99"),
        ("goals.utilization={at_least=0.9, probability=0}", "out-of-range",
         "goals.utilization.probability", "above 0"),
        ("goals.utilization={at_least=2, probability=0.9}", "out-of-range", "goals.utilization",
         "0.001 to 1.0"),
        ("goals.loss_rate=true", "wrong-type", "goals.loss_rate", "0.01"),
        ("goals.queue_delay={quantile=0.9}", "missing", "goals.queue_delay", "at_most"),
        ("goals.queue_delay={}", "missing", "goals.queue_delay", "maximum"),
        ("goals.queue_delay={quantil=0.9}", "unknown-key", "goals.queue_delay.quantil", "quantile"),
        ("goals.queue_delay=10 ms", "wrong-type", "goals.queue_delay", "table"),
        ("goals.fct_increase=0.1", "contradiction", "goals.fct_increase", "no flow ever completes"),
        ("goals.realtime_loss=0.1", "contradiction", "goals.realtime_loss", "no class is"),
        ("traffic.0.goals.fct_mean=1 s", "contradiction", "traffic.0.goals.fct_mean", "completes"),
        ("traffic.0.goals.loss=0.1", "unknown-key", "traffic.0.goals.loss", "loss_rate"),
        ("traffic.0.flows=12..8", "out-of-range", "traffic.0.flows", "smaller end first"),
        ("traffic.0.flows=0..8", "out-of-range", "traffic.0.flows", "below the least, 1"),
        ("traffic.0.flows=8...12", "wrong-type", "traffic.0.flows", "8000..12000"),
    ],
)  # fmt: skip
def test_what_is_refused(setting: str, code: str, place: str, said: str) -> None:
    error = refused(setting)
    assert (error.code, error.field) == (code, place)
    assert said in str(error)


def test_one_mean_delay_is_enough() -> None:
    error = refused("goals.queue_delay.mean=5 ms", "goals.queue_delay_mean=4 ms")
    assert (error.code, error.field) == ("contradiction", "goals.queue_delay.mean")


def test_a_range_of_flows_stands_for_its_middle() -> None:
    scenario = read("traffic.0.flows=8000..12000")
    assert scenario.n_flows == 10_000 and scenario.flows_uncertain
    ends = [scenario.at_flows("low"), scenario.at_flows("high")]
    assert [end.n_flows for end in ends] == [8000, 12_000]
    assert not any(end.flows_uncertain for end in ends)
    assert ends[0] == read("traffic.0.flows=8000")
    assert not read().flows_uncertain


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_a_range_is_kept_as_it_was_written(a: int, b: int) -> None:
    low, high = sorted((a, b))
    count = FlowCount.parse(f" {low} .. {high} ")
    assert low <= count <= high
    assert FlowCount.parse(count.written()) == count
    assert (count == FlowCount(int(count))) == (low == high)


@pytest.mark.parametrize(
    "changes",
    [
        ["goals.utilization={at_least=0.98, probability=0.99}"],
        ['goals.queue_delay={quantile=0.999, at_most="5 ms", maximum="10 ms"}'],
        ["traffic.0.flows=8000..12000"],
        ["traffic.0.goals.loss_rate=0.001"],
    ],
)
def test_what_is_written_is_read_back_and_changes_the_hash(changes: list[str]) -> None:
    scenario = read(*changes)
    assert loads(dumps(scenario)) == scenario
    assert loads(dumps(scenario)).sha256() == scenario.sha256()
    blunt = read("goals.utilization=0.98", "traffic.0.flows=10000")
    assert scenario.sha256() not in (blunt.sha256(), read().sha256())
