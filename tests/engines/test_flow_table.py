"""The table of flows against the readings of the same run."""

import csv
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import scenarios
from tests.refused import refused

import forebay
from forebay.engines import replication
from forebay.scenario import loads

_MIXED = """
name = "mixed"
link.rate = "20 Mbit/s"
queue.size = "30 packets"
measure = { warmup = "2 s", duration = "6 s" }
traffic = [
  { flows = 3, congestion_control = "cubic", rtt = "40 ms", start = { uniform = ["0 s", "1 s"] } },
  { kind = "short", load = 0.3, length = "20 packets", rtt = "40 ms" },
  { kind = "session", flows = 4, rtt = "30 ms", file = "30 packets", think = "500 ms" },
  { kind = "udp", flows = 2, rate = "500 kbit/s" },
]
"""


@pytest.fixture(scope="module")
def scenario() -> forebay.Scenario:
    return loads(_MIXED)


@pytest.fixture(scope="module")
def outcome(
    scenario: forebay.Scenario, tmp_path_factory: pytest.TempPathFactory
) -> forebay.Outcome:
    path = tmp_path_factory.mktemp("flows") / "flows.csv"
    return forebay.run(scenario, seeds=2, flows=path)


def test_records_change_no_reading(scenario, outcome):
    plain = forebay.run(scenario, seeds=2)
    of_records: dict[str, Any] = {"slowdown": None, "slowdown_ideal": None}
    assert plain.links == outcome.links
    assert plain.classes == [each.model_copy(update=of_records) for each in outcome.classes]
    again = plain.flows()
    assert list(again) == list(outcome.flows())
    for name, of in outcome.flows().items():
        assert of.dtype.kind not in "ib" or np.array_equal(again[name], of)
    assert plain.flows() is again, "made once"


def test_rows_are_cut_with_their_class_to_what_its_link_sent():
    """Recoveries that end in a short window complete much of what came before it."""
    made = scenarios.scenario({
        "queue.size": "30 packets", "traffic.0.flows": 6, "traffic.0.congestion_control": "bbr",
        "traffic.0.rtt": {"uniform": ["20 ms", "80 ms"]},
        "traffic.0.start": {"uniform": ["0 s", "1 s"]},
    })  # fmt: skip
    for seed in range(1, 4):
        outcome = forebay.run(made, seed=seed)
        (own,) = outcome.classes
        rows = 8 * outcome.flows()["window_bytes"].sum() / 2
        assert rows == pytest.approx(own.goodput_bps.value, rel=1e-5) and rows <= 10e6 + 24


def test_rows_have_the_goodput_of_their_class_and_the_completion_times_of_its_window(outcome):
    for each in outcome.classes:
        own = outcome.flows()["class"] == each.name
        rows = {name: column[own] for name, column in outcome.flows().items()}
        made = 8 * rows["window_bytes"].sum() / 2 / 6.0
        assert made == pytest.approx(each.goodput_bps.value, rel=1e-3), each.name
        if each.transfers is None:
            continue
        in_window = rows["start_s"] >= 2.0
        all_through = rows["unfinished"] | in_window
        assert all_through.sum() / 2 == each.transfers.value
        of_seed = [rows["seed"] == seed for seed in (1, 2)]
        shares = [(rows["unfinished"] & of).sum() / (all_through & of).sum() for of in of_seed]
        assert np.mean(shares) == pytest.approx(each.unfinished.value)


def test_what_a_row_says_is_possible(outcome):
    table = outcome.flows()
    assert set(table["seed"]) == {1, 2}
    ended = ~np.isnan(table["last_byte_s"])
    assert ended.any() and (~ended).any()
    assert (table["first_byte_s"][ended] <= table["last_byte_s"][ended]).all()
    assert (table["slowdown"][ended] >= 1.0 - 1e-9).all()
    tcp = table["control"] != ""
    measured = tcp & ~np.isnan(table["min_rtt_s"])
    assert (table["min_rtt_s"][measured] >= table["rtt_s"][measured]).all()
    assert (table["min_rtt_s"][measured] <= table["mean_rtt_s"][measured] + 1e-12).all()
    assert np.isnan(table["rtt_s"][~tcp]).all() and (table["route"] == "bottleneck").all()
    long = table["class"] == "long-0"
    assert long.sum() == 6 and not table["unfinished"][long].any()
    assert np.isnan(table["size_bytes"][long]).all()
    assert np.isnan(table["application_bytes"][long]).all()
    ends = ~np.isnan(table["size_bytes"])
    packets = table["size_bytes"][ends] / 1500
    assert (table["application_bytes"][ends] == 1448 * packets).all()


