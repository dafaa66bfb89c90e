"""A loss of transfers alone is believed where the drawn load is the offered load."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from forebay.outcome import Metric
from forebay.scenario import Scenario, loads
from forebay.search.problem import problem_of
from forebay.search.transfers import too_few

LENGTH = 'length = { pareto = { mean = "60 kB", shape = 1.3 } }\n'
SHORT = f'[[traffic]]\nkind = "short"\nload = 0.5\n{LENGTH}'
LONG = "[[traffic]]\nflows = 5\n"


def link(traffic: str = SHORT, goal: str = "loss_rate = 0.001") -> Scenario:
    queue = '[queue]\nsize = "100 packets"\n'
    return loads(f'[link]\nrate = "20 Mbit/s"\n{queue}{traffic}[goals]\n{goal}\n')


def answer(low: float, high: float) -> Any:
    drawn = Metric(value=(low + high) / 2, low=low, high=high, n=20)
    outcome = SimpleNamespace(classes=[SimpleNamespace(throughput_bps=drawn)])
    return SimpleNamespace(there=SimpleNamespace(outcome=outcome))


@pytest.mark.parametrize(
    ("low", "high", "few"),
    [(9e6, 11e6, False), (8e6, 10e6, True), (9.9e6, 12e6, True), (5e6, 6e6, True)],
)
def test_the_drawn_load_is_compared_with_the_offered_load(
    low: float, high: float, few: bool
) -> None:
    why = too_few(problem_of(link(), "simulation"), answer(low, high))
    assert (why is not None) is few
    if why is not None:
        assert f"offer 10 Mbit/s, and {low / 1e6:.4g} to {high / 1e6:.4g} were drawn" in why
        assert "measure.duration" in why


@pytest.mark.parametrize("scenario", [link(SHORT + LONG), link(goal="utilization = 0.4")])
def test_long_flows_and_a_utilization_rest_on_no_rare_transfer(scenario: Scenario) -> None:
    assert too_few(problem_of(scenario, "simulation"), answer(5e6, 6e6)) is None
