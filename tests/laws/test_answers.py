"""What the laws answer for a scenario, which assumptions it breaks, and windows by hand."""

import pytest
from tests.scenarios import scenario

from forebay import laws
from forebay.laws import LawAnswer
from forebay.laws.quantities import (
    CLIMBS,
    EPOCHS,
    Held,
    average_window,
    growth_of,
    held_back,
    sawtooth_period,
    settling_time,
    share,
)
from forebay.laws.regime_words import cannot_fill
from forebay.laws.short_flows import one_packet_size, window_not_reached
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


def test_desynchronized_laws_hold_with_many_flows(oc3):
    found = answers(oc3("traffic.0.flows=400"))
    assert found["appenzeller-2004/sqrt-n"].assumptions_hold
    assert found["appenzeller-2004/utilization"].assumptions_hold
    assert not found["appenzeller-2004/single-flow"].assumptions_hold


def test_single_flow_holds_for_one_flow(oc3):
    found = answers(oc3("traffic.0.flows=1", 'measure.duration="12 h"'))
    single = found["appenzeller-2004/single-flow"]
    assert single.assumptions_hold
    assert single.utilization == pytest.approx(0.8174, abs=0.001)
    assert not found["appenzeller-2004/utilization"].assumptions_hold


def test_no_goal_no_size(oc3):
    scenario = oc3()
    bare = scenario.model_copy(
        update={"goals": scenario.goals.model_copy(update={"utilization": None})}
    )
    found = answers(bare)
    assert found["appenzeller-2004/utilization"].packets is None
    assert found["appenzeller-2004/utilization"].utilization is not None
    assert found["appenzeller-2004/single-flow"].packets is None


def test_loss_goal(oc3):
    found = answers(oc3("goals.loss_rate=0.001"))
    asked = found["appenzeller-2004/loss"]
    assert asked.packets == pytest.approx(100 * (0.76 / 0.001) ** 0.5 - 1291.67, abs=0.1)
    assert any("twice 0.76/w^2" in line for line in asked.broken_assumptions)


def test_no_buffer_is_lossless(oc3):
    assert "appenzeller-2004/loss" not in answers(oc3("goals.loss_rate=0.0"))


def test_unreachable_goal_has_no_size(oc3):
    found = answers(oc3("goals.utilization=1.0"))
    assert found["appenzeller-2004/utilization"].packets is None
    assert found["appenzeller-2004/synchronized"].packets == pytest.approx(1291.67, abs=0.01)


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("traffic.0.flows=249", "fewer than 250 flows"),
        ('traffic.0.rtt="100 ms"', "all round-trip times equal"),
        ("traffic.0.flows=1000", "average window of 1.3 packets"),
        ("traffic.0.max_window=3", "max_window is reached"),
        ('traffic.0.access_rate="387.5 kbit/s"', "never congested"),
        ('traffic.0.start="21 s"', "flows still start"),
        ('measure.duration="1 s"', "sawtooth periods"),
    ],
)
def test_each_broken_assumption_is_named(oc3, override, line):
    scenario = oc3("traffic.0.flows=400", override)
    broken = answers(scenario)["appenzeller-2004/utilization"].broken_assumptions
    assert [line in text for text in broken] == [True]


@pytest.mark.parametrize(
    ("n", "name"),
    [(1, "single-flow"), (2, "synchronized"), (9, "synchronized"), (10, "utilization")],
)
def test_governing_law_by_number_of_flows(oc3, n, name):
    law = laws.governing_law(oc3(f"traffic.0.flows={n}"))
    assert law.name == f"appenzeller-2004/{name}"


def test_only_counted_delayed_acks_fit_the_loss_law(oc3):
    """ns-2 counts ACKs; Linux counts what they cover, and grows as fast with delayed ones."""
    loss_law = {law.name: law for law in laws.LAWS}["appenzeller-2004/loss"]
    many = ("traffic.0.flows=400", "traffic.0.delayed_ack=true")
    assert loss_law.broken(oc3(*many)) == ()
    assert len(loss_law.broken(oc3(*many, "traffic.0.sender=linux"))) == 1


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


@pytest.mark.parametrize(("window", "held"), [(9, Held.BY_WINDOWS), (10, Held.NOT), (11, Held.NOT)])
def test_windows_that_fill_the_path_hold_nothing_back(window, held):
    """12 Mbit/s and 100 ms are 100 packets of 1500 B: ten flows of ten."""
    full = scenario({
        "link.rate": "12 Mbit/s", "traffic.0.flows": 10, "traffic.0.rtt": "100 ms",
        "traffic.0.max_window": window,
    })  # fmt: skip
    assert held_back(full) is held


def test_slow_access_links_are_said_in_megabits():
    slow = scenario({"traffic.0.access_rate": "2 Mbit/s"})
    assert "at most 8 Mbit/s, which is no more than the link's rate" in str(cannot_fill(slow))
    assert cannot_fill(scenario({"traffic.0.access_rate": "4 Mbit/s"})) is None


def test_a_receivers_window_bounds_what_a_flow_offers():
    """Two flows of ten packets of 12,000 bits in each 100 ms: 2.4 of 12 Mbit/s."""
    few = scenario({
        "link.rate": "12 Mbit/s", "traffic.0.flows": 2, "traffic.0.rtt": "100 ms",
        "traffic.0.max_window": 10,
    })  # fmt: skip
    assert share(few, {"long"}) == pytest.approx(0.2)


@pytest.mark.parametrize(("length", "reached"), [(20, False), (21, True)])
def test_a_window_ends_the_doubling_where_a_burst_would_be_longer(length, reached):
    """A burst of slow start is at most half of what a flow sends."""
    group = {"kind": "short", "length": f"{length} packets", "load": 0.3, "max_window": 10}
    assert (window_not_reached(scenario({"traffic": [group]})) is not None) == reached


@pytest.mark.parametrize(("other", "alike"), [("1500 B", True), ("600 B", False)])
def test_packets_of_two_sizes_break_the_laws_of_bursts(other, alike):
    group = {"kind": "short", "length": "14 packets", "load": 0.2}
    both = scenario({"traffic": [group, {**group, "packet": other}]})
    assert (one_packet_size(both) is None) == alike
