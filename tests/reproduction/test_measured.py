"""Testbed runs are recorded one by one, continued after a stop, and shown with their date."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.outcomes import link_of, metric, outcome_of, quantiles

import forebay
from forebay.engines.testbed.errors import GateFailed
from forebay.outcome import Outcome, Provenance
from forebay.reproduction import Cell, Measured, facts, find, record
from forebay.reproduction.papers.appenzeller_2004.line_card import FIRST

GATE = {"lateness_p99_s": 5e-5, "tun_tx_drops": 0}
T_2 = 4.302652729911275  # Student's t, 2 degrees of freedom, two-sided 95 %


def outcome(utilization: float) -> Outcome:
    link = link_of(
        utilization=metric(utilization), loss_rate=metric(0.016),
        queue_packets=quantiles(mean=metric(60.0)),
    )  # fmt: skip
    told: dict[str, Any] = {
        "machine": {"kernel": "6.18.0"},
        "runs": [{"seed": 1, "gate": GATE, "invalid": [["late"]], "emulator": {}}],
    }
    known = Provenance(version="0", seeds=[1], scenario_sha256="ab", wall_s=0.0, **told)
    return outcome_of(link, engine="testbed", provenance=known)


class Bed:
    """A testbed that says 0.9, 0.92, 0.94 for the seeds 1, 2, 3, and keeps count."""

    def __init__(self) -> None:
        self.played: list[tuple[int, int]] = []
        self.fails: set[tuple[int, int]] = set()
        self.stops_after = math.inf

    def cell(self, flows: int) -> Cell:
        return Cell({"flows": flows}, lambda seed, told: self.play(flows, seed, told))

    def play(self, flows: int, seed: int, told: Callable[[float], None] | None) -> dict[str, Any]:
        if len(self.played) >= self.stops_after:
            raise KeyboardInterrupt
        self.played.append((flows, seed))
        if told is not None:
            told(1.0)
        if (flows, seed) in self.fails:
            raise GateFailed("gate-failed.late", late_ms=30.0, runs=3, most_ms=20.0)
        return facts(outcome(0.88 + 0.02 * seed))


@pytest.fixture
def bed() -> Bed:
    return Bed()


def test_a_run_is_recorded_with_what_it_read_and_where(tmp_path: Path, bed: Bed) -> None:
    assert record(tmp_path, [bed.cell(100)], seeds=[1]) == []
    (run,) = Measured(tmp_path).runs
    assert (run["flows"], run["seed"], run["utilization"]) == (100, 1, pytest.approx(0.9))
    assert (run["loss_rate"], run["queue_packets"]) == (0.016, 60.0)
    assert (run["gate"], run["kernel"], run["attempts"]) == (GATE, "6.18.0", 2)
    assert [each.name for each in tmp_path.iterdir()] == ["measured.toml"]


def test_the_interval_is_student_s_over_the_runs(tmp_path: Path, bed: Bed) -> None:
    record(tmp_path, [bed.cell(100)], seeds=[1, 2, 3])
    found = Measured(tmp_path).metric({"flows": 100}, "utilization")
    assert found.n == 3 and found.value == pytest.approx(0.92)
    half = T_2 * 0.02 / math.sqrt(3)  # below, the logit's interval reaches further
    odds = 0.92 / 0.08 * math.exp(-half / (0.92 * 0.08))
    assert found.low == pytest.approx(odds / (1 + odds)) and found.low < 0.92 - half
    assert found.high == pytest.approx(0.92 + T_2 * 0.02 / math.sqrt(3))


def test_nothing_recorded_is_not_measured(tmp_path: Path) -> None:
    measured = Measured(tmp_path)
    assert measured.metric({"flows": 100}, "utilization") is None
    assert "not measured" in measured.note()


def test_a_campaign_goes_on_where_it_was(tmp_path: Path, bed: Bed) -> None:
    bed.stops_after = 3
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path, [bed.cell(100), bed.cell(400)], seeds=[1, 2])
    assert len(Measured(tmp_path).runs) == 3
    bed.stops_after = math.inf
    seen: list[float] = []
    record(tmp_path, [bed.cell(100), bed.cell(400)], seeds=[1, 2], progress=seen.append)
    assert bed.played == [(100, 1), (400, 1), (100, 2), (400, 2)]
    assert seen == [1.0]


def test_again_plays_what_is_there_in_its_place_and_the_note_says_kernel_and_day(
    tmp_path: Path, bed: Bed
) -> None:
    record(tmp_path, [bed.cell(100)], seeds=[1, 2])
    record(tmp_path, [bed.cell(100)], seeds=[1], again=True)
    assert bed.played == [(100, 1), (100, 2), (100, 1)]
    measured = Measured(tmp_path)
    assert [run["seed"] for run in measured.runs] == [2, 1]
    assert "Linux 6.18.0" in measured.note() and "2 runs" in measured.note()
    assert re.search(r"\b20\d\d", measured.note())


def test_a_run_that_fails_the_gate_is_told_and_never_recorded(tmp_path: Path, bed: Bed) -> None:
    bed.fails.add((100, 1))
    failed = record(tmp_path, [bed.cell(100)], seeds=[1, 2])
    assert len(failed) == 1 and failed[0].startswith("flows 100, seed 1: ") and "late" in failed[0]
    assert [run["seed"] for run in Measured(tmp_path).runs] == [2]


def test_two_campaigns_lose_nothing_of_each_other(tmp_path: Path, bed: Bed) -> None:
    one, other = Measured(tmp_path), Measured(tmp_path)
    one.put({"flows": 100}, 1, facts(outcome(0.9)))
    other.put({"flows": 400}, 1, facts(outcome(0.9)))
    assert len(Measured(tmp_path).runs) == 2


def test_figure_15_plays_today_s_linux_in_the_testbed_s_set_up(monkeypatch, tmp_path):
    asked: list[Any] = []

    def run(scenario: Any, engine: str, *, seed: int, progress: Any) -> Outcome:
        asked.append(SimpleNamespace(scenario=scenario, engine=engine, seed=seed))
        return outcome(0.97)

    monkeypatch.setattr(forebay, "run", run)
    shipped: Any = find("A.fig15").load()
    fig15 = replace(shipped, records=tmp_path)
    assert fig15.measure(seeds=1) == []
    assert len(asked) == 16 and {each.engine for each in asked} == {"testbed"}
    order = [(each.scenario.n_flows, each.scenario.buffer_packets) for each in asked]
    assert set(order[:6]) == set(FIRST) and len(set(order)) == 16
    first = asked[0].scenario
    assert first.traffic[0].sender == "linux" and float(first.link.rate) == 155e6
    assert (float(first.measure.warmup), float(first.measure.duration)) == (15.0, 25.0)
    assert fig15.measure(seeds=1) == [] and len(asked) == 16
