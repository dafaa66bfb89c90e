"""What becomes of each packet at each link, as a table."""

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forebay
from forebay.scenario import ScenarioError, loads

LINK = """
link.rate = "10 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "3 s" }
"""
LONG = """
[[traffic]]
flows = 4
rtt = { uniform = ["20 ms", "40 ms"] }
start = "0 s"
"""
SWITCHED = """
[[traffic]]
flows = 2
rtt = "20 ms"
start = "0 s"
schedule = { on = "300 ms", off = "200 ms" }
"""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("discipline", ["drop-tail", "fq_codel", "red"])
def test_the_rows_add_up_to_the_readings_and_change_none(tmp_path, discipline):
    overrides = [f"queue.discipline={discipline}", "traffic.0.ecn=true"]
    scenario, path = loads(LINK + LONG, overrides=overrides), tmp_path / "p.csv"
    outcome = forebay.run(scenario, packets=path)
    plain = forebay.run(scenario)
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


def test_flows_with_a_schedule_keep_their_numbers(tmp_path):
    path = tmp_path / "p.csv"
    forebay.run(loads(LINK + SWITCHED), packets=path)
    seen = {(row["flow"], row["transfer"]) for row in rows(path)}
    assert {flow for flow, _ in seen} == {"0", "1"}
    assert len({transfer for _, transfer in seen}) > 3


def test_a_network_has_rows_of_its_links_and_of_acks(tmp_path):
    network = """
link = { rate = "1 Gbit/s", delay = "10 us" }
queue.size = "100 packets"
measure = { warmup = "0 s", duration = "50 ms" }
[topology]
fat_tree = { k = 4 }
classes = [{ name = "access" }, { name = "edge" }, { name = "core" }]
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


def test_what_has_no_packets_is_refused(tmp_path):
    scenario, path = loads(LINK + LONG), tmp_path / "p.csv"
    with pytest.raises(ScenarioError, match="no log of packets"):
        forebay.run(scenario, "theory", packets=path)
    with pytest.raises(ScenarioError, match="2 replications cannot be written to one file"):
        forebay.run(scenario, seeds=2, packets=path)
    with pytest.raises(ScenarioError, match="leave the store out"):
        forebay.run(scenario, packets=path, store=tmp_path / "s.sqlite")
    assert list(tmp_path.iterdir()) == []


DATAGRAMS = """
[[traffic]]
kind = "udp"
flows = 3
rate = "100 kbit/s"
packet = "500 B"
start = "0 s"
"""


@pytest.mark.parametrize("other", ["", LONG, SWITCHED], ids=["alone", "long", "switched"])
def test_datagrams_are_counted_in_their_flow_from_0(tmp_path, other):
    path = tmp_path / "p.csv"
    forebay.run(loads(LINK + other + DATAGRAMS, overrides=["measure.warmup=0 s"]), packets=path)
    seen: dict[str, set[int]] = {}
    for row in rows(path):
        if row["bytes"] == "500":
            seen.setdefault(row["flow"], set()).add(int(row["sequence"]))
    assert list(seen.values()) == [set(range(75))] * 3


@pytest.mark.parametrize("argument", ["flows", "packets"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(tmp_path, argument):
    heard: list[float] = []
    for name, wrong in {
        "a.txt": "is no table; write a name that ends in .csv or",
        "none/a.csv": "there is no folder",
        "is.csv": "cannot be written",
    }.items():
        (tmp_path / "is.csv").mkdir(exist_ok=True)
        files: Any = {argument: tmp_path / name}
        with pytest.raises(ScenarioError, match=wrong) as refused:
            forebay.run(loads(LINK + LONG), progress=heard.append, **files)
        assert refused.value.field == argument and heard == []
