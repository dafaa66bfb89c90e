"""Goals as tables, goals of a class, and numbers of flows that are not known exactly."""

from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import Duration, FlowCount, Rate, Scenario, loads
from forebay.scenario.goals import AtLeast

from .build import SMALLEST


def read(*overrides: str) -> Scenario:
    return loads(SMALLEST, overrides=overrides)


def test_a_goal_is_a_number_or_says_how_surely() -> None:
    number = read("goals.utilization=0.98")
    table = read("goals.utilization={at_least=0.98, probability=0.99}")
    plain, surely = number.goals.utilization, table.goals.utilization
    assert plain == 0.98 and plain.probability is None
    assert (float(surely), surely.probability) == (0.98, 0.99)
    assert plain != surely and surely == AtLeast(0.98, 0.99)
    assert number.sha256() != table.sha256()
    lost = read("goals.loss_rate={at_most=0.01, probability=0.9}").goals.loss_rate
    assert (float(lost), lost.probability) == (0.01, 0.9)
    assert read("goals.utilization=1").goals.utilization == 1.0
    assert loads(SMALLEST + "[goals]\n").goals.loss_rate is None
    read("goals.utilization=0.98", "traffic.0.access_rate=10 Mbit/s")  # of 100 flows


def test_delays_of_any_quantile_and_the_maximum() -> None:
    table = read('goals.queue_delay={quantile=0.999, at_most="5 ms"}').goals.queue_delay
    assert (table.quantile, table.at_most, table.maximum) == (0.999, Duration(5e-3), None)
    table = read('goals.queue_delay={maximum="10 ms"}').goals.queue_delay
    assert table.maximum == Duration(10e-3)
    assert read("goals.queue_delay.maximum=10 ms").goals.queue_delay == table


def test_a_class_has_goals_of_its_own() -> None:
    goals = read('traffic.0.goals={loss_rate=0.001, throughput="30 Mbit/s"}').traffic[0].goals
    assert (goals.loss_rate, goals.throughput) == (0.001, Rate(30e6))
    again = read("traffic.0.goals.loss_rate=0.001", "traffic.0.goals.throughput=30 Mbit/s")
    assert again.traffic[0].goals == goals


def test_a_range_of_flows_stands_for_its_middle() -> None:
    scenario = read("traffic.0.flows=8000..12000")
    assert scenario.n_flows == 10_000 and scenario.flows_uncertain
    ends = [scenario.at_flows("low"), scenario.at_flows("high")]
    assert [end.n_flows for end in ends] == [8000, 12_000]
    assert not any(end.flows_uncertain for end in ends)
    assert ends[0] == read("traffic.0.flows=8000") and not read().flows_uncertain


@given(st.integers(1, 10**7), st.integers(1, 10**7))
def test_a_range_is_kept_as_it_was_written(a: int, b: int) -> None:
    low, high = sorted((a, b))
    count = FlowCount.parse(f" {low} .. {high} ")
    assert low <= count <= high
    assert FlowCount.parse(count.written()) == count
    assert (count == FlowCount(int(count))) == (low == high)
