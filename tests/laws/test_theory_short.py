"""The theory engine where flows are short, mixed with long ones, or never congest the link."""

from pathlib import Path

import pytest
from tests.scenarios import scenario

import forebay
from forebay.engines.theory import TheoryEngine
from forebay.outcome import LinkOutcome, Outcome
from forebay.scenario import Scenario
from forebay.search.goals import GoalNotAnswered

SHIPPED = Path(__file__).parents[2] / "scenarios"


def shipped(name: str, *overrides: str) -> Scenario:
    return forebay.load(SHIPPED / f"{name}.toml", overrides)


def run(scenario: Scenario) -> Outcome:
    return TheoryEngine().run(scenario, [1])


def link(scenario: Scenario) -> LinkOutcome:
    return run(scenario).links["bottleneck"]


def test_short_flows_by_the_exact_queue():
    """X in {2, 4, 8} at 0.8: 11.60 packets wait; each waits E[Q] / rho packet times."""
    found = link(shipped("short-flows"))
    assert found.utilization.value == pytest.approx(0.8)
    assert found.queue_packets.mean.value == pytest.approx(11.60)
    assert found.queue_delay_s.mean.value == pytest.approx(11.60 / 0.8 * 12_000 / 80e6)
    assert found.loss_rate.value == pytest.approx(0.0, abs=1e-12)


def test_size_of_short_flows_with_delay_goals():
    table = "goals.queue_delay={quantile = 0.999, at_most = '20 ms'}"
    found = forebay.size(shipped("short-flows", table, "goals.loss_rate=0.001"), engine="theory")
    assert found.buffer.packets > 50
    tight = shipped("short-flows", "goals.queue_delay_p99=1 ms")
    none = forebay.size(tight, engine="theory")
    assert none.buffer is None and none.reason


def test_an_eighth_longer_needs_the_buffer_of_figure_12():
    """§5.1.2: +12.5 % is P(Q > B) = 0.025, so the buffer is that of the loss goal."""
    eighth = shipped("short-flows", "goals.fct_increase=0.125", "goals.loss_rate=1.0")
    found = forebay.size(eighth, engine="theory")
    assert found.buffer.packets == 50
    below, there = (
        link(eighth.with_buffer(b)).goal_metrics["fct_increase"].value for b in (49, 50)
    )
    assert there <= 0.125 < below
    assert not run(eighth).broken_assumptions
    half = shipped("short-flows", "goals.fct_increase=0.125", "traffic.0.load=0.5")
    assert any("0.8 only" in line for line in run(half).broken_assumptions)


def test_no_other_increase_has_a_rule():
    other = shipped("short-flows", "goals.fct_increase=0.2")
    assert "fct_increase" not in link(other).goal_metrics
    with pytest.raises(GoalNotAnswered):
        forebay.size(other, engine="theory")


def test_size_of_a_mix():
    """§5.1.3: the long flows' eq. 6; 95 % with 200 of them needs less than bdp / sqrt(n)."""
    found = forebay.size(shipped("mix"), engine="theory")
    assert found.buffer.packets == pytest.approx(151, abs=1)


def test_a_mix_shares_the_link():
    """The short flows get the 80 Mbit/s that they offer; eq. 6 only bounds what is left."""
    outcome = run(shipped("mix"))
    long, short = outcome.classes
    assert long.throughput_bps is None
    assert short.throughput_bps.value == pytest.approx(80e6)
    alone = link(shipped("mix", "traffic.1.load=0.000001")).loss_rate
    beside = outcome.links["bottleneck"].loss_rate
    assert beside.value > 1.4 * alone.value


def test_an_uncongested_link_is_m_d_1_at_most():
    """Eight access links of 10 Mbit/s before 100: rho^2 / (2 (1 - rho)) = 1.6 packets at 0.8."""
    access = {"flows": 8, "rtt": "100 ms", "access_rate": "10 Mbit/s"}
    changes = {"link.rate": "100 Mbit/s", "queue.size": "200 packets", "traffic": [access]}
    found = link(scenario(changes))
    assert found.queue_packets.mean.value == pytest.approx(1.6)
    assert found.utilization.value == pytest.approx(0.8)
