"""What becomes of each packet at each link: the table, and captures of what left."""

import csv
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.refused import refused

import forebay
from forebay import measure
from forebay.outcome import Outcome
from forebay.scenario import loads

LINK = """
link.rate = "10 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "3 s" }
"""
LONG = """
[[traffic]]
flows = 5
rtt = { uniform = ["30 ms", "60 ms"] }
start = { uniform = ["0 s", "0.5 s"] }
"""
SHORT = '[[traffic]]\nkind = "short"\nload = 0.3\nrtt = "30 ms"\nlength = "12 packets"\n'
UDP = '[[traffic]]\nkind = "udp"\nflows = 1\nload = 0.2\n'
SWITCHED = """
[[traffic]]
flows = 2
rtt = "20 ms"
start = "0 s"
schedule = { on = "300 ms", off = "200 ms" }
"""
DATAGRAMS = """
[[traffic]]
kind = "udp"
flows = 3
rate = "100 kbit/s"
packet = "500 B"
start = "0 s"
"""
SHARED = 'access_rate = "50 Mbit/s"\naccess_sharing = 5\n'


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def captured(path: Path, text: str, *overrides: str) -> tuple[Outcome, dict[str, Any]]:
    """Return the outcome, which a capture does not change, and what the capture tells."""
    scenario = loads(text, overrides=overrides)
    outcome, plain = forebay.run(scenario, capture=path), forebay.run(scenario)
    assert plain.links == outcome.links and plain.classes == outcome.classes
    told = measure.capture([path], rate="10 Mbit/s", interface="bottleneck").estimates
    # Headers of handshakes are in the capture and take no capacity.
    used = outcome.links["bottleneck"].utilization.value
    assert told["load"].value == pytest.approx(used, abs=0.01)
    return outcome, told


@pytest.mark.parametrize("discipline", ["drop-tail", "fq_codel", "red"])
def test_the_rows_add_up_to_the_readings_and_change_none(tmp_path, discipline):
    overrides = [f"queue.discipline={discipline}", "traffic.0.ecn=true"]
    scenario, path = loads(LINK + LONG, overrides=overrides), tmp_path / "p.csv"
    outcome, plain = forebay.run(scenario, packets=path), forebay.run(scenario)
    assert outcome.links == plain.links and outcome.classes == plain.classes
    seen = Counter(row["event"] for row in rows(path))
    link = outcome.links["bottleneck"]
    sent = link.utilization.value * 10e6 * 3 / 12000
    assert seen["dequeue"] == pytest.approx(sent, abs=1.0)
    decided = seen["drop"] / (seen["drop"] + seen["enqueue"])
    assert decided == pytest.approx(link.loss_rate.value, rel=0.05)
    assert seen["mark"] == pytest.approx(link.marks.value if link.marks else 0)
    assert {row["link"] for row in rows(path)} == {"bottleneck"}


def test_a_packet_of_a_full_link_waits_as_long_as_the_readings_say(tmp_path):
    path = tmp_path / "p.csv"
    outcome = forebay.run(loads(LINK + LONG), packets=path)
    came: dict[tuple[str, str], list[float]] = {}
    waits = []
    for row in rows(path):
        key, at = (row["flow"], row["sequence"]), float(row["time_s"])
        if row["event"] == "enqueue":
            came.setdefault(key, []).append(at)
        elif row["event"] == "dequeue" and came.get(key):
            waits.append(at - came[key].pop(0) - 1.2e-3)
    assert min(waits) > -1e-9
    mean = outcome.links["bottleneck"].queue_delay_s.mean.value
    assert float(np.mean(waits)) == pytest.approx(mean, rel=0.02)


@pytest.mark.parametrize("other", ["", LONG, SWITCHED], ids=["alone", "long", "switched"])
def test_flows_with_a_schedule_keep_their_numbers_and_datagrams_are_counted(tmp_path, other):
    path = tmp_path / "p.csv"
    forebay.run(loads(LINK + other + DATAGRAMS, overrides=["measure.warmup=0 s"]), packets=path)
    seen, transfers = dict[str, set[int]](), set[tuple[str, str]]()
    for row in rows(path):
        if row["bytes"] == "500":
            seen.setdefault(row["flow"], set()).add(int(row["sequence"]))
        else:
            transfers.add((row["flow"], row["transfer"]))
    assert list(seen.values()) == [set(range(75))] * 3
    if other == SWITCHED:
        assert {flow for flow, _ in transfers} == {"0", "1"}
        assert len({transfer for _, transfer in transfers}) > 3


