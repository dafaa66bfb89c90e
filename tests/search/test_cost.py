"""What a run should cost, and what is done where that is too much."""

import math

import pytest

from forebay.scenario import Scenario, loads
from forebay.search.cost import _FLOWS, Speed, _at, _flows, packets_per_second


def link(rate: str, flows: int) -> Scenario:
    return loads(f'[link]\nrate = "{rate}"\n[[traffic]]\nflows = {flows}\n')


def test_packets_of_a_second_by_what_offers_them():
    assert packets_per_second(link("12 Mbit/s", 10)) == 1000
    udp = (
        '[link]\nrate = "12 Mbit/s"\n[queue]\nsize = "9 packets"\n'
        '[[traffic]]\nkind = "udp"\nflows = 4\nload = 0.5\n'
    )
    assert packets_per_second(loads(udp)) == pytest.approx(500)
    long = "[[traffic]]\nflows = 9\n"
    udp = '[[traffic]]\nkind = "udp"\nflows = 4\nload = 0.5\npacket = "150 B"\n'
    rate = '[link]\nrate = "12 Mbit/s"\n'
    assert packets_per_second(loads(rate + long + udp)) == pytest.approx(500 + 5000)
    shaper = 'shaper = { rate = "6 Mbit/s", refill = "deficit" }\n'
    assert packets_per_second(loads(rate + shaper + long)) == pytest.approx(500)


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
