"""Flows that have not settled have no interval; `run` says what they need, or measures later."""

import pytest

import forebay
from forebay.outcome import Outcome
from forebay.scenario import Scenario, loads


def flow(rate: str, buffer: str, control: str, more: str = "", rtt: str = "65 ms") -> Scenario:
    return loads(
        f'[link]\nrate = "{rate}"\n[queue]\nsize = "{buffer}"\n[[traffic]]\nflows = 1\n'
        f'rtt = "{rtt}"\ncongestion_control = "{control}"\n{more}\n'
    )


def settled(outcome: Outcome) -> list[bool | None]:
    return [each.settled for each in outcome.classes]


CLIMBING = flow("500 Mbit/s", "500 kB", "reno")


@pytest.mark.parametrize(
    "scenario",
    [
        CLIMBING,
        flow("5 Gbit/s", "500 kB", "reno"),
        flow("50 Mbit/s", "500 kB", "reno", rtt="600 ms"),
        flow("1 Gbit/s", "7 s", "cubic"),
        flow("500 Mbit/s", "500 kB", "scalable", '[measure]\nwarmup = "1 s"\nduration = "10 s"'),
    ],
)
def test_a_flow_without_a_steady_state_has_no_interval(scenario):
    outcome = forebay.run(scenario)
    assert settled(outcome) == [False]
    link, only = outcome.links["bottleneck"], outcome.classes[0]
    assert link.utilization.low is None and only.goodput_bps.high is None
    assert only.unsettled.startswith("not settled: warm-up of about ")
    assert Outcome.from_dict(outcome.to_dict()) == outcome


@pytest.mark.parametrize(
    "scenario",
    [
        flow("5 Mbit/s", "30 packets", "reno"),
        flow("5 Mbit/s", "30 packets", "cubic"),
        flow("5 Mbit/s", "60 packets", "bbr", '[measure]\nwarmup = "45 s"'),
        flow("500 Mbit/s", "500 kB", "reno", "max_window = 100"),
        flow("500 Mbit/s", "500 kB", "cubic", 'access_rate = "10 Mbit/s"\nmax_window = 60'),
    ],
)
def test_a_settled_flow_has_its_interval(scenario):
    outcome = forebay.run(scenario)
    assert settled(outcome) == [True]
    assert outcome.classes[0].unsettled is None
    assert outcome.links["bottleneck"].utilization.low is not None  # type: ignore[union-attr]


def test_a_class_that_does_not_last_is_not_judged():
    traffic = '[[traffic]]\nkind = "udp"\nflows = 3\nload = 0.5\n'
    scenario = loads(f'[link]\nrate = "5 Mbit/s"\n[queue]\nsize = "9 packets"\n{traffic}')
    assert settled(forebay.run(scenario)) == [None]


def test_with_a_budget_the_window_is_lengthened_until_flows_have_settled():
    outcome = forebay.run(CLIMBING, budget="60 s")
    assert settled(outcome) == [True]
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(0.83, abs=0.04)  # type: ignore[union-attr]
    assert outcome.provenance.model_extra["cost"]["spent_s"] < 60.0


def test_a_window_that_the_scenario_sets_is_kept():
    more = 'offload = "off"\n[measure]\nwarmup = "20 s"\nduration = "40 s"'
    outcome = forebay.run(flow("500 Mbit/s", "500 kB", "reno", more), budget="60 s")
    assert settled(outcome) == [False]
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(0.318, abs=0.02)  # type: ignore[union-attr]


def test_a_sizing_over_a_window_that_is_set_says_nothing_of_flows_that_have_settled():
    scenario = loads(
        '[link]\nrate = "20 Mbit/s"\n[[traffic]]\nflows = 10\nrtt = "40 ms"\nstart = "0 s"\n'
        'congestion_control = "reno"\n[measure]\nwarmup = "10 s"\nduration = "20 s"\n'
        "[goals]\nutilization = 0.9\n"
    )
    found = forebay.size(scenario, seeds=2, max_seeds=2)
    assert not any("not settled" in note for note in found.notes)