def test_a_network_has_rows_of_its_links_and_of_acks(tmp_path):
    network = """
link = { rate = "1 Gbit/s", delay = "10 us" }
queue.size = "100 packets"
measure = { warmup = "0 s", duration = "50 ms" }
topology.fat_tree.k = 4
[[traffic]]
kind = "transfers"
transfers = [{ start = "1 ms", size = "30 kB", source = "edge0-0#1", target = "edge1-0#1" }]
"""
    paths = [tmp_path / name for name in ("one.csv", "two.csv")]
    for jobs, path in enumerate(paths, 1):
        outcome = forebay.run(loads(network), packets=path, jobs=jobs)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    found = rows(paths[0])
    crossed = Counter(row["link"] for row in found if row["event"] == "dequeue")
    assert set(crossed) <= set(outcome.links) and len(crossed) == 8  # four links, and four back
    data = [row for row in found if row["packet"] == "data" and row["event"] == "dequeue"]
    assert len(data) == 4 * 21  # 30 kB are 21 segments of 1448 bytes
    assert {row["packet"] for row in found} == {"data", "ack"}


def test_parquet_has_the_same_rows(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for name in ("p.csv", "p.parquet"):
        forebay.run(loads(LINK + LONG), packets=tmp_path / name)
    one, other = pandas.read_csv(tmp_path / "p.csv"), pandas.read_parquet(tmp_path / "p.parquet")
    pandas.testing.assert_frame_equal(one, other, check_dtype=False)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"engine": "theory"}, "no log of packets"),
        ({"seeds": 2}, "2 replications cannot be written to one file"),
        ({"store": "s.sqlite"}, "leave the store out"),
    ],
)
def test_what_has_no_packets_is_refused(tmp_path, monkeypatch, asked, said):
    monkeypatch.chdir(tmp_path)
    with refused(said):
        forebay.run(loads(LINK + LONG), packets="p.csv", **asked)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("argument", ["flows", "packets"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path, argument):
    heard: list[float] = []
    (tmp_path / "is.csv").mkdir()
    for name, wrong in {
        "a.txt": "is no table; write a name that ends in .csv or",
        "none/a.csv": "there is no folder",
        "is.csv": "cannot be written",
    }.items():
        files: Any = {argument: tmp_path / name}
        with refused(wrong) as error:
            forebay.run(loads(LINK + LONG), progress=heard.append, **files)
        assert error.value.field == argument and heard == []


@pytest.mark.parametrize("queue", ["drop-tail", "fq_codel", "red"])
def test_a_capture_has_all_that_left(tmp_path, queue):
    text = LINK + LONG + SHORT + UDP
    outcome, told = captured(tmp_path / "p", text, f"queue.discipline={queue}")
    link = outcome.links["bottleneck"]
    udp = outcome.classes[2].throughput_bps.value / link.capacity_bps / link.utilization.value
    assert told["unresponsive_share"].value == pytest.approx(udp, rel=0.03)


@pytest.mark.parametrize("kind", ["", "traffic.0.jitter=5 ms", "traffic.0.ecn=true"])
def test_the_same_seed_writes_the_same_bytes(tmp_path, kind):
    for name in ("a", "b"):
        captured(tmp_path / name, LINK + LONG, *filter(None, [kind]))
    one, two = ((tmp_path / name).read_bytes() for name in ("a", "b"))
    assert one == two and len(one) > 50_000


def test_a_session_has_a_port_for_each_of_its_connections(tmp_path):
    users = '[[traffic]]\nkind = "session"\nflows = 2\nthink = "200 ms"\nfile = "9 packets"\n'
    _, told = captured(tmp_path / "p", LINK + users + 'rtt = "30 ms"\nstart = "0.1 s"\n')
    assert told["tuples"].value > 10
    assert told["handshake_rtt_s"]["p50"]["value"] == pytest.approx(0.030, abs=0.003)


def headers(path: Path) -> Iterator[tuple[int, int]]:
    """ECN field and TCP flags of each packet; 28 bytes of its block are before the headers."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            ip = at + 28
            yield data[ip + 1] & 3, data[ip + 33]
        at += length


@pytest.mark.parametrize("links", ["", SHARED])
@pytest.mark.parametrize("queue", ["red", "codel"])
def test_marks_stand_in_the_headers(tmp_path, links, queue):
    """RFC 3168: data is ECT(0) or CE, ACKs echo by ECE until a segment has CWR.

    Routes over several queues have an interface for each link.
    """
    marking = (f"queue.discipline={queue}", "queue.ecn=true", "traffic.0.ecn=true")
    outcome, told = captured(tmp_path / "p", LINK + LONG + links, *marking)
    assert told["tuples"].value == 5
    found = list(headers(tmp_path / "p"))
    marks = outcome.links["bottleneck"].marks.value
    assert marks > 10
    assert sum(ecn == 3 for ecn, _ in found) == pytest.approx(marks, abs=2)
    assert {ecn for ecn, _ in found if ecn} == {2, 3}
    # A reduction takes a round trip, in which several segments may be marked.
    assert sum(flags & 0x80 > 0 for _, flags in found) <= marks + 5
    if not links:  # else ACKs cross no link that is captured
        assert sum(flags & 0x40 > 0 for _, flags in found) >= marks
