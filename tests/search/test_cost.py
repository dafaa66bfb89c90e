"""What a run should cost, and what is done where that is too much."""

import math

import pytest

from forebay.scenario import Scenario, loads
from forebay.search.budget import TimeLimit
from forebay.search.cost import (
    _FLOWS,
    Speed,
    TooLittleTime,
    _at,
    _flows,
    cost_s,
    in_words,
    packets_per_second,
)
from forebay.search.run_within import fitted, predict_run


def link(rate: str, flows: int) -> Scenario:
    return loads(f'[link]\nrate = "{rate}"\n[[traffic]]\nflows = {flows}\n')


def within(seconds: float) -> TimeLimit:
    """Return a limit that has just begun, and whose clock stands still."""
    return TimeLimit(seconds, lambda: 0.0, 0.0)


def test_packets_of_a_full_link_and_of_one_that_is_not():
    assert packets_per_second(link("12 Mbit/s", 10)) == 1000
    udp = (
        '[link]\nrate = "12 Mbit/s"\n[queue]\nsize = "9 packets"\n'
        '[[traffic]]\nkind = "udp"\nflows = 4\nload = 0.5\n'
    )
    assert packets_per_second(loads(udp)) == pytest.approx(500)


def test_small_datagrams_beside_long_flows_and_a_shaper_count():
    long = "[[traffic]]\nflows = 9\n"
    udp = '[[traffic]]\nkind = "udp"\nflows = 4\nload = 0.5\npacket = "150 B"\n'
    rate = '[link]\nrate = "12 Mbit/s"\n'
    assert packets_per_second(loads(rate + long + udp)) == pytest.approx(500 + 5000)
    shaper = 'shaper = { rate = "6 Mbit/s", refill = "deficit" }\n'
    assert packets_per_second(loads(rate + shaper + long)) == pytest.approx(500)


def test_more_flows_and_models_of_the_path_cost_more():
    few, many = (cost_s(link("1 Gbit/s", flows), 10.0) for flows in (100, 100_000))
    assert many > 5 * few
    bbr = loads(
        '[link]\nrate = "1 Gbit/s"\n[[traffic]]\nflows = 100\ncongestion_control = "bbr3"\n'
    )
    assert cost_s(bbr, 10.0) > 2 * few


def test_the_speed_of_this_machine_is_learnt():
    speed = Speed(2)
    before = speed.wall_s(link("1 Gbit/s", 100), 10.0, 4)
    speed.add(1.0, 3.0)
    assert speed.wall_s(link("1 Gbit/s", 100), 10.0, 4) == pytest.approx(3 * before)
    assert Speed(4).wall_s(link("1 Gbit/s", 100), 10.0, 4) == pytest.approx(before / 2)


def test_a_machine_with_other_work_is_seen_before_the_first_run():
    clock = iter([10.0, 10.0 + 3 * 0.05])
    speed = Speed.under_load(2, lambda: next(clock))
    assert speed.factor == pytest.approx(3.0)
    speed.add(1.0, 1.0)  # what a run says weighs far more
    assert speed.factor == pytest.approx(1.0, abs=0.05)


def test_a_run_that_fits_is_left_as_it_is():
    scenario = link("100 Mbit/s", 100)
    assert fitted(scenario, within(60.0), 1, Speed(1)) is scenario


def test_a_run_that_does_not_fit_is_shorter():
    scenario = link("10 Gbit/s", 100)
    whole = predict_run(scenario, 1, Speed(1))
    shorter = fitted(scenario, within(0.6 * whole), 1, Speed(1))
    assert predict_run(shorter, 1, Speed(1)) <= 0.6 * whole
    assert shorter.measure.duration < scenario.measure.duration


def test_what_the_scenario_says_of_its_window_stands():
    text = '[link]\nrate = "10 Gbit/s"\n[[traffic]]\nflows = 100\n[measure]\nduration = "40 s"\n'
    with pytest.raises(TooLittleTime, match="how long is measured"):
        fitted(loads(text), within(0.5), 1, Speed(1))


def test_a_run_far_too_large_is_refused_with_its_time():
    with pytest.raises(TooLittleTime, match="no smaller link") as refused:
        fitted(link("800 Gbit/s", 100_000), within(1.0), 1, Speed(1))
    assert refused.value.exit_status == 3


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.5, "0.5 s"),
        (45, "45 s"),
        (89, "89 s"),
        (150, "2.5 min"),
        (5400, "1.5 h"),
        (86400, "24 h"),
    ],
)
def test_times_are_written_as_a_scenario_reads_them(seconds, words):
    assert in_words(seconds) == words


def test_a_round_that_is_not_full_takes_as_long_as_a_full_one():
    scenario = link("1 Gbit/s", 100)
    one, three, four = (Speed(2).wall_s(scenario, 10.0, seeds) for seeds in (1, 3, 4))
    assert three == four == pytest.approx(2 * one)


def test_short_flows_that_arrive_in_a_second_count_as_flows():
    text = '[link]\nrate = "12 Mbit/s"\n[queue]\nsize = "9 packets"\n'
    short = '[[traffic]]\nkind = "short"\nlength = "10 packets"\nload = 0.5\n'
    assert _flows(loads(text + short)) == pytest.approx(0.5 * 1000 / 10, rel=0.05)
    assert _flows(loads(text + short + "[[traffic]]\nflows = 7\n")) == pytest.approx(57, rel=0.05)


def test_beyond_the_table_a_packet_costs_with_half_the_last_slope():
    row = tuple(1.0 + place for place in range(len(_FLOWS)))
    steep = math.log(row[-1] / row[-2]) / math.log(_FLOWS[-1] / _FLOWS[-2])
    assert _at(4.0 * _FLOWS[-1], row) == pytest.approx(row[-1] * 4.0 ** (steep / 2))
    assert _at(_FLOWS[-1], row) == pytest.approx(row[-1])


@pytest.mark.parametrize(("needs_s", "asked"), [(8.0, "10 s"), (80.0, "1.7 min")])
def test_a_refusal_recommends_a_quarter_more_than_was_predicted(needs_s, asked):
    assert f'budget="{asked}"' in str(TooLittleTime("it is large", needs_s, 1.0))


def test_a_refusal_says_where_finished_simulations_are_kept():
    refused = TooLittleTime("it is large", 80.0, 1.0)
    assert "kept" not in str(refused)
    assert "kept in s.sqlite, and it continues" in str(refused.but(kept_in="s.sqlite"))
