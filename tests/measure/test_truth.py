"""Captures whose answer is known: n within 10 %, the median RTT within 2 %, loss within 10 %."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from tests.measure.dumbbell import Link, pcap

import forebay
from forebay import measure
from forebay.scenario import loads

FLOWS = 30


@cache
def link():
    played = Link(rate_bps=20e6, buffer=60, seed=3)
    played.play(FLOWS, seconds=40.0, low=0.04, high=0.12, ramp=3.0)
    return played


@cache
def taken(*, stamps=True, back=True, start_s=0.0):
    with TemporaryDirectory() as folder:
        path = Path(folder, "link.pcap")
        pcap(path, link().frames, stamps=stamps, back=back, start_s=start_s)
        return measure.capture([path], rate="20 Mbit/s", toward=["10.128.0.0/9"] if back else ())


@pytest.mark.parametrize(
    ("stamps", "back"), [(True, True), (False, True), (True, False)],
    ids=["both ways, timestamps", "both ways, without timestamps", "data alone, timestamps"],
)  # fmt: skip
def test_what_the_link_did_is_read_out_of_its_packets(stamps, back):
    told = taken(stamps=stamps, back=back).estimates
    assert told["long_flows"].value == pytest.approx(FLOWS, rel=0.1)
    assert told["long_flows"].low <= FLOWS <= told["long_flows"].high
    middle_rtt = np.median(link().rtts)
    if stamps:
        assert told["rtt_s"]["p50"]["value"] == pytest.approx(middle_rtt, rel=0.02)
    else:  # ACKs do not tell the wait before the capture: no value, and bounds on both sides
        assert "rtt_s" not in told
        lower, upper = (told[name]["p50"]["value"] for name in ("min_rtt_s", "recovery_s"))
        assert lower < middle_rtt < upper
    least = [sum(sender.legs) for sender in link().senders]
    middle = np.quantile(least, 0.5, method="inverted_cdf")
    assert told["min_rtt_s"]["p50"]["value"] == pytest.approx(middle, rel=0.02)
    assert told["loss_rate"].value == pytest.approx(link().drops / link().arrivals, rel=0.1)


def test_before_the_queue_acks_tell_the_round_trip_without_timestamps(tmp_path):
    """The queue lies between the capture and the receiver, and its wait is known."""
    waits = 0.020
    frames, samples = [], []
    for k in range(400):  # of each second one segment and its ACK, after a wait that is known
        at, number = 1 + k * 0.05, k % 4
        seq = 1 + k // 4 * 1448
        there = at + 0.030 + waits * (k % 5)
        frames += [(at, (number, True, seq, 1448, 16, 0, 0, 1)),
                   (there, (number, False, 1, 0, 16, 0, 0, seq + 1448))]  # fmt: skip
        samples.append(0.010 + there - at)
    for number in range(4):
        shake = ((0.0, True, 0, 2, 0), (0.03, False, 0, 18, 1), (0.04, True, 1, 16, 1))
        frames += [(at + number * 1e-3, (number, ahead, seq, 0, flags, 0, 0, ack))
                   for at, ahead, seq, flags, ack in shake]  # fmt: skip
    path = tmp_path / "before.pcap"
    pcap(path, sorted(frames), stamps=False)
    told = measure.capture([path], rate="20 Mbit/s", toward=["10.128.0.0/9"], at="ingress")
    assert told.estimates["rtt_s"]["p50"]["value"] == pytest.approx(np.median(samples), rel=0.02)
    behind = measure.capture([path], rate="20 Mbit/s", toward=["10.128.0.0/9"])
    assert "rtt_s" in {one.name for one in behind.refused}


def test_a_capture_that_begins_amid_the_flows_has_them_from_its_beginning():
    told = taken(start_s=20.0).estimates
    assert told["long_flows"].value == pytest.approx(FLOWS, rel=0.1)
    assert told["rtt_s"]["p50"]["value"] == pytest.approx(np.median(link().rtts), rel=0.02)


def test_amid_the_flows_one_direction_tells_no_round_trip():
    measured = taken(start_s=20.0, back=False)
    assert "rtt_s" in {one.name for one in measured.refused}
    assert "recovery_s" in measured.estimates
    with pytest.raises(measure.MeasureError, match="no round trip of its flows is known; capture"):
        measured.scenario()


def test_all_of_a_full_link_is_counted():
    told = taken(stamps=True, back=True).estimates
    data = [at for at, frame in link().frames if frame[1] and frame[3]]
    assert told["load"].value == pytest.approx(len(data) * 1500 * 8 / 20e6 / 40, rel=0.02)
    assert told["packet_bytes"]["full"].value == 1500
    assert told["tuples"].value == FLOWS


def test_a_full_link_tells_no_h():
    measured = taken(stamps=True, back=True)
    assert {"hurst", "hurst_by_slope"} <= {one.name for one in measured.refused}
    assert not {"hurst", "hurst_by_slope"} & set(measured.estimates)


def test_a_measured_link_simulated_has_the_utilization_of_the_capture(tmp_path):
    """Within three points, though the senders of the capture are not the simulator's."""
    played = Link(rate_bps=20e6, buffer=20, seed=3)
    played.play(16, seconds=50.0, low=0.06, high=0.12, ramp=2.0)
    sent = sum(at > 15 and frame[3] > 0 for at, frame in played.frames) * 1500 * 8 / 20e6 / 35
    path = tmp_path / "link.pcap"
    pcap(path, played.frames)
    measured = measure.capture(
        [path], rate="20 Mbit/s", toward=["10.128.0.0/9"], buffer="20 packets",
        congestion_control="reno",
    )  # fmt: skip
    outcome = forebay.run(loads(measured.scenario_toml()), seeds=3)
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(sent, abs=0.03)
