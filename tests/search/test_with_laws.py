"""The search over the theory engine lands where the law's own inverse says."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import forebay
from forebay import laws
from forebay.scenario import ClassGoals, Goals
from forebay.search.goals import goals_of

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios" / "oc3-gsr.toml"


@pytest.mark.parametrize("flows", [300, 1000, 10_000])
@pytest.mark.parametrize("target", [0.95, 0.98, 0.999])
def test_the_search_is_the_inverse_of_equation_6(flows, target):
    rate = f"link.rate={155 * flows / 100} Mbit/s"  # the same window for any number
    overrides = [f"traffic.0.flows={flows}", f"goals.utilization={target}", rate]
    scenario = forebay.load(SHIPPED, overrides)
    result = forebay.size(scenario, engine="theory")
    said = {law.law: law.packets for law in laws.for_scenario(scenario)}
    inverse = said["appenzeller-2004/utilization"]
    assert inverse is not None
    assert result.buffer.packets == max(1, math.ceil(inverse))
    assert result.buffer.low == result.buffer.high
    assert len(result.curve) <= 35


def test_every_goal_that_can_be_written_is_asked():
    """A goal in the scenario that a sizing passed over would be worse than none."""
    maximum, both = {"maximum": "1 s"}, {"quantile": 0.9, "at_most": "1 s"}
    link: dict[str, Any] = {
        "utilization": [0.9, {"at_least": 0.9, "probability": 0.9}],
        "loss_rate": [0.1, {"at_most": 0.1, "probability": 0.9}],
        "queue_delay": [maximum, both, {"mean": "1 s"}],
        "queue_delay_mean": ["1 s"],
        "queue_delay_p99": ["1 s"],
        "fct_increase": [0.1],
        "realtime_loss": [0.1],
    }
    one: dict[str, Any] = {
        "throughput": ["1 Mbit/s"], "loss_rate": [0.1], "fct_mean": ["1 s"], "fct_p99": ["1 s"],
        "fct_increase": [0.1], "queue_delay_mean": ["1 s"], "queue_delay_p99": ["1 s"],
        "request_mean": ["1 s"], "request_p99": ["1 s"],
    }  # fmt: skip
    assert set(link) == set(Goals.model_fields) and set(one) == set(ClassGoals.model_fields)
    names = {
        goal.kind.name
        for field, values in link.items()
        for value in values
        for goal in goals_of(asked_for(Goals.model_validate({field: value}), None))
    }
    assert len(names) == sum(map(len, link.values())) - 1  # two ways to ask for the mean delay
    for field, values in one.items():
        goals = goals_of(asked_for(Goals(), ClassGoals.model_validate({field: values[0]})))
        assert [goal.kind.name for goal in goals] == [f"traffic.0.{field}"]


def asked_for(goals: Goals, of_class: ClassGoals | None) -> Any:
    group = SimpleNamespace(kind="short", goals=of_class)
    return SimpleNamespace(
        goals=goals,
        traffic=(group, SimpleNamespace(kind="udp", goals=None)),
        class_names=("short-0", "udp-1"),
        crossing=(),
        topology=None,
        queue=SimpleNamespace(classes=()),
    )


@pytest.mark.parametrize("flows", [1, 40, 1000])
def test_the_laws_answer_every_goal_of_a_link_of_long_flows(flows):
    """One, in step, out of step; and what gives way is least: a packet less or more is worse."""
    scenario = forebay.load(
        SHIPPED,
        [
            f"traffic.0.flows={flows}",
            "goals.utilization={at_least=0.9, probability=0.999}",
            'goals.queue_delay={maximum="2 ms", quantile=0.999, at_most="1.9 ms"}',
        ],
    )
    result = forebay.size(scenario, engine="theory")
    assert result.buffer is None
    assert {r.name: r.packets for r in result.relaxations if r.packets is not None}
    used = result.relaxations[0]
    assert used.relaxed < 0.999
    assert used.packets * 1500 * 8 / 155e6 <= 2e-3
    assert all(law.packets is None or law.packets > 0 for law in result.laws)


def test_laws_say_between_what_they_lie_where_flows_are_a_range():
    scenario = forebay.load(SHIPPED, ["traffic.0.flows=8000..12000", "link.rate=10 Gbit/s"])
    result = forebay.size(scenario, engine="theory")
    law = next(x for x in result.laws if x.law == "appenzeller-2004/sqrt-n")
    bdp = scenario.bdp_packets
    assert law.packets_between == pytest.approx((bdp / math.sqrt(12_000), bdp / math.sqrt(8000)))
    assert [end.flows for end in result.ends] == [8000, 12_000]
    few, many = (end.buffer for end in result.ends)
    assert few.packets > many.packets
    assert result.buffer.packets == few.packets