@pytest.mark.parametrize("name", ["flows.csv", "flows.parquet"])
@pytest.mark.parametrize("block_rows", [1, 7, 1000])
def test_a_file_is_written_in_blocks_and_is_that_of_the_table(
    scenario, tmp_path, monkeypatch, name, block_rows
):
    monkeypatch.setattr(replication, "BLOCK_ROWS", block_rows)
    short = scenario.replace({"measure.warmup": "0 s", "measure.duration": "400 ms"})
    path = tmp_path / name
    run = forebay.run(short, seeds=2, flows=path)
    if name.endswith(".csv"):
        run.flows().export(tmp_path / "table.csv")
        assert path.read_bytes() == (tmp_path / "table.csv").read_bytes()
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert all(row["application_bytes"].isdigit() for row in rows if row["size_bytes"])
        return
    from pyarrow import parquet

    read, table = parquet.read_table(path), run.flows()
    assert read.column_names == list(table) and read.num_rows == table.rows > 10
    assert np.array_equal(read["flow"].to_numpy(), table["flow"])
    assert read["control"].to_pylist() == table["control"].tolist()


def test_a_network_names_the_links_of_each_route(tmp_path):
    s = forebay.load(
        "scenarios/abilene-slow-edge-small.toml",
        ["measure.warmup=50 ms", "measure.duration=100 ms"],
    )
    table = forebay.run(s, flows=tmp_path / "f.csv").flows()
    links = {name for route in table["route"] for name in route.split("; ")}
    assert all("->" in name for name in links) and len(links) > 5
    assert (table["window_bytes"] >= 0).all() and table["window_bytes"].sum() > 0


def test_marks_are_those_of_the_link():
    queue = {"discipline": "codel", "size": "100 packets", "ecn": True}
    marked = {"queue": queue, "traffic.0.congestion_control": "cubic", "traffic.0.ecn": True}
    outcome = forebay.run(scenarios.scenario(marked))
    marks = outcome.links["bottleneck"].marks
    assert marks.value > 0
    assert outcome.flows()["marks"].sum() >= marks.value


def test_an_outcome_with_a_table_is_equal_and_pickles(outcome):
    read = forebay.Outcome.from_dict(outcome.to_dict())
    assert read == outcome and "flows" not in outcome.to_dict()
    assert pickle.loads(pickle.dumps(outcome)).flows().rows == outcome.flows().rows


def test_what_has_no_records_is_refused_before_the_run(scenario, tmp_path):
    with refused("keeps no record of each flow"):
        forebay.run(scenario, "theory", flows=tmp_path / "f.csv")
    with refused("no record of each flow"):
        forebay.run(scenario, flows=tmp_path / "f.csv", store=tmp_path / "s.sqlite")
    assert list(tmp_path.iterdir()) == []


_TRACE = """
link.rate_trace = "rates.csv"
queue.size = "40 packets"
traffic = [
  { flows = 2, rtt = "20 ms", start = "0 s" },
  { kind = "transfers", file = "transfers.csv", rtt = "20 ms" },
]
measure = { warmup = "1 s", duration = "2 s" }
"""


@pytest.fixture
def of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> forebay.Outcome:
    """Return the outcome of a scenario of files, whose paths start at the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("rates.csv").write_text("0,20e6\n1,10e6\n")
    Path("transfers.csv").write_text("start_s,size_bytes\n1,14480\n2,14480\n")
    Path("s.toml").write_text(_TRACE)
    return forebay.run(forebay.load("s.toml"))


@pytest.mark.parametrize(
    "file, other",
    [("rates.csv", "0,2e6\n1,1e6\n"), ("transfers.csv", "start_s,size_bytes\n1,144800\n")],
)
def test_rows_are_those_of_the_run_though_a_file_changed(of_files, file, other):
    read = forebay.Outcome.from_dict(of_files.to_dict())
    Path(file).write_text(other)
    rows, goodput = of_files.flows(), of_files.classes[0].goodput_bps
    made = 8 * rows["window_bytes"][rows["class"] == "long-0"].sum() / 2
    assert made == pytest.approx(goodput.value, rel=1e-3)
    with refused(f"outcome: .*{file}.* not that of the run"):
        read.flows()


def test_rows_from_another_folder(of_files, tmp_path, monkeypatch):
    pickled = pickle.dumps(of_files)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert b"RateFile" not in pickled and pickle.loads(pickled) == of_files
    assert of_files.flows().rows == 4
    with refused("cannot be read .* go to that of the run"):
        pickle.loads(pickled).flows()
    with refused("cannot be read"):
        forebay.Outcome.from_dict(of_files.to_dict()).flows()
