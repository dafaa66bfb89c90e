"""Long records count, assumed sizes are said and in the interval, and an error names the cause."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from forebay import measure
from forebay.measure import MeasureError

HEAD = "ts,te,td,sa,da,sp,dp,pr,flg,fwd,stos,ipkt,ibyt\n"
DAY = "2026-09-{:02d} {:02d}:00:00"
MBIT_HOUR = 450_000_000  # bytes of 1 Mbit/s in an hour


def flows(path: Path, *records: tuple[int, int, int]) -> Path:
    """Write records of so many Mbit/s from one hour to another."""
    lines = []
    for port, (begin, end, mbits) in enumerate(records):
        ends = [DAY.format(1 + hour // 24, hour % 24) for hour in (begin, end)]
        total = mbits * MBIT_HOUR * (end - begin)
        seconds = 3600.0 * (end - begin)
        lines.append(
            f"{ends[0]},{ends[1]},{seconds},192.0.2.1,198.51.100.1,{40000 + port},443,TCP,.AP.SF,"
            f"0,0,{total // 1000},{total}\n"
        )
    path.write_text(HEAD + "".join(lines))
    return path


@pytest.mark.parametrize(
    ("records", "load"),
    [
        ([(0, 8, 600), (0, 2, 100), (2, 4, 100), (4, 6, 100), (6, 8, 100)], 0.7),
        ([(6, 8, 100), (0, 8, 600), (0, 6, 100)], 0.7),  # the last hours are exported first
        ([(0, 5, 300)], 0.3),
        ([(0, 200, 250)], 0.25),  # eight days
        ([(199, 200, 100), (0, 200, 250), (0, 199, 100)], 0.35),
    ],
)
def test_a_record_of_any_length_counts(
    tmp_path: Path, records: list[tuple[int, int, int]], load: float
) -> None:
    told = measure.exports(flows(tmp_path / "f.csv", *records), rate="1 Gbit/s")
    found = told.estimates["load"]
    assert found.value == pytest.approx(load, rel=0.01)
    assert not any("ignored" in each for each in told.notes)


def table(path: Path, packet: float | None) -> Path:
    """Write counters of 149 Mbit/s and 10 drops a second, perhaps with packets of one size."""
    octets = 18_625_000
    head = "time_s,octets,drops" + (",packets" if packet else "")
    rows = [
        f"{at},{at * octets},{at * 10}" + (f",{at * octets / packet:.0f}" if packet else "")
        for at in range(200)
    ]
    path.write_text("\n".join([head, *rows]))
    return path


def test_an_assumed_size_is_said_and_its_error_is_in_the_interval(tmp_path: Path) -> None:
    told = measure.counters(table(tmp_path / "a.csv", None), rate="155 Mbit/s", rtt="100 ms")
    assert any("octets over 1500 B are taken" in each for each in told.notes)
    loss, n = told.estimates["loss_rate"], told.estimates["long_flows"]
    for size in (1500, 700, 340):
        path = table(tmp_path / "k.csv", size)
        known = measure.counters(path, rate="155 Mbit/s", rtt="100 ms")
        assert not any("octets over" in each for each in known.notes)
        true = known.estimates["loss_rate"].value
        assert 0.99 * loss.low <= true <= 1.01 * loss.high
        assert n.low <= known.estimates["long_flows"].value <= n.high
    wide = (n.high / n.low) / (
        known.estimates["long_flows"].high / known.estimates["long_flows"].low
    )
    assert wide > 1.5, "not knowing the size costs"


def capture(path: Path, frame: bytes) -> Path:
    record = struct.pack("<IIII", 1_700_000_000, 0, len(frame), len(frame))
    path.write_bytes(
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + 3 * (record + frame)
    )
    return path


ADDRESSES = bytes(12)
IP = bytes.fromhex("4500002800000000400600 00c0000201c6336401".replace(" ", "")) + bytes(20)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (
            b"\x00\x30\xaa\xaa\x03\x00\x00\x00\x08\x00" + IP,
            "3 IPv4 in LLC/SNAP frames are not read",
        ),
        (b"\x00\x30\xaa\xaa\x03\x00\x00\x00\x86\xdd" + IP, "3 IPv6 in LLC/SNAP"),
        (b"\x00\x26\x42\x42\x03" + bytes(35), "3 LLC frames"),
        (b"\x08\x06" + bytes(40), "3 ARP frames"),
        (b"\x12\x34" + bytes(40), "none is IP"),
    ],
)
def test_frames_without_ip_are_named(tmp_path: Path, after: bytes, said: str) -> None:
    path = capture(tmp_path / "c.pcap", ADDRESSES + after)
    with pytest.raises(MeasureError, match=said):
        measure.capture(path, rate="1 Gbit/s")


IDLE = """ESTAB 0 0 192.0.2.10:3306 198.51.100.1:4848
\t cubic wscale:8,7 rto:233 rtt:32.4/2.9 cwnd:11 ssthresh:8 bytes_sent:108000000 data_segs_out:9
"""


def test_idle_sockets_are_no_lack_of_counters(tmp_path: Path) -> None:
    path = tmp_path / "ss.txt"
    path.write_text(IDLE)
    refused = {each.name: each.why for each in measure.host(ss=path).refused}
    assert "has idle sockets alone" in refused["socket_retransmitted_share"]
    path.write_text(IDLE.replace("bytes_sent:108000000 data_segs_out:9", "unacked:3"))
    refused = {each.name: each.why for each in measure.host(ss=path).refused}
    assert "has neither bytes_sent nor" in refused["socket_retransmitted_share"]
