"""A link made smaller keeps what each flow has, and its sizes stand for the whole one's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refused import refused

from forebay.scenario import Scenario, loads
from forebay.search.carry import Crossing, exponent, here, prior, whole
from forebay.search.recommended import parse_sizes
from forebay.search.scaling import ScalingRule, rule_of, scaled, why_not


def link(traffic: str, rate: str = "100 Gbit/s", extra: str = "") -> Scenario:
    return loads(f'[link]\nrate = "{rate}"\n{extra}\n{traffic}\n[goals]\nutilization = 0.98\n')


MANY = '[[traffic]]\nflows = 20000\nrtt = { uniform = ["30 ms", "90 ms"] }\n'
FEW = '[[traffic]]\nflows = 100\nrtt = { uniform = ["30 ms", "90 ms"] }\n'
SHORT = '[[traffic]]\nkind = "short"\nlength = "14 packets"\n'
UDP = '[[traffic]]\nkind = "udp"\nflows = 1000\n'


def test_rate_and_flows_go_down_together():
    whole = link(MANY + UDP + "load = 0.1\n" + SHORT + "arrival_rate = 5000.0\n", "10 Gbit/s")
    small = scaled(whole, 10)
    assert scaled(whole, 1.0) is whole
    assert float(small.link.rate) == 1e9
    assert [group.flows for group in small.traffic] == [2000, 100, 0]
    assert small.traffic[2].arrival_rate == 500.0
    assert small.traffic[1].load == 0.1
    assert small.bdp_packets / small.n_flows == pytest.approx(whole.bdp_packets / whole.n_flows)


def test_what_flows_send_goes_down_with_their_windows_and_the_way_back_with_the_link():
    """100 UDP flows of 2 Mbit/s had all of a link on which the windows of others were smaller."""
    whole = link(
        FEW + "max_window = 500\n" + UDP + 'rate = "2 Mbit/s"\n', "10 Gbit/s",
        extra='reverse_rate = "1 Gbit/s"',
    )  # fmt: skip
    small = scaled(whole, 10.0, 0.5)
    long, udp = small.traffic
    assert (long.flows, long.max_window) == (32, 158)
    assert udp.flows * float(udp.rate) == pytest.approx(2e9 / 10.0, rel=1e-3)
    assert float(small.link.reverse_rate) == 1e8
    assert float(scaled(whole, 10.0).traffic[1].rate) == 2e6


def test_where_a_transfer_is_timed_nothing_is_scaled_and_where_users_wait_no_window():
    users = '[[traffic]]\nkind = "session"\nflows = 300\nfile = "30 kB"\n'
    assert rule_of(link(FEW + users), 50.0).share == 1.0
    timed = link(SHORT + 'load = 0.5\ngoals = { fct_mean = "1 s" }\n')
    assert "round trips" in str(why_not(timed))


def test_a_shaper_goes_down_with_its_link():
    """A link 50 times smaller kept a shaper of 20 Gbit/s, which then shaped nothing."""
    whole = link(MANY, extra='[link.shaper]\nrate = "20 Gbit/s"\nrefill = "deficit"\n')
    small = scaled(whole, 50)
    assert why_not(whole) is None
    assert float(small.link.capacity) == 4e8
    assert small.bdp_packets / small.n_flows == pytest.approx(whole.bdp_packets / whole.n_flows)


def test_a_smaller_link_has_no_bucket_but_the_rate_of_its_shaper():
    """At 200 Mbit/s, 60 CUBIC flows, 99.5 %: 80 packets without a bucket, 40 with 100 kB (67)."""
    whole = link(MANY, extra='[link.shaper]\nrate = "20 Gbit/s"\nburst = "250 kB"\n')
    small = scaled(whole, 50)
    assert why_not(whole) is None
    assert small.link.shaper is None
    assert float(small.link.rate) == 4e8


def test_a_smaller_link_stays_faster_than_its_access_links():
    """With the rates equal one of 800 flows had the link, 1 Gbit/s, at any buffer."""
    whole = link(MANY, "2.5 Gbit/s").replace({"traffic.0.access_rate": "1 Gbit/s"})
    small = scaled(whole, rule_of(whole, 50.0).largest)
    assert 1e9 < float(small.link.rate) < 1.1e9


@pytest.mark.parametrize(
    ("access", "ratio"), [("5 Gbit/s", 2.0), ("2.5 Gbit/s", 1.05), ("2.4 Gbit/s", 1.05)]
)
def test_faster_access_links_stay_as_much_faster_than_a_smaller_link(access, ratio):
    whole = link(MANY, "2.5 Gbit/s").replace({"traffic.0.access_rate": access})
    assert rule_of(whole, 50.0).largest >= 50.0
    small = scaled(whole, 50.0)
    assert small.traffic[0].access_rate == pytest.approx(ratio * float(small.link.rate))


def test_many_flows_are_made_fewer_and_few_are_kept():
    assert rule_of(link(MANY), 50.0).share == 1.0
    few = rule_of(link(FEW), 50.0)
    assert few.share == 0.0
    assert few.shrinks_windows
    assert (few.gentlest, few.likely, few.steepest) == (0.7, 1.0, 1.5)
    assert scaled(link(FEW), 50.0, few.share).n_flows == 100


def test_windows_shrink_with_a_goal_on_loss_only_where_flows_do_not_suffice():
    one = link(FEW)
    assert rule_of(one, 2.0, 100.0).shrinks_windows
    for goal in ({"goals.loss_rate": 0.01}, {"traffic.0.goals": {"loss_rate": 0.01}}):
        assert not rule_of(one.replace(goal), 2.0, 100.0).shrinks_windows
        assert rule_of(one.replace(goal), 50.0).shrinks_windows


def test_each_of_the_sizes_that_can_be_configured_has_a_packet():
    assert parse_sizes("15 kB, 1 packets", link(FEW)) == (1, 10)
    assert parse_sizes("90,200 ms", link(FEW)) == parse_sizes("90 ms, 200 ms", link(FEW))
    assert parse_sizes("900,2000 µs", link(FEW)) == parse_sizes("0.9 ms, 2 ms", link(FEW))
    assert parse_sizes("1,2 bdp/sqrt(n)", link(FEW)) == parse_sizes(
        "1 bdp/sqrt(n),2 bdp/sqrt(n)", link(FEW)
    )
    with refused("one of them is less than a packet"):
        parse_sizes("15 kB, 100 B, 1 MB", link(FEW))


FEWER = ScalingRule(1.0, 1000.0)


@given(
    packets=st.integers(1, 10_000), factor=st.floats(1.0, 1000.0), bdp=st.floats(1.0, 1e6),
    of=st.floats(0.0, 0.5),
)  # fmt: skip
def test_there_and_back(packets, factor, bdp, of):
    there = whole(packets, factor, bdp, of)
    assert packets <= there * (1 + 1e-9) and there <= packets * factor * (1 + 1e-9)
    assert here(there, factor, bdp, of) == packets


@given(a=st.floats(1.0, 1e4), more=st.floats(1.01, 3.0), factor=st.floats(1.0, 100.0))
def test_a_larger_size_stands_for_a_larger_one(a, more, factor):
    assert whole(a, factor, 500.0, 0.3) < whole(a * more, factor, 500.0, 0.3)


def test_small_buffers_grow_as_the_exponent_and_large_ones_as_the_link():
    assert whole(10.0, 100.0, math.inf, 0.25) == pytest.approx(10.0 * 100**0.25)
    assert whole(1e6, 100.0, 10.0, 0.25) == pytest.approx(1e8, rel=1e-3)


@pytest.mark.parametrize("slope", [0.1, 0.25, 0.45])
def test_the_exponent_is_measured_between_links(slope):
    seen = [Crossing(k, math.inf, math.log(50.0 * k**-slope), 0.01) for k in (4.0, 16.0, 64.0)]
    before = prior(FEWER, steep=False, one_process=False)
    found = exponent(before, seen, FEWER, steep=False)
    assert found.value == pytest.approx(slope, abs=0.06)
    assert found.low <= slope <= found.high
    alone = exponent(before, seen[:1], FEWER, steep=False)
    assert alone.value == pytest.approx(0.4) and alone.high - alone.low > found.high - found.low
