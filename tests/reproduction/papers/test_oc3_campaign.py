"""The OC3 campaign: its size, its sample, and that it goes on where it was cut off."""

from __future__ import annotations

import csv
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from forebay.reproduction import papers

FOLDER = Path(papers.__file__).parent / "appenzeller_2004" / "oc3_campaign"


@pytest.fixture(scope="module")
def campaign() -> ModuleType:
    return import_module("forebay.reproduction.papers.appenzeller_2004.oc3_campaign.campaign")


def found(campaign: ModuleType, cpu_s: float = 0.1) -> dict[str, float]:
    return {**dict.fromkeys(campaign.READ, 0.5), "packets": 1e6, "cpu_s": cpu_s}


def test_fifteen_thousand_runs_all_different(campaign: ModuleType) -> None:
    runs = campaign.grid()
    assert len(runs) == len(set(runs)) == 15_000
    assert {run.flows for run in runs} == set(range(10, 501, 10))
    assert len({(run.rtt_low, run.rtt_high) for run in runs}) == 3
    assert len({run.multiple for run in runs}) == 10


def test_one_percent_is_spread_over_the_grid_and_is_what_was_kept(campaign: ModuleType) -> None:
    drawn = campaign.sample(campaign.grid(), 0.01)
    assert len(drawn) == 150
    assert set(drawn) < set(campaign.sample(campaign.grid(), 0.02))
    assert min(Counter(run.multiple for run in drawn).values()) >= 5
    assert min(Counter(run.rtt_low for run in drawn).values()) >= 30
    assert set(campaign.kept(FOLDER / "one-percent.csv")) == set(drawn)


def test_it_goes_on_behind_a_line_that_was_cut_off(
    campaign: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, runs, made = tmp_path / "kept.csv", campaign.grid()[:3], []

    def pretend(todo: list[object], jobs: int) -> list[tuple[object, dict[str, float]]]:
        made.append(len(todo))
        return [(run, found(campaign)) for run in todo]

    monkeypatch.setattr(campaign, "_made", pretend)
    campaign.go_on(runs[:1], store, jobs=1)
    store.write_text(store.read_text() + "10,0.25,60")
    campaign.go_on(runs, store, jobs=1)
    campaign.go_on(runs, store, jobs=1)
    assert made == [1, 2, 0] and set(campaign.kept(store)) == set(runs)
    assert (
        len(list(csv.reader(store.read_text().splitlines()))) == 5
    )  # a head, three runs, the half line


def test_a_run_is_a_run_and_the_forecast_is_packets_times_their_price(
    campaign: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = campaign.forebay.load
    short = ["measure.warmup=1 s", "measure.duration=1 s"]
    monkeypatch.setattr(campaign.forebay, "load", lambda path, sets: load(path, [*sets, *short]))
    made = campaign.make(campaign.Run(10, 2.0, 60, 100, 1))
    assert made["buffer_packets"] == round(2 * 1033.33 / 10**0.5)
    assert 0 < made["utilization"] <= 1 and made["cpu_s"] > 0
    said = campaign.forecast([found(campaign, 0.1), found(campaign, 0.1), found(campaign, 9)], 3600)
    assert said == pytest.approx({"ns_a_packet": 100, "packets": 1e6, "cpu_hours": 0.1})
