"""The search over the theory engine lands where the law's own inverse says."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import forebay
from forebay import laws

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios" / "oc3-gsr.toml"


@pytest.mark.parametrize("flows", [300, 1000, 10_000])
@pytest.mark.parametrize("target", [0.95, 0.98, 0.999])
def test_the_search_is_the_inverse_of_equation_6(flows: int, target: float) -> None:
    overrides = [f"traffic.0.flows={flows}", f"goals.utilization={target}"]
    scenario = forebay.load(SHIPPED, overrides)
    result = forebay.size(scenario, engine="theory")
    said = {law.law: law.packets for law in laws.for_scenario(scenario)}
    inverse = said["appenzeller-2004/utilization"]
    assert inverse is not None and result.buffer is not None
    assert result.buffer.packets == max(1, math.ceil(inverse))
    assert result.buffer.low == result.buffer.high
    assert len(result.curve) <= 35


def test_every_goal_of_a_scenario_is_a_kind_and_the_reverse() -> None:
    from forebay.scenario import Scenario
    from forebay.sizing import GOAL_KINDS

    goals = Scenario.model_fields["goals"].annotation
    assert goals is not None
    assert set(goals.model_fields) == {kind.name for kind in GOAL_KINDS}
