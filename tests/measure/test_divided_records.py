"""Flow records that are parts of flows: evicted early, missing, or with times of whole seconds."""

import random
import struct
from collections.abc import Callable, Iterator

import pytest
from tests.measure.test_exports import SECONDS, START, flow, read, written

N, PER_S = 2000, 64
Part = tuple[int, int, int]
"""A flow's number, and its first and last packet in ms."""


def parts(length_ms: Callable[[random.Random], float], flows: int = N) -> list[Part]:
    """Divide flows of 100 s into records of random lengths, in the order of their ends."""
    draw, found = random.Random(43), []
    for k in range(flows):
        at = draw.randrange(1000)
        while at < SECONDS * 1000:
            end = min(at + max(int(length_ms(draw)), 200), SECONDS * 1000)
            found.append((k, at, end))
            at = end + 15
    return sorted(found, key=lambda part: part[2])


def evicted(draw: random.Random) -> float:
    return draw.expovariate(1 / 5000)


def datagrams(records: list[Part], *, step_ms: int = 1) -> Iterator[tuple[bytes, int]]:
    """Yield version 5 datagrams of thirty records; uptime is 100 s at the first packet."""
    for first in range(0, len(records), 30):
        some = records[first : first + 30]
        body = b"".join(_record(part, step_ms) for part in some)
        now = (200_000, START + SECONDS, 0)
        yield struct.pack(">HHIIIIBBH", 5, len(some), *now, first, 0, 0, 0) + body, 2055


def _record(part: Part, step_ms: int) -> bytes:
    k, first, last = part
    packets = max((last - first) * PER_S // 1000, 1)
    low, high = (100_000 + at // step_ms * step_ms for at in (first, last))
    return flow(k % 60_000) + struct.pack(
        ">IHHIIIIHHBBBBHHBBH", 0, 1, 2, packets, 1400 * packets, low, high, 1000, 80, 0, 16, 6, 0,
        0, 0, 0, 0, 0,
    )  # fmt: skip


def test_records_that_a_cache_evicts_early_are_joined_and_said(tmp_path):
    records = parts(evicted)
    told = read(written(tmp_path / "x.pcap", datagrams(records)))
    n = told.estimates["long_flows"]
    assert n.low <= N <= n.high
    assert n.value == pytest.approx(N, rel=0.02)
    assert any("cache evicts flows" in note for note in told.notes)
    assert "are joined" in n.bias
    assert told.estimates["concurrent_flows"].value == pytest.approx(N, rel=0.02)


def test_records_that_an_active_timeout_ends_are_joined_without_a_word(tmp_path):
    told = read(written(tmp_path / "x.pcap", datagrams(parts(lambda _: 20_000))))
    n = told.estimates["long_flows"]
    assert n.low <= N <= n.high
    assert n.value == pytest.approx(N, rel=0.01)
    assert told.notes == []


def test_missing_records_widen_the_interval_and_many_refuse_it(tmp_path):
    sent = list(datagrams(parts(evicted)))
    draw = random.Random(5)
    few = [each for each in sent if draw.random() > 0.05]
    told = read(written(tmp_path / "few.pcap", few))
    n = told.estimates["long_flows"]
    assert n.low <= N <= n.high
    assert n.high > 1.04 * N
    assert "are missing" in n.bias
    assert any("flow records or datagrams were lost" in note for note in told.notes)
    many = [each for each in sent if draw.random() > 0.2]
    refused = {each.name: each.why for each in read(written(tmp_path / "m.pcap", many)).refused}
    assert "of the exports are missing" in refused["long_flows"]


def test_times_of_whole_seconds_are_said(tmp_path):
    told = read(written(tmp_path / "x.pcap", datagrams(parts(evicted), step_ms=1000)))
    n = told.estimates["long_flows"]
    assert n.low <= N <= n.high
    assert any("whole seconds" in note for note in told.notes)


def test_connections_of_the_same_ports_with_a_pause_are_not_one_flow(tmp_path):
    """Each sends 128 packets in two seconds and pauses for five: none is long for certain."""
    records = [(k, at, at + 2000) for at in range(0, 100_000, 7000) for k in range(400)]
    told = read(written(tmp_path / "x.pcap", datagrams(records)))
    n = told.estimates["long_flows"]
    assert n.low == 0
    assert not any("evicts" in note for note in told.notes)


def test_a_few_thousand_flows_of_one_record_are_no_evictions(tmp_path):
    records = [(k, 20 * k, 20 * k + 30_000) for k in range(3000)]
    told = read(written(tmp_path / "x.pcap", datagrams(records)))
    assert 1000 < told.estimates["long_flows"].value <= 1500
    assert told.notes == []
