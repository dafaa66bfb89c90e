"""Studies: rows equal those of `run`, nothing runs twice, and nothing depends on the workers."""

import csv
import pickle
import re
import sqlite3
from pathlib import Path

import pytest
from tests.refused import refused

import forebay
from forebay.engines.simulation import SimulationEngine
from forebay.outcome.statistics import over_replications
from forebay.report.study import unsettled_line, verdict
from forebay.scenario import loads
from forebay.store import Store, StoreError
from forebay.studies.picture import picture

SMALL = forebay.load("oc3-gsr").replace(
    {
        "link.rate": "10 Mbit/s", "queue.size": "20 packets", "traffic.0.flows": 5,
        "traffic.0.start": "0 s", "measure.warmup": "1 s", "measure.duration": "2 s",
    }
)  # fmt: skip
AXES: dict = {"queue.size": ["10 packets", "40 packets"], "traffic.0.flows": [2, 5]}
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "sweep.md"


def rows(sweep: forebay.Sweep) -> list[dict]:
    return [{k: v for k, v in row.items() if k != "wall_s"} for row in sweep.rows()]


def test_a_row_equals_that_of_a_run_with_its_seed() -> None:
    made = rows(forebay.sweep(SMALL, AXES, seeds=2))
    assert [(r["queue.size"], r["traffic.0.flows"], r["seed"]) for r in made] == [
        (size, flows, seed) for size in AXES["queue.size"] for flows in (2, 5) for seed in (1, 2)
    ]
    for row in made:
        cell = SMALL.replace({name: row[name] for name in AXES})
        alone = forebay.run(cell, seed=row["seed"]).to_row(intervals=True)
        assert {name: row[name] for name in alone} == alone


