"""Runs as short as the round trips allow, where the usual ones do not fit."""

from __future__ import annotations

import pytest

from forebay import laws
from forebay.scenario import Scenario, loads
from forebay.search.problem import LawContext, costs_little, problem_of
from forebay.search.shorten import shortened


def link(
    rtt: str = "0.2 ms", rate: str = "10 Gbit/s", control: str = "cubic", more: str = ""
) -> Scenario:
    return loads(
        f'[link]\nrate = "{rate}"\n[[traffic]]\nflows = 3\nrtt = "{rtt}"\n'
        f'congestion_control = "{control}"\n{more}\n'
        '[queue]\nsize = "100 packets"\n[goals]\nutilization = 0.95\n'
    )


def alone(traffic: str) -> Scenario:
    queue = '[queue]\nsize = "9 packets"\n'
    goal = "[goals]\nloss_rate = 0.01\n"
    return loads(f'[link]\nrate = "10 Gbit/s"\n{queue}[[traffic]]\n{traffic}\n{goal}')


def made(scenario: Scenario) -> Scenario | None:
    context = LawContext(sawtooths=laws.assumptions.sawtooths_s)
    found = shortened(problem_of(scenario, "simulation", context))
    return None if found is None else found.problem.scenario


def test_short_round_trips_need_short_runs() -> None:
    short = made(link())
    assert short is not None
    assert short.traffic[0].start.high == 0.2
    assert float(short.measure.warmup) == pytest.approx(1.2)
    assert float(short.measure.duration) == pytest.approx(2.0)


def test_a_slow_link_is_measured_until_enough_packets_have_crossed_it() -> None:
    short = made(link(rate="100 Mbit/s"))
    assert short is not None
    assert float(short.measure.duration) == pytest.approx(200e3 * 1500 * 8 / 1e8, abs=0.1)


@pytest.mark.parametrize(
    "scenario",
    [
        link(rtt="50 ms"),
        link(control="bbr"),
        link(more='start = "0 s"'),
        link(more='[measure]\nduration = "40 s"'),
        link(rate="10 Mbit/s"),
        link(more="[link.loss]\nrate = 0.001"),
        alone('kind = "udp"\nload = 0.5\nflows = 10'),
        alone('kind = "short"\nload = 0.5\nlength = "14 packets"'),
    ],
    ids=["sawtooths", "probes", "starts", "measure", "few packets", "loss", "udp", "short"],
)
def test_other_links_keep_their_runs(scenario: Scenario) -> None:
    assert made(scenario) is None


def test_a_size_costs_little_below_a_hundredth_of_the_shortest_round_trip() -> None:
    problem = problem_of(link(rtt="50 ms"), "simulation")  # 1.2 us a packet, 500 us
    assert costs_little(problem, 416)
    assert not costs_little(problem, 417)
    udp = alone('kind = "udp"\nload = 0.5\nflows = 10')
    assert not costs_little(problem_of(udp, "simulation"), 1)  # no round trip to compare with
