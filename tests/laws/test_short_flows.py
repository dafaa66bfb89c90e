"""Laws of bursts read off a scenario: what they ask for, refuse, name broken."""

import math

import pytest

from forebay import laws
from forebay.laws import LawAnswer, bursts, mix
from forebay.laws.bursts import flow_lengths, slow_start_bursts
from forebay.laws.short_flows import whole_bursts
from forebay.scenario import FlowLength, Scenario, loads

SHORT = """
link.rate = "80 Mbit/s"
queue.size = "1000 packets"
goals.loss_rate = 0.025
[[traffic]]
kind = "short"
length = "14 packets"
load = 0.8
sender = "ns2"
rtt = "100 ms"
access_rate = "10 Gbit/s"
"""
SECOND = "\n[[traffic]]\n"


def short(*overrides: str, more: str = "") -> Scenario:
    return loads(SHORT + (SECOND + more if more else ""), overrides=overrides)


def answers(scenario: Scenario) -> dict[str, LawAnswer]:
    return {a.law.rpartition("/")[2]: a for a in laws.for_scenario(scenario)}


def bursts_of(scenario: Scenario) -> bursts.BurstTraffic:
    found = bursts.burst_traffic(scenario)
    assert found is not None
    return found


def test_14_packet_flows_at_80_percent():
    """§4 with P(Q > B) = 0.025: ln 40 x 2 x E[X^2] / E[X] = 44.27 packets, exactly 50."""
    found = answers(short())
    assert set(found) == {"short-flows", "short-flows-full", "exact-bursts"}
    assert found["short-flows"].packets == pytest.approx(math.log(40) * 2 * 84 / 14)
    assert found["short-flows-full"].packets == pytest.approx(50.17, abs=0.01)
    assert found["exact-bursts"].packets == 50
    assert all(a.assumptions_hold and a.utilization == 0.8 for a in found.values())


@pytest.mark.parametrize(
    "override", ["link.rate=40 Mbit/s", "link.rate=200 Mbit/s", "traffic.0.rtt=20 ms"]
)
def test_neither_rate_nor_round_trip_matters(override):
    """§4: only the load and the lengths do."""
    same, other = answers(short())["exact-bursts"], answers(short(override))["exact-bursts"]
    assert other.packets == same.packets


def test_classes_weigh_by_their_bursts():
    """Per second: flows of 14 send a burst each of 2, 4, 8; datagrams come one by one."""
    mixed = short(
        "traffic.0.load=0.4",
        more='kind = "udp"\nload = 0.2\narrivals = "poisson"\nflows = 5\naccess_rate = "10 Gbit/s"',
    )
    found = bursts_of(mixed)
    assert found.load == pytest.approx(0.6)
    flows, single = 0.4 / 14, 0.2  # bursts in a packet time
    whole = 3 * flows + single
    assert found.bursts.sizes.tolist() == [1, 2, 4, 8]
    expected = [single / whole, *[flows / whole] * 3]
    assert found.bursts.probabilities.tolist() == pytest.approx(expected)
    assert answers(mixed)["exact-bursts"].assumptions_hold


def test_classes_of_other_routes_are_not_counted():
    more = 'kind = "short"\nlength = "2 packets"\nload = 0.1\nroute = ["core"]\n[[links]]\n'
    both = short(more=more + 'name = "core"\nrate = "80 Mbit/s"')
    assert bursts_of(both).load == pytest.approx(0.8)


def test_windows_of_the_stack():
    assert bursts_of(short()).bursts.sizes.tolist() == [2, 4, 8]
    assert bursts_of(short("traffic.0.sender=linux")).bursts.sizes.tolist() == [4, 10]
    assert bursts_of(short("traffic.0.initial_window=14")).bursts.sizes.tolist() == [14]
    limited = bursts_of(short("traffic.0.max_window=4")).bursts  # 2, 4, 4, 4
    assert limited.sizes.tolist() == [2, 4]
    assert limited.probabilities.tolist() == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize(
    "law",
    [
        '{ geometric = "5 packets" }',
        '{ pareto = { mean = "5 packets", shape = 1.5, high = "500 packets" } }',
        '{ lognormal = { mean = "5 packets", deviation = "4 packets", high = "300 packets" } }',
        '"7.2 kB"',
    ],
)
def test_lengths_have_their_mean(law):
    group = short().traffic[0].model_copy()
    read = loads(SHORT.replace('"14 packets"', law)).traffic[0]
    length: FlowLength = read.length  # type: ignore[union-attr]
    lengths, weights = flow_lengths(length, int(group.packet))
    assert weights.sum() == pytest.approx(1.0)
    assert float(lengths @ weights) == pytest.approx(length.mean_packets(1500), rel=1e-6)


