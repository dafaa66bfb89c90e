"""The elasticities of a sizing, against the laws that give them."""

from __future__ import annotations

import pytest

import forebay
from forebay.scenario import ScenarioError
from forebay.studies.sensitivity import inputs_of


def test_the_square_root_law_has_its_elasticities() -> None:
    """B = RTT C / sqrt(n) (Appenzeller et al. 2004, section 3): 1, 1 and -1/2."""
    found = forebay.sensitivity(forebay.load("oc3-gsr"), change=0.1)
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


def test_inputs_are_scaled_in_their_own_notation() -> None:
    scenario = forebay.load("class-queues")
    for each in inputs_of(scenario, 0.25):
        for value in (each.low, each.high):
            scenario.replace({each.path: value})
    by_path = {each.path: each for each in inputs_of(forebay.load("oc3-gsr"), 0.25)}
    assert by_path["traffic.0.rtt"].high == {"uniform": ["100 ms", "150 ms"]}
    assert by_path["traffic.0.flows"].low == 75


def test_a_bad_change_is_refused() -> None:
    with pytest.raises(ScenarioError, match="above 0 and below 1"):
        forebay.sensitivity(forebay.load("oc3-gsr"), change=20)
