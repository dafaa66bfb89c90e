"""The elasticities of a sizing, against the laws that give them."""

import json

import pytest

import forebay
from forebay.studies.sensitivity import inputs_of
from forebay.studies.uncertain import scaled, uncertain_inputs

ALONE = "one-at-a-time"
OC3 = forebay.load("oc3-gsr")


def test_the_square_root_law_has_its_elasticities() -> None:
    """B = RTT C / sqrt(n) (Appenzeller et al. 2004, section 3): 1, 1 and -1/2."""
    found = forebay.sensitivity(OC3, change=0.1, method=ALONE)
    powers = {each.path: each.elasticity for each in found.influences}
    assert powers["link.rate"] == pytest.approx(1.0, abs=0.05)
    assert powers["traffic.0.rtt"] == pytest.approx(1.0, abs=0.05)
    assert powers["traffic.0.flows"] == pytest.approx(-0.5, abs=0.1)
    assert powers["traffic.0.start"] == 0.0
    assert [abs(each.elasticity) for each in found.influences] == sorted(
        map(abs, powers.values()), reverse=True
    )
    assert f"elasticity {powers['link.rate']:+.2f}" in str(found)
    assert found.to_dict()["packets"] == found.packets
    assert (found.method, found.draws, found.asked_draws) == (ALONE, 0, 0), "no design was asked"


def test_shares_of_the_variance_follow_the_law() -> None:
    """Of log B = log RTT + log C - log(n) / 2, with equal ranges: 4/9, 4/9 and 1/9."""
    ranges = dict.fromkeys(("link.rate", "traffic.0.rtt", "traffic.0.flows"), "±20%")
    found = forebay.sensitivity(OC3, uncertain=ranges, draws=16)
    assert found.method == "sobol"
    assert found.draws == 16
    shares = {e.path: e.total.value for e in found.influences if e.total is not None}
    assert shares["link.rate"] == pytest.approx(4 / 9, abs=0.25)
    assert shares["traffic.0.flows"] == pytest.approx(1 / 9, abs=0.1)
    assert found.influences[-1].path == "traffic.0.flows"
    known = [m for e in found.influences for m in (e.first, e.total) if m is not None]
    widest = max(max(m.high - m.value, m.value - m.low) for m in known)
    assert f"95 % intervals up to ±{100 * widest:.0f} points" in str(found)


def test_one_input_alone_has_all_of_the_variance() -> None:
    (only,) = forebay.sensitivity(
        OC3, uncertain={"traffic.0.flows": "100..200"}, draws=16
    ).influences
    assert only.first.value == pytest.approx(1.0, abs=0.3)
    assert only.total.value == pytest.approx(1.0, abs=0.3)


def test_inputs_are_scaled_in_their_own_notation() -> None:
    for name in ("class-queues", "pareto", "l4s", "mix", "video-and-tcp"):
        scenario = forebay.load(name)
        for each in uncertain_inputs(scenario, inputs_of(scenario, 0.25)):
            for end in (0.0, 1.0):
                scenario.replace({each.field: each.at(end)})
    by_path = {each.path: each for each in uncertain_inputs(OC3, inputs_of(OC3, 0.25))}
    assert by_path["traffic.0.rtt"].at(1.0) == {"uniform": ["100 ms", "150 ms"]}
    assert by_path["traffic.0.flows"].at(0.0) == 75


def test_the_form_of_a_distribution_is_no_amount() -> None:
    values = {"values": ["10 ms", "20 ms"], "shares": [0.25, 0.75]}
    assert scaled(values, 2.0) == {"values": ["20 ms", "40 ms"], "shares": [0.25, 0.75]}
    assert scaled({"pareto": {"mean": "10 packets", "shape": 1.2}}, 2.0) == {
        "pareto": {"mean": "20 packets", "shape": 1.2}
    }
    assert scaled("80..120", 0.5) == "40..60"
    assert scaled("reno", 2.0) == "reno"


def test_the_rate_of_a_trace_is_no_input() -> None:
    varying = forebay.load("cellular-4g")
    inputs = inputs_of(varying, 0.25)
    assert "link.rate" not in inputs and inputs
    assert uncertain_inputs(varying, inputs)


def test_a_mix_of_controls_is_an_input() -> None:
    mixed = OC3.replace({"traffic.0.congestion_control": {"reno": 0.6, "cubic": 0.4}})
    inputs = {each.path: each for each in uncertain_inputs(mixed, inputs_of(mixed, 0.25))}
    found = inputs["traffic.0.congestion_control.reno"].at(0.0)
    assert found == {"reno": pytest.approx(0.45), "cubic": pytest.approx(0.55)}
    made = mixed.replace({"traffic.0.congestion_control": found})
    assert made.traffic[0].shares["cubic"] == pytest.approx(0.55)  # type: ignore[union-attr]


def test_a_scenario_without_an_answer_says_why() -> None:
    alike = OC3.replace({"traffic.0.rtt": "100 ms"})
    found = forebay.sensitivity(alike, uncertain={"link.rate": "±10%"})
    assert found.packets is None
    assert "theory has no law for this link" in str(found)


def test_the_command_prints_json(printed) -> None:
    ask = f"sensitivity oc3-gsr --uncertain link.rate=±10% --method {ALONE} --json"
    document = json.loads(printed(ask))
    assert document["influences"][0]["path"] == "link.rate"
    assert document["change"] is None