def test_flows_of_random_length_end_where_1e_13_of_them_would_be_longer():
    """Half of the flows end with each packet: 2**-43 is above 1e-13, 2**-44 below."""
    group = loads(SHORT.replace('"14 packets"', '{ geometric = "2 packets" }')).traffic[0]
    lengths, weights = flow_lengths(group.length, 1500)  # type: ignore[union-attr]
    assert (lengths[-1], weights[-1]) == (45, 2.0**-44)


@pytest.mark.parametrize(
    ("access", "says"),
    [
        ("800 Mbit/s", None),
        ("760 Mbit/s", "only 9.5 times as fast as the link"),
        ("80 Mbit/s", "no faster than the link"),
    ],
)
def test_access_links_ten_times_as_fast_leave_bursts_whole(access, says):
    said = whole_bursts(short(f"traffic.0.access_rate={access}"))
    assert said is None if says is None else says in str(said)


LONG = """
link.rate = "100 Mbit/s"
queue.size = "30 packets"
[[traffic]]
flows = 8
rtt = { uniform = ["80 ms", "120 ms"] }
access_rate = "10 Mbit/s"
"""


def test_slow_access_leaves_single_packets():
    """Access links of 80 % of the link in all: M/D/1 at 0.8 at most."""
    asked = loads(LONG)
    found = bursts_of(asked)
    assert (found.load, found.bursts.sizes.tolist()) == (pytest.approx(0.8), [1])
    assert laws.regime_of(asked).law == "appenzeller-2004/exact-bursts"
    assert laws.governing_law(asked) is laws.burst_law.LAW
    full = loads(LONG, overrides=["traffic.0.access_rate=12.5 Mbit/s"])
    assert bursts.burst_traffic(full) is None  # exactly the link: no longer bursts alone


def test_narrow_windows_come_as_whole_bursts():
    asked = loads(LONG, overrides=["traffic.0.access_rate=1 Gbit/s", "traffic.0.max_window=50"])
    found = bursts_of(asked)
    assert found.bursts.sizes.tolist() == [50]
    assert found.load == pytest.approx(8 * 50 * 12_000 / 0.1 / 100e6)
    assert laws.regime_of(asked).law == "appenzeller-2004/exact-bursts"


MIX = LONG.replace("flows = 8", "flows = 300").replace("10 Mbit/s", "1 Gbit/s") + (
    '[[traffic]]\nkind = "short"\nload = 0.2\nlength = "14 packets"\naccess_rate = "1 Gbit/s"\n'
    "[goals]\nutilization = 0.95\n"
)


def test_beside_long_flows_n_counts_these_alone():
    """§5.1.3: eq. 6 with the whole link; what the short flows offer is named once above a fifth."""
    found = answers(loads(MIX))
    bdp_packets = 100e6 * 0.1 / 12_000
    assert found["mix"].packets == laws.utilization.buffer_for(0.95, bdp_packets, 300)
    assert not any("short" in line for line in found["mix"].broken_assumptions)
    assert laws.regime_of(loads(MIX)).law == mix.LAW.name
    assert "short flows offer 40 % of the link, the paper tried 20 %" in " ".join(
        answers(loads(MIX, overrides=["traffic.1.load=0.4"]))["mix"].broken_assumptions
    )


PORT = """
link.rate = "1 Gbit/s"
queue.size = "100 packets"
[[traffic]]
kind = "requests"
flows = 10
response = "{response} packets"
rtt = "200 us"
access_rate = "1 Gbit/s"
"""


def test_the_bursts_of_a_link_are_those_of_the_classes_that_offer_anything():
    asked = short(more=SHORT.rpartition("[[traffic]]")[2].replace("14", "2"))
    both, first, second = (
        slow_start_bursts(asked, offered) for offered in ((1e6, 1e6), (0.5, 0.0), (0.0, 1e6))
    )
    assert both and first and second and slow_start_bursts(asked, (0.0, 0.0)) is None
    assert first.sizes.max() == 8 and second.sizes.max() == 2 and both.sizes.max() == 8
