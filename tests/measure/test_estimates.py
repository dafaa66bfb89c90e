"""Captures without any round trip: estimates that need one are refused."""

import struct

import pytest
from tests.measure.dumbbell import pcap

from forebay import measure


def udp_over_ipv6(path, packets, gap_s):
    """Write packets of 1048 bytes of one flow as raw IP."""
    pcap(path, [])
    head = struct.pack(">IHBB", 6 << 28, 1008, 17, 64) + bytes(15) + b"\1" + bytes(15) + b"\2"
    packet = head + struct.pack(">HHHH", 5000, 6000, 1008, 0)
    with path.open("ab") as file:
        for k in range(packets):
            s, ns = divmod(round((1_700_000_000 + k * gap_s) * 1e6) * 1000, 10**9)
            file.write(struct.pack("<IIII", s, ns, len(packet), 1048) + packet)
    return path


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    return udp_over_ipv6(tmp_path_factory.mktemp("six") / "six.pcap", 3000, 1e-3)


def test_udp_alone_has_a_load_and_a_scenario_only_with_a_buffer(six):
    told = measure.capture([six], rate="10 Mbit/s")
    assert told.estimates["load"].value == pytest.approx(1048 * 8 / 1e-3 / 10e6, rel=0.01)
    assert told.estimates["unresponsive_share"].value == 1.0
    refused = {one.name for one in told.refused}
    assert {"long_flows", "rtt_s", "loss_rate", "slow_start_burst"} <= refused
    with pytest.raises(measure.MeasureError, match='write buffer="64 packets"'):
        told.scenario()
    told = measure.capture([six], rate="10 Mbit/s", buffer="64 packets", goal=0.5)
    assert [one.kind for one in told.scenario().traffic] == ["udp"]


def test_without_tcp_n_is_refused_in_one_line(six):
    why = {one.name: one.why for one in measure.capture(six, rate="10 Mbit/s").refused}
    assert why["long_flows"].startswith("no packet is TCP")


def test_a_rate_below_the_load_is_said_and_one_above_it_is_not(six):
    low = measure.capture(six, rate="1 Mbit/s").notes
    assert any("the load is 8.38 of the rate, which is too low" in note for note in low)
    assert not any("too low" in note for note in measure.capture(six, rate="10 Mbit/s").notes)


def test_two_packets_have_a_load_that_is_not_negative(tmp_path):
    path = udp_over_ipv6(tmp_path / "two.pcap", 2, 1.0)
    assert measure.capture(path, rate="10 Mbit/s").estimates["load"].low == 0


def test_no_packet_and_one_packet_are_refused(tmp_path):
    pcap(tmp_path / "empty.pcap", [])
    with pytest.raises(measure.MeasureError, match="has no packets; capture for"):
        measure.capture(tmp_path / "empty.pcap", rate="10 Mbit/s")
    one = udp_over_ipv6(tmp_path / "one.pcap", 1, 1.0)
    with pytest.raises(measure.MeasureError, match="all packets have one time"):
        measure.capture(one, rate="10 Mbit/s")


def test_bursts_are_refused_where_no_round_trip_tells_them_apart(tmp_path):
    path = tmp_path / "brief.pcap"
    frames = [
        (k * 1e-4, (k % 50, True, 1 + k // 50 * 1448, 1448, 16, 0, 0, 1)) for k in range(5000)
    ]
    pcap(path, frames, stamps=False)
    refused = {one.name: one.why for one in measure.capture([path], rate="1 Gbit/s").refused}
    assert "no round trip" in refused["slow_start_burst"]


def test_one_file_and_one_network_need_no_list(six):
    several = measure.capture([six], rate="10 Mbit/s", toward=["::/0"])
    one = measure.capture(six, rate="10 Mbit/s", toward="::/0")
    assert one.to_dict() == several.to_dict()
    assert measure.capture(str(six), rate="10 Mbit/s").packets == one.packets == 3000
    assert repr(one).startswith("Measured(3000 packets in 2.999 s: load")
