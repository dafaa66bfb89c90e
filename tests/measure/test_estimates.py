"""Estimates and their intervals: a value lies in its own, and one that cannot be had is refused.

Captures without any round trip have none that needs one.
"""

import struct
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from tests.measure.dumbbell import pcap
from tests.measure.test_exports import PROTOCOLS, written

from forebay import measure
from forebay.measure.capture import _losses
from forebay.measure.estimate import BATCHES, STUDENT_95, Measured, share


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
    refused = {one.name: one.why for one in told.refused}
    assert {"long_flows", "rtt_s", "loss_rate", "slow_start_burst"} <= refused.keys()
    assert refused["long_flows"].startswith("no packet is TCP")
    with pytest.raises(measure.MeasureError, match='write buffer="64 packets"'):
        told.scenario()
    told = measure.capture([six], rate="10 Mbit/s", buffer="64 packets", goal=0.5)
    assert [one.kind for one in told.scenario().traffic] == ["udp"]


def test_a_rate_below_the_load_is_said_and_one_above_it_is_not(six):
    low = measure.capture(six, rate="1 Mbit/s").notes
    assert any("the load is 8.38 times the rate, which is too low" in note for note in low)
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


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_lies_in_its_interval(part, whole):
    told = share(min(part, whole), whole)
    assert 0.0 <= told.low <= told.value <= told.high <= 1.0


@pytest.mark.parametrize("whole", [1, 7, 7491, 10**6])
def test_none_and_all_are_in_their_intervals(whole):
    assert share(0, whole).low == 0.0
    assert share(whole, whole).high == 1.0


def test_the_interval_of_twenty_batches_is_student_s():
    assert pytest.approx(float(stdtrit(BATCHES - 1, 0.975)), rel=1e-12) == STUDENT_95


def test_a_capture_without_an_h_needs_no_scipy_and_no_asyncio(tmp_path):
    """Half a second of each command was their loading."""
    path = written(tmp_path / "x.pcap", PROTOCOLS["v5"])
    code = (
        "import sys; from forebay import measure;"
        f"measure.exports([{str(path)!r}], rate='100 Mbit/s');"
        "print(*{'scipy', 'asyncio', 'ssl'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize(("lost", "said"), [(50, False), (150, True)])
def test_heavy_loss_is_said_to_bias_round_trips_and_losses(lost, said):
    found = Measured()
    counted: Any = {"data_segments": 1000, "lost_before": lost, "repeated": 0, "late": 0}
    _losses(counted, "egress", found)
    assert any("too long" in note for note in found.notes) is said
