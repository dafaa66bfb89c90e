"""n, the mean RTT, the mean packet and the bdp of a link are those of the flows that cross it."""

import pytest
from tests.refused import refused

import forebay
from forebay.engines.replication.layout import lay_out
from forebay.scenario import Scenario, loads
from forebay.search.goals import SizingError

ELSEWHERE = """
link.rate = "200 Mbit/s"
goals.utilization = 0.98
[[links]]
name = "other"
rate = "40 Gbit/s"
queue.size = "1 bdp/sqrt(n)"
[[traffic]]
flows = 100
rtt = { uniform = ["20 ms", "120 ms"] }
[[traffic]]
flows = 2500
packet = "500 B"
rtt = "10 ms"
route = ["other"]
"""


def read(*overrides: str) -> Scenario:
    return loads(ELSEWHERE, overrides=overrides)


def test_strangers_do_not_count() -> None:
    scenario = read("queue.size=1 bdp/sqrt(n)")
    assert scenario.n_flows == 100 and scenario.packet == 1500
    assert scenario.bdp_packets == pytest.approx(200e6 * 0.07 / 12_000)
    assert scenario.buffer_packets == 117


def test_a_further_link_counts_its_own() -> None:
    scenario = read()
    other = scenario.at_link("other")
    assert (other.n_flows, other.packet) == (2500, 500)
    assert other.bdp_packets == pytest.approx(40e9 * 0.01 / 4000)
    assert scenario.queue_packets("other") == 2000  # 100 000 / sqrt(2500)


def test_the_answer_is_that_of_the_flows_that_cross() -> None:
    """Of 2600 flows it would be 22 packets; of the 100 it is 115."""
    found = forebay.size(read(), engine="theory")
    assert found.buffer.packets == 115
    assert found.governs.why.startswith("100 flows share the link")


def test_the_parking_lot_has_200_flows_on_each_link() -> None:
    scenario = forebay.load("parking-lot")
    assert [scenario.at_link(n).n_flows for n in ("bottleneck", "middle", "last")] == [200] * 3
    outcome = forebay.run(scenario, "theory")
    assert "fewer than 250 flows: windows may be synchronized" in outcome.broken_assumptions
    assert any("flows cross last, middle too" in line for line in outcome.broken_assumptions)


BOTH = """
link.rate = "100 Mbit/s"
queue.size = "1 bdp/sqrt(n)"
traffic = [
  { flows = 100, rtt = "100 ms" },
  { flows = 25, rtt = "20 ms", packet = "1000 B", direction = "reverse" },
]
"""


def test_each_direction_counts_what_sends_that_way() -> None:
    """1 bdp/sqrt(n): 833 / 10 packets forward, 250 / 5 in reverse."""
    scenario = loads(BOTH)
    links = {link.name: link for link in lay_out(scenario).links}
    assert links["bottleneck"].buffer_packets == 83 and links["reverse"].buffer_packets == 50
    assert links["reverse"].packet_bytes == 1000
    assert scenario.at_link().acknowledged == scenario.traffic[1:]
    assert scenario.at_link("reverse").acknowledged == scenario.traffic[:1]


def test_a_link_of_acks_alone_takes_the_flows_that_it_acknowledges() -> None:
    text = ELSEWHERE.replace(
        'route = ["other"]', 'route = ["bottleneck"]\nreturn_route = ["other"]'
    )
    scenario = loads(text, overrides=["links.0.rate=1 Gbit/s"])
    other = scenario.at_link("other")
    assert (other.n_flows, other.n_for_size) == (0, 2500)
    assert other.mean_rtt == pytest.approx(0.01)


def test_datagrams_alone_leave_a_link_the_scenario_s_bdp() -> None:
    udp = '[[traffic]]\nkind = "udp"\nflows = 1\nload = 0.1\nroute = ["third"]\n'
    third = '[[links]]\nname = "third"\nrate = "10 Mbit/s"\n[[traffic]]\nflows = 100'
    scenario = loads(ELSEWHERE.replace("[[traffic]]\nflows = 100", third) + udp)
    assert scenario.queue_packets("third") >= 1


def test_a_size_without_an_n_there_is_refused_where_it_stands() -> None:
    short = 'kind = "short"\nlength = "14 packets"\nload = 0.1\nrtt'
    with refused(r"links\.0\.queue\.size"):
        loads(ELSEWHERE.replace('flows = 2500\npacket = "500 B"\nrtt', short))


def test_a_reverse_queue_that_comes_to_nothing_is_refused() -> None:
    with refused("in reverse"):
        loads(BOTH, overrides=["traffic.1.rtt=1 us"])


def test_a_link_that_nobody_crosses_is_not_sized() -> None:
    text = ELSEWHERE.replace("goals.utilization", "goals.loss_rate")
    nobody = loads(text, overrides=['traffic.0.route=["other"]'])
    assert nobody.crossing == () and nobody.buffer_packets > 1
    for engine in ("theory", "simulation"):
        with pytest.raises(SizingError, match="no class sends data over bottleneck"):
            forebay.size(nobody, engine=engine)
    with refused("no data crosses the bottleneck"):
        read('traffic.0.route=["other"]')
