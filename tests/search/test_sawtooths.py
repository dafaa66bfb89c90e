"""Windows that hold the sawtooths of long flows."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from tests.search.asking import size_within
from tests.search.known_links import KnownLinks, link

from forebay import engines, laws
from forebay.laws import sawtooth
from forebay.laws.assumptions import sawtooths_s
from forebay.laws.quantities import sawtooth_period, settling_time
from forebay.outcome import SizeResult
from forebay.scenario import Scenario, loads
from forebay.search.cost import TooLittleTime
from forebay.search.sawtooths import measure_of
from forebay.search.strategies.scaling.rule import scales


def slow(
    rate: str,
    flows: str = "1",
    control: str = "reno",
    more: str = "",
    goal: str = "utilization = 0.95",
) -> Scenario:
    """Return a link whose flows have a round trip of 600 ms."""
    return loads(
        f'[link]\nrate = "{rate}"\n[[traffic]]\nflows = {flows}\nrtt = "600 ms"\n'
        f'congestion_control = "{control}"\n{more}\n[goals]\n{goal}\n'
    )


def sized(scenario: Scenario, **more: Any) -> SizeResult:
    how = {"seeds": range(1, 4), "max_seeds": 6, "jobs": 2, "laws": laws.for_scenario(scenario)}
    return size_within(
        scenario, engines.get("simulation"), 60.0, sawtooths=sawtooths_s, **how | more
    )


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_a_period_is_at_least_that_of_the_fluid_sawtooth(share: float) -> None:
    scenario = slow("10 Mbit/s")
    here = scenario.with_buffer(round(share * scenario.bdp_packets))
    known = sawtooth.period(here.buffer_packets, 1e7 / 12_000, here.bdp_packets)
    assert known <= sawtooth_period(here) <= 1.7 * known


def test_the_period_of_cubic_is_k_where_windows_are_large() -> None:
    """RFC 9438, eq. 2: K is the cube root of Wmax (1 - 0.7) / 0.4; for 1000 packets 9.1 s."""
    here = slow("1 Gbit/s", "54", "cubic").with_buffer(1)
    assert here.bdp_packets / 54 / 0.925 == pytest.approx(1000, rel=0.01)
    assert sawtooth_period(here) == pytest.approx(9.1, rel=0.01)
    assert sawtooth_period(slow("1 Mbit/s", "10", "cubic")) < 5


@pytest.mark.parametrize(
    "scenario",
    [
        slow("1 Gbit/s", "3", "bbr"),
        slow("1 Gbit/s", "3", more="max_window = 10", goal="loss_rate = 0.01"),
        slow("1 Gbit/s", "3", more='access_rate = "1 Mbit/s"', goal="loss_rate = 0.01"),
    ],
)
def test_flows_without_losses_have_no_sawtooth(scenario: Scenario) -> None:
    assert sawtooth_period(scenario) == 0.0


@pytest.mark.parametrize(
    "traffic",
    [
        'kind = "short"\nload = 0.5\nlength = "20 packets"\nrtt = "600 ms"',
        'kind = "udp"\nflows = 3\nload = 0.5\narrivals = "poisson"',
        'kind = "session"\nflows = 3\nfile = "1 MB"\nthink = "1 s"\nrtt = "600 ms"',
    ],
)
def test_traffic_without_long_flows_has_no_sawtooth_and_is_sized(traffic: str) -> None:
    scenario = loads(
        '[link]\nrate = "5 Mbit/s"\n[queue]\nsize = "100 packets"\n'
        f"[[traffic]]\n{traffic}\n[goals]\nloss_rate = 0.05\n"
    )
    assert sawtooth_period(scenario) == 0.0
    assert sized(scenario).buffer is not None


def test_few_flows_need_five_sawtooths_and_many_one() -> None:
    few, many = (sawtooths_s(slow("100 Mbit/s", n), 10) for n in ("99", "100"))
    assert few.window_s == 5 * few.period_s
    assert many.window_s == many.period_s
    assert sawtooths_s(slow("100 Mbit/s", '"3..300"'), 10) == sawtooths_s(
        slow("100 Mbit/s", "3"), 10
    )


def test_one_flow_over_a_satellite_needs_the_buffer_of_the_fluid_sawtooth() -> None:
    """In 40 s, half a sawtooth, the search found 154 packets; the fluid sawtooth needs 86."""
    scenario = slow("4 Mbit/s")
    found = sized(scenario)
    assert found.buffer is not None
    law = float(sawtooth.buffer_for(0.95, scenario.bdp_packets))
    assert found.buffer.packets == pytest.approx(law, rel=0.08)
    measured = found.curve[0].outcome.scenario["measure"]
    assert float(measured["duration"].removesuffix(" s")) > 5 * 80
    assert not any("sawtooth" in note for note in found.notes)


def test_a_window_that_the_scenario_sets_stays_and_is_said_to_be_short() -> None:
    found = sized(slow("4 Mbit/s", more='[measure]\nduration = "40 s"'))
    assert found.curve[0].outcome.scenario["measure"]["duration"] == "40 s"
    (note,) = [note for note in found.notes if "sawtooth" in note]
    assert note.startswith("each run measures 40 s, 0.")
    assert "measure.duration" in note


def test_a_sawtooth_that_no_run_can_hold_is_refused_at_once() -> None:
    ask = partial(size_within, seeds=range(1, 6), max_seeds=20, jobs=2, sawtooths=sawtooths_s)
    engine = KnownLinks()
    with pytest.raises(TooLittleTime, match=r"7\.5 h from one loss to the next") as refused:
        ask(slow("2 Gbit/s", "3"), engine, 60.0, clock=engine.clock)
    assert not engine.runs
    assert refused.value.needs_s > 3600


def test_many_flows_with_short_sawtooths_are_measured_as_ever() -> None:
    engine = KnownLinks()
    scenario = slow("100 Mbit/s", "1000")
    found = size_within(
        scenario,
        engine,
        60.0,
        seeds=range(1, 6),
        max_seeds=20,
        jobs=2,
        clock=engine.clock,
        sawtooths=sawtooths_s,
    )
    assert {point.outcome.scenario["measure"]["duration"] for point in found.curve} == {"40 s"}


def test_cubic_climbs_for_three_windows_of_round_trips_and_reno_for_half_as_long() -> None:
    """100 flows of 79 packets and 95 ms: their buffer is right from about 35 s on."""
    cubic, reno = (
        loads(
            '[link]\nrate = "1 Gbit/s"\n[[traffic]]\nflows = 100\n'
            f'rtt = {{ uniform = ["10 ms", "180 ms"] }}\ncongestion_control = "{control}"\n'
        ).with_buffer(1)
        for control in ("cubic", "reno")
    )
    climb = 1.6 * cubic.bdp_packets / 100 * 0.095
    assert settling_time(cubic) == pytest.approx(climb / 0.53, rel=0.001)
    assert settling_time(reno) == pytest.approx(climb, rel=0.001)
    assert sawtooths_s(cubic, 1).warmup_s == pytest.approx(10 + climb / 0.53, rel=0.001)


@pytest.mark.parametrize(("rate", "whole"), [("2 Gbit/s", True), ("40 Gbit/s", False)])
def test_flows_with_large_windows_have_settled_before_anything_counts(
    rate: str, whole: bool
) -> None:
    engine = KnownLinks(packets_per_s=2e7)
    scenario = link(rate, 120)
    found = size_within(
        scenario, engine, 60.0, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock,
        sawtooths=sawtooths_s,
    )  # fmt: skip
    assert (found.scaled is None) is whole
    assert not any("warms up" in note for note in found.notes)
    for played, warmup in engine.warmups.items():
        packets = played / 12_000 * 0.06 / 120
        assert warmup >= max(20.0 if whole else 0.0, 10 + 2.9 * packets * 0.06)
    assert engine.now < 61


def test_a_warmup_that_the_scenario_sets_stays_and_is_said_to_be_short() -> None:
    engine = KnownLinks(packets_per_s=1e9)
    scenario = link("2 Gbit/s", 120, extra='[measure]\nwarmup = "12 s"\nduration = "40 s"')
    found = size_within(
        scenario, engine, 60.0, seeds=range(1, 6), max_seeds=20, jobs=2, clock=engine.clock,
        sawtooths=sawtooths_s,
    )  # fmt: skip
    assert {point.outcome.scenario["measure"]["warmup"] for point in found.curve} == {"12 s"}
    (note,) = [note for note in found.notes if "warms up" in note]
    assert note.startswith("each run warms up for 12 s, but the windows of its flows settle in")


def test_few_flows_are_never_scaled() -> None:
    assert not scales(link("10 Gbit/s", 79))
    assert scales(link("10 Gbit/s", 100))


def test_a_share_of_a_short_window_is_still_a_window() -> None:
    assert float(measure_of(80_000.0, 0.0017, 0.9).duration) == 0.1
