"""What paper D's law and the single flow's law say of a scenario."""

import pytest

from forebay import laws
from forebay.laws import LawAnswer, general_decrease, heterogeneous
from forebay.laws.quantities import flows_by_control
from forebay.scenario import Scenario


def answer(scenario: Scenario, law: str) -> LawAnswer:
    return next(each for each in laws.for_scenario(scenario) if each.law == law)


def with_protocol(scenario: Scenario, control: object) -> Scenario:
    """Without the check of scenarios, which accepts fewer protocols than the laws do."""
    group = scenario.traffic[0].model_copy(update={"congestion_control": control})
    return scenario.model_copy(update={"traffic": (group,)})


def test_oc3_with_400_flows(oc3):
    scenario = oc3("traffic.0.flows=400", "queue.size=30 packets")
    found = answer(scenario, "yang-2013/utilization")
    expected = heterogeneous.for_utilization(scenario.bdp_packets, 0.19245, 400, 0.98)
    assert found.packets == pytest.approx(float(expected), rel=1e-4)
    assert found.assumptions_hold
    assert 0.98 < found.utilization < 1.0


def test_a_mix_is_read_by_its_shares(oc3):
    scenario = with_protocol(oc3("traffic.0.flows=400"), {"reno": 0.5, "cubic": 0.5})
    assert flows_by_control(scenario) == {"reno": 200.0, "cubic": 200.0}
    mixed = answer(scenario, "yang-2013/utilization").packets
    pure = answer(oc3("traffic.0.flows=400"), "yang-2013/utilization").packets
    assert mixed < 0.85 * pure


def test_a_protocol_without_a_growth_function_is_named(oc3):
    found = heterogeneous.LAW.answer(with_protocol(oc3("traffic.0.flows=400"), "bbr"))
    assert found.packets is None and found.utilization is None
    assert found.broken_assumptions == ("congestion control bbr: no growth function is known",)


@pytest.mark.parametrize(
    ("control", "bdps"), [("reno", 1.0), ("cubic", 1 / 0.7 - 1), ("scalable", 1 / 7), ("bbr", 0.25)]
)
def test_one_flow_that_must_never_idle(oc3, control, bdps):
    scenario = with_protocol(oc3("traffic.0.flows=1", "goals.utilization=1"), control)
    found = general_decrease.LAW.answer(scenario)
    assert found.packets == pytest.approx(bdps * scenario.bdp_packets)
    assert found.assumptions_hold
    assert 0.75 < found.utilization <= 1.0
