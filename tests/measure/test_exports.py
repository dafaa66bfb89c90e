"""Flow records in every protocol, made here byte by byte from the protocols' own texts.

Also such that are parts of flows: evicted early, missing, or with times of whole seconds.
"""

import random
import struct

import pytest
from tests.measure.dumbbell import pcap

from forebay import measure

START = 1_700_000_000
FLOWS = 40
SECONDS = 100
BYTES = 2_500_000
PACKETS = 2000
LOAD = FLOWS * BYTES * 8 / SECONDS / 100e6


def written(path, datagrams):
    """Write UDP datagrams as raw IP."""
    pcap(path, [])
    with path.open("ab") as file:
        for at, (data, port) in enumerate(datagrams):
            udp = struct.pack(">HHHH", 9999, port, 8 + len(data), 0) + data
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 1, 2)
            whole = ip + udp
            file.write(struct.pack("<IIII", START + at, 0, len(whole), len(whole)) + whole)
    return path


def flow(k):
    return struct.pack(">II", 0x0A000000 + k, 0x0B000000 + k)


def v5(first, count, *, sampling=0):
    """Cisco's format: 24 bytes of header, 48 a record; uptime 200 s at the end of all flows."""
    uptime = 200_000
    head = struct.pack(">HHIIIIBBH", 5, count, uptime, START + SECONDS, 0, first, 0, 0,
                       (1 << 14) | sampling if sampling else 0)  # fmt: skip
    body = b"".join(
        flow(k) + struct.pack(">IHHIIIIHHBBBBHHBBH", 0, 1, 2, PACKETS, BYTES, uptime - 100_000,
                              uptime, 1000 + k, 80, 0, 16, 6, 0, 0, 0, 0, 0, 0)
        for k in range(first, first + count)
    )  # fmt: skip
    return head + body, 2055


FIELDS = [(8, 4), (12, 4), (7, 2), (11, 2), (4, 1), (1, 4), (2, 4)]


def template(*times):
    fields = [*FIELDS, *times]
    return struct.pack(">HH", 256, len(fields)) + b"".join(struct.pack(">HH", *f) for f in fields)


def row(k, *times):
    return flow(k) + struct.pack(">HHBII", 1000 + k, 80, 6, BYTES, PACKETS) + b"".join(times)


def padded(number, body):
    body += bytes(-len(body) % 4)
    return struct.pack(">HH", number, len(body) + 4) + body


def v9(number, body):
    """RFC 3954, section 5.1."""
    head = struct.pack(">HHIIII", 9, 1, 200_000, START + SECONDS, number, 7)
    return head + body, 2055


def ipfix(number, body):
    """RFC 7011, section 3.1."""
    head = struct.pack(">HHIII", 10, 16 + len(body), START + SECONDS, number, 7)
    return head + body, 4739


def v9_records(first, last):
    times = (struct.pack(">I", 100_000), struct.pack(">I", 200_000))
    return padded(256, b"".join(row(k, *times) for k in range(first, last)))


def ipfix_records(first, last):
    times = [struct.pack(">Q", (START + at) * 1000) for at in (0, SECONDS)]
    return padded(256, b"".join(row(k, *times) for k in range(first, last)))


PROTOCOLS = {
    "v5": [v5(0, 20), v5(20, 20)],
    "v9": [v9(0, padded(0, template((22, 4), (21, 4)))), v9(1, v9_records(0, 20)),
           v9(2, v9_records(20, 40))],
    "ipfix": [ipfix(0, padded(2, template((152, 8), (153, 8)))), ipfix(0, ipfix_records(0, 20)),
              ipfix(20, ipfix_records(20, 40))],
}  # fmt: skip


def read(path):
    return measure.exports([path], rate="100 Mbit/s")


def agrees(told):
    """Whether it tells the forty flows that all records are of."""
    assert told.packets == FLOWS * PACKETS
    assert told.seconds == pytest.approx(SECONDS)
    assert told.estimates["load"].value == pytest.approx(LOAD, rel=1e-3)
    assert told.estimates["tcp_share"].value == 1.0
    assert told.estimates["concurrent_flows"].value == pytest.approx(FLOWS, rel=0.02)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_says_the_same(tmp_path, protocol):
    told = read(written(tmp_path / "x.pcap", PROTOCOLS[protocol]))
    agrees(told)
    n = told.estimates["long_flows"]
    assert n.low <= FLOWS <= n.high
    assert told.estimates["flow_bytes"]["mean"].value == pytest.approx(BYTES, rel=2e-3)
    assert told.notes == []
    with pytest.raises(measure.MeasureError, match="no round trips"):
        told.scenario()


def test_lost_and_reordered_exports_are_told(tmp_path):
    lost = [v5(0, 10), v5(20, 10), v5(10, 5), v5(30, 10)]
    notes = read(written(tmp_path / "x.pcap", lost)).notes
    assert any(note.startswith("5 flow records") for note in notes)
    assert any(note.startswith("1 datagrams arrived after") for note in notes)


def test_records_before_their_template_are_left_out_and_told(tmp_path):
    late = [PROTOCOLS["v9"][1], PROTOCOLS["v9"][0], PROTOCOLS["v9"][2]]
    told = read(written(tmp_path / "x.pcap", late))
    assert told.packets == 20 * PACKETS
    assert any("before their template" in note for note in told.notes)