def test_what_is_stored_does_not_run_again(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    first = forebay.sweep(SMALL, AXES, seeds=2, store=store)
    again = forebay.sweep(SMALL, AXES, seeds=2, store=store)
    more = forebay.sweep(SMALL, AXES, seeds=3, store=store)
    assert [(each.ran, each.stored, each.runs) for each in (first, again, more)] == [
        (8, 8, 8), (0, 8, 8), (4, 12, 12)
    ]  # fmt: skip
    assert rows(first) == rows(again) and again.to_dict()["schema"] == 1


def test_verbs_take_each_others_replications(tmp_path: Path, monkeypatch) -> None:
    made = []
    simulate = SimulationEngine.replications

    def counted(self, scenario, seeds, *how):
        made.append(len(seeds))
        return simulate(self, scenario, seeds, *how)

    monkeypatch.setattr(SimulationEngine, "replications", counted)
    store, axes = tmp_path / "s", {"queue.size": ["20 packets", "10 packets"]}
    forebay.run(SMALL, seeds=2, store=store)
    assert sum(made) == 2
    swept = forebay.sweep(SMALL, axes, seeds=2, store=store)
    assert (swept.ran, swept.stored, sum(made)) == (2, 4, 4)
    forebay.run(SMALL.replace({"queue.size": "10 packets"}), seeds=2, store=store)
    forebay.compare(SMALL, ["simulation"], seeds=2, store=store)
    assert sum(made) == 4
    assert rows(swept) == rows(forebay.sweep(SMALL, axes, seeds=2))


def test_a_combination_that_cannot_be_is_left_out_and_said() -> None:
    axes = {"queue.size": ["2000 B", "60 packets"], "traffic.0.packet": ["1500 B", "9000 B"]}
    said: list[str] = []
    made = forebay.sweep(SMALL, axes, seeds=1, announce=said.append)
    assert (made.cells, made.stored) == (3, 3) and len(made.refused) == 1
    assert "1 cell is refused" in said[0] and 'packet = "9000 B"' in made.refused[0]


def test_a_sizing_is_the_same_on_any_workers() -> None:
    base = SMALL.replace({"goals.utilization": 0.8})
    how: dict = {"ask": "size", "seeds": 2, "budget": "2 s"}
    one, two = (
        forebay.sweep(base, {"traffic.0.flows": [5, 8]}, jobs=jobs, **how) for jobs in (1, 2)
    )
    assert rows(one) == rows(two)
    assert one.runs == 2 and all(row["buffer.packets"] >= 1 for row in rows(one))


def test_several_engines_have_rows_of_their_own() -> None:
    base = forebay.load("oc3-gsr").replace({"measure.duration": "1 s", "measure.warmup": "1 s"})
    made = forebay.sweep(base, {"queue.size": ["129 packets"]}, ask="compare", seeds=2)
    assert [row["engine"] for row in rows(made)] == ["theory", "theory", "simulation", "simulation"]
    assert made.runs == 4


def test_an_axis_of_one_has_differences_paired_by_seed() -> None:
    settled = SMALL.replace({"measure.warmup": "20 s", "measure.duration": "20 s"})
    made = forebay.sweep(settled, {"queue.size": ["40 packets", "5 packets"]}, seeds=4)
    (row,) = made.summary().differences
    used = {(r["queue.size"], r["seed"]): r["link.bottleneck.utilization"] for r in rows(made)}
    mean = sum(used["5 packets", s] - used["40 packets", s] for s in (1, 2, 3, 4)) / 4
    assert row.metrics[0].value == pytest.approx(mean) and row.metrics[0].high < 0

    assert "uses less" in verdict(made.summary().columns, row)


def test_csv_has_axes_first_and_a_row_a_replication(tmp_path: Path) -> None:
    shares = {"traffic.0.congestion_control": [{"cubic": 0.5, "reno": 0.5}]}
    made = forebay.sweep(SMALL, AXES | shares, seeds=2)
    made.export(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert list(table[0])[:5] == [*made.columns[:4], "link.bottleneck.utilization"]
    assert len(table) == 8
    for read, row in zip(table, made.rows(), strict=True):
        assert float(read["link.bottleneck.utilization"]) == row["link.bottleneck.utilization"]
        assert read["link.bottleneck.buffer_packets"] == str(row["link.bottleneck.buffer_packets"])
        assert read["traffic.0.congestion_control"] == "{ cubic = 0.5, reno = 0.5 }"


def test_a_store_of_an_earlier_version_gets_the_new_tables(tmp_path: Path) -> None:
    with forebay.Store(tmp_path / "s"):
        pass
    with sqlite3.connect(tmp_path / "s") as old:
        old.executescript("DROP TABLE metrics; DROP TABLE layouts;")
    old.close()
    assert forebay.sweep(SMALL, AXES, seeds=1, store=tmp_path / "s").stored == 4


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    def stop(done: float) -> None:
        if done > 0.2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="the same call again continues"):
        forebay.sweep(SMALL, AXES, seeds=40, store=tmp_path / "s", progress=stop)
    left = forebay.sweep(SMALL, AXES, seeds=40, store=tmp_path / "s", only_plan=True).stored
    assert 0 < left < 160
    rest = forebay.sweep(SMALL, AXES, seeds=40, store=tmp_path / "s")
    assert (rest.ran, rest.stored) == (160 - left, 160)


def test_an_interrupt_of_a_look_says_nothing_of_a_store(tmp_path: Path) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    for store in (None, tmp_path / "s"):
        with pytest.raises(KeyboardInterrupt) as stopped:
            forebay.sweep(SMALL, AXES, seeds=1, only_plan=True, store=store, announce=stop)
        assert not stopped.value.args


def blocks(language: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_page_s_study_is_short_and_its_file_the_same(tmp_path):
    (code,) = blocks("python")  # which tests/docs runs
    assert len([line for line in code.splitlines() if line]) <= 12
    file, *_ = (block for block in blocks("toml") if "[axes]" in block)
    (tmp_path / "study.toml").write_text(file)
    made = forebay.sweep(tmp_path / "study.toml", only_plan=True)
    assert (made.cells, made.runs) == (120, 1200)


def test_a_picture_takes_axes_in_their_order_and_one_field_of_those_together(tmp_path):
    axes = {("traffic.0.flows", "traffic.0.rtt"): [(2, "10 ms"), (5, "30 ms")],
            "queue.size": ["10 packets", "40 packets"]}  # fmt: skip
    made = forebay.sweep(SMALL, axes, seeds=2, store=tmp_path / "s")
    with Store(tmp_path / "s") as store:
        (panel,) = picture(made._plan, store, {}).panels
        (field,) = picture(made._plan, store, {"x": "queue.size", "y": "traffic.0.flows"}).panels
    assert [curve.label for curve in panel.curves] == [
        "queue.size = 10 packets", "queue.size = 40 packets"
    ]  # fmt: skip
    assert panel.curves[0].x == (2.0, 5.0) and panel.x_label == "flows"
    means = made.means("link.bottleneck.utilization")
    assert panel.curves[0].y[1].value == pytest.approx(100 * means[5, "30 ms", "10 packets"])
    assert field.map_x == (10.0, 40.0) and field.map_y == (2.0, 5.0)
    assert field.map_values[1][0] == pytest.approx(100 * means[5, "30 ms", "10 packets"])
    assert field.contour == 100 * SMALL.goals.utilization


def test_a_picture_says_what_it_is_a_mean_over_and_counts_a_seed_once(tmp_path: Path) -> None:
    base = SMALL.replace({"measure.warmup": "10 s", "measure.duration": "10 s"})
    axes = {"queue.size": ["10 packets", "40 packets"], "traffic.0.flows": [5],
            "queue.discipline": ["drop-tail"],
            "traffic.0.congestion_control": ["reno", "cubic"]}  # fmt: skip
    made = forebay.sweep(base, axes, seeds=3, store=tmp_path / "s")
    with Store(tmp_path / "s") as store:
        found = picture(made._plan, store, {})
    assert found.title.endswith("\nmean over congestion_control")
    used: dict[int, list[float]] = {}
    for row in made.rows():
        if row["queue.size"] == "40 packets":
            used.setdefault(row["seed"], []).append(100 * row["link.bottleneck.utilization"])
    expected = over_replications([sum(each) / 2 for each in used.values()], (0.0, 100.0))
    (_, point) = found.panels[0].curves[0].y
    assert point.n == 3
    assert (point.value, point.low, point.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_each_point_of_a_design_is_drawn(tmp_path: Path) -> None:
    axes = {"traffic.0.flows": [2, 5], "queue.size": {"log": ["10 packets", "100 packets"]}}
    made = forebay.sweep(
        SMALL, axes, seeds=1, design={"kind": "sobol", "points": 8}, store=tmp_path / "s"
    )
    with Store(tmp_path / "s") as store:
        found = picture(made._plan, store, {})
    assert len(found.panels[0].curves[0].y) == 8 and "mean over" not in found.title


def test_a_page_and_an_empty_study_do_not_fail(tmp_path: Path) -> None:
    made = forebay.sweep(SMALL, AXES, seeds=1, only_plan=True, store=tmp_path / "s")
    assert "0 of 4 runs" in made.to_html()
    made.export(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().startswith("queue.size,traffic.0.flows,seed")
    with refused("no run is stored"):
        made.figure()


def test_cells_whose_flows_had_not_settled_have_no_intervals_and_are_counted() -> None:
    text = '[link]\nrate = "20 Mbit/s"\n[[traffic]]\nflows = 4\nrtt = "50 ms"\n'
    base = loads(f'{text}congestion_control = "bbr"\n')
    axes = {"queue.size": ["100 packets", "300 packets"]}
    early = forebay.sweep(base, axes, seeds=2).summary()
    assert early.unsettled == 2 and "2 of 2 cells have no intervals" in unsettled_line(early)[0]
    assert all(m is None or m.low is None for row in early.rows for m in row.metrics)
    assert verdict(early.columns, early.differences[0]) == "not settled"
    late = forebay.sweep(base.replace({"measure.warmup": "45 s"}), axes, seeds=2).summary()
    assert late.unsettled == 0 and unsettled_line(late) == []
    assert late.rows[0].metrics[0].low is not None


def test_a_sweep_goes_to_another_process_with_its_store_and_not_without(tmp_path: Path) -> None:
    left_out = [{"traffic.0.flows": {"above": 4}}]
    made = forebay.sweep(SMALL, AXES, seeds=1, leave_out=left_out, store=tmp_path / "s.sqlite")
    copy = pickle.loads(pickle.dumps(made))
    assert copy.cells == 2 and rows(copy) == rows(made)
    with refused(r'write store="study.sqlite"'):
        pickle.dumps(forebay.sweep(SMALL, AXES, seeds=1))


def test_the_status_of_a_damaged_store_is_refused(tmp_path: Path) -> None:
    """Bytes that were written over it; only where no row stands it is as good as before."""
    store, refused = tmp_path / "kept.sqlite", 0
    whole = rows(forebay.sweep(SMALL, AXES, seeds=2, store=store))
    content = store.read_bytes()
    for at in range(0, len(content) - 200, 8192):
        damaged = bytearray(content)
        damaged[at : at + 200] = bytes(each ^ 0x5A for each in content[at : at + 200])
        store.write_bytes(damaged)
        try:
            assert rows(forebay.sweep(SMALL, AXES, seeds=2, store=store, only_plan=True)) == whole
        except StoreError as error:
            refused += 1
            assert error.exit_status == 2 and "\n" not in str(error)
    assert refused > 3
