"""What the laws answer for a scenario, which assumptions it breaks, and windows by hand."""

import pytest
from tests.scenarios import scenario

from forebay import laws
from forebay.laws import LawAnswer
from forebay.laws.quantities import (
    CLIMBS,
    EPOCHS,
    average_window,
    growth_of,
    sawtooth_period,
    settling_time,
)
from forebay.scenario import Long, Scenario


def answers(scenario: Scenario) -> dict[str, LawAnswer]:
    return {a.law: a for a in laws.for_scenario(scenario)}


def test_oc3_line_card(oc3):
    found = answers(oc3())
    assert found["villamizar-song/rule-of-thumb"].packets == pytest.approx(1291.67, abs=0.01)
    assert found["appenzeller-2004/sqrt-n"].packets == pytest.approx(129.17, abs=0.01)
    eq6 = found["appenzeller-2004/utilization"]
    assert eq6.packets == pytest.approx(127.03, abs=0.01)
    assert eq6.utilization == pytest.approx(0.982, abs=0.0005)
    assert eq6.broken_assumptions == ("fewer than 250 flows: windows may be synchronized",)
    assert not eq6.assumptions_hold
    assert "appenzeller-2004/loss" not in found  # no loss goal, so it has nothing to say


def test_every_law_has_its_own_name_and_source():
    names = [law.name for law in laws.LAWS]
    assert len(set(names)) == len(names)
    assert all(law.source for law in laws.LAWS)


def test_single_flow_holds_for_one_flow(oc3):
    found = answers(oc3("traffic.0.flows=1", 'measure.duration="12 h"'))
    single = found["appenzeller-2004/single-flow"]
    assert single.assumptions_hold
    assert single.utilization == pytest.approx(0.8174, abs=0.001)
    assert not found["appenzeller-2004/utilization"].assumptions_hold


def test_loss_goal(oc3):
    found = answers(oc3("goals.loss_rate=0.001"))
    asked = found["appenzeller-2004/loss"]
    assert asked.packets == pytest.approx(100 * (0.76 / 0.001) ** 0.5 - 1291.67, abs=0.1)
    assert any("twice 0.76/w^2" in line for line in asked.broken_assumptions)


def test_the_answer_over_a_range_of_flows_has_the_least_and_the_most(oc3):
    """BDP / sqrt(n) falls in n: the most flows need the least."""
    scenario = oc3("traffic.0.flows=64..256")
    answer = laws.sqrt_n.LAW.answer_over_range(scenario)
    bdp = scenario.bdp_packets
    assert answer.between == pytest.approx((bdp / 16, bdp / 8))
    assert laws.sqrt_n.LAW.answer_over_range(oc3("traffic.0.flows=64")).between is None


def link(control: str, rtt_ms: float = 100.0) -> Scenario:
    return scenario({
        "link.rate": "120 Mbit/s", "queue.size": "100 packets", "traffic.0.flows": 4,
        "traffic.0.rtt": f"{rtt_ms} ms", "traffic.0.congestion_control": control,
    })  # fmt: skip


def test_reno_climbs_by_its_growth_in_a_round_trip():
    """100 packets wait 5 ms on average at 10,000 packets a second; a loss takes half."""
    reno = link("reno")
    (group,) = (each for each in reno.traffic if isinstance(each, Long))
    climb_s = average_window(reno) / growth_of(group) * 0.105
    assert sawtooth_period(reno) == pytest.approx(2 / 3 * climb_s)
    assert settling_time(reno) == pytest.approx(CLIMBS * climb_s)


def test_cubic_climbs_as_reno_does_where_round_trips_are_short():
    """RFC 9438, eq. 4: 3 (1 - b) / (1 + b) = 0.53 packets a round trip with b = 0.7."""
    short = link("cubic", 1.0)
    window = average_window(short)
    assert settling_time(short) == pytest.approx(CLIMBS * window / 0.53 * 0.006)


def test_cubic_climbs_by_its_epochs_where_round_trips_are_long():
    """RFC 9438, eq. 1: W = C t^3 with C = 0.4."""
    long = link("cubic", 400.0)
    window = average_window(long)
    epoch_s = (window / 0.4) ** (1 / 3)
    assert settling_time(long) == pytest.approx(CLIMBS * EPOCHS * epoch_s)
    assert sawtooth_period(long) == pytest.approx((0.3 / 0.925 * window / 0.4) ** (1 / 3))