def test_sampled_records_scale_the_load_and_count_no_flows(tmp_path):
    told = read(written(tmp_path / "x.pcap", [v5(0, 20, sampling=10)]))
    assert told.estimates["load"].value == pytest.approx(LOAD * 10 / 2, rel=1e-3)
    refused = {one.name: one.why for one in told.refused}
    assert "one packet of 10" in refused["long_flows"]
    assert "one packet of 10" in refused["concurrent_flows"]


def test_sflow(tmp_path):
    """sFlow version 5, flow samples with raw headers; one packet of a thousand."""
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 1500, 0, 0, 64, 6, 0, 1, 2) + bytes(40)
    raw = struct.pack(">IIII", 11, 1500, 0, len(header)) + header
    sample = struct.pack(">IIIIIIII", 1, 1, 1000, 5000, 0, 1, 2, 1)
    sample += struct.pack(">II", 1, len(raw)) + raw
    body = struct.pack(">II", 1, len(sample)) + sample
    datagrams = [
        (struct.pack(">IIIIIII", 5, 1, 1, 0, number, 1000, 1) + body, 6343) for number in range(60)
    ]
    told = read(written(tmp_path / "x.pcap", datagrams))
    assert told.estimates["load"].value == pytest.approx(1000 * 1500 * 8 / 100e6)
    assert told.estimates["tcp_share"].value == 1.0
    assert "one packet of 1000" in {r.name: r.why for r in told.refused}["long_flows"]


def test_a_capture_without_exports_is_told(tmp_path):
    with pytest.raises(measure.MeasureError, match="no flow record"):
        read(written(tmp_path / "x.pcap", [(b"nothing", 53)]))


N, PER_S = 2000, 64


def parts(length_ms):
    """Divide flows of 100 s into records, a flow's number, and its first and last packet in ms."""
    draw, found = random.Random(43), []
    for k in range(N):
        at = draw.randrange(1000)
        while at < SECONDS * 1000:
            end = min(at + max(int(length_ms(draw)), 200), SECONDS * 1000)
            found.append((k, at, end))
            at = end + 15
    return sorted(found, key=lambda part: part[2])


def evicted(draw):
    return draw.expovariate(1 / 5000)


def datagrams(records, *, step_ms=1):
    """Yield version 5 datagrams of thirty records; uptime is 100 s at the first packet."""
    for first in range(0, len(records), 30):
        some = records[first : first + 30]
        body = b"".join(_record(part, step_ms) for part in some)
        now = (200_000, START + SECONDS, 0)
        yield struct.pack(">HHIIIIBBH", 5, len(some), *now, first, 0, 0, 0) + body, 2055


def _record(part, step_ms):
    k, first, last = part
    packets = max((last - first) * PER_S // 1000, 1)
    low, high = (100_000 + at // step_ms * step_ms for at in (first, last))
    return flow(k % 60_000) + struct.pack(
        ">IHHIIIIHHBBBBHHBBH", 0, 1, 2, packets, 1400 * packets, low, high, 1000, 80, 0, 16, 6, 0,
        0, 0, 0, 0, 0,
    )  # fmt: skip


def n_of(tmp_path, sent):
    told = read(written(tmp_path / "x.pcap", sent))
    n = told.estimates["long_flows"]
    return told, n, "; ".join(told.notes)


def test_records_that_a_cache_evicts_early_are_joined_and_said(tmp_path):
    told, n, notes = n_of(tmp_path, datagrams(parts(evicted)))
    assert n.low <= N <= n.high
    assert n.value == pytest.approx(N, rel=0.02)
    assert "cache evicts flows" in notes and "are joined" in n.bias
    assert told.estimates["concurrent_flows"].value == pytest.approx(N, rel=0.02)


def test_records_that_an_active_timeout_ends_are_joined_without_a_word(tmp_path):
    _, n, notes = n_of(tmp_path, datagrams(parts(lambda _: 20_000)))
    assert n.low <= N <= n.high
    assert n.value == pytest.approx(N, rel=0.01)
    assert notes == ""


def test_missing_records_widen_the_interval_and_many_refuse_it(tmp_path):
    sent = list(datagrams(parts(evicted)))
    draw = random.Random(5)
    _, n, notes = n_of(tmp_path, [each for each in sent if draw.random() > 0.05])
    assert n.low <= N <= n.high and n.high > 1.04 * N
    assert "are missing" in n.bias and "flow records or datagrams were lost" in notes
    many = [each for each in sent if draw.random() > 0.2]
    refused = {each.name: each.why for each in read(written(tmp_path / "m.pcap", many)).refused}
    assert "of the exports are missing" in refused["long_flows"]


def test_times_of_whole_seconds_are_said(tmp_path):
    _, n, notes = n_of(tmp_path, datagrams(parts(evicted), step_ms=1000))
    assert n.low <= N <= n.high
    assert "whole seconds" in notes


def test_connections_of_the_same_ports_with_a_pause_are_not_one_flow(tmp_path):
    """Each sends 128 packets in two seconds and pauses for five: none is long for certain."""
    records = [(k, at, at + 2000) for at in range(0, 100_000, 7000) for k in range(400)]
    _, n, notes = n_of(tmp_path, datagrams(records))
    assert n.low == 0 and "evicts" not in notes


def test_a_few_thousand_flows_of_one_record_are_no_evictions(tmp_path):
    records = [(k, 20 * k, 20 * k + 30_000) for k in range(3000)]
    _, n, notes = n_of(tmp_path, datagrams(records))
    assert 1000 < n.value <= 1500 and notes == ""
