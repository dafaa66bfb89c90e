"""The document of a scenario with many replications: made once, and of each caller's own."""

from __future__ import annotations

from pathlib import Path

import pytest

import forebay
from forebay.scenario.model import document_and_hash


@pytest.mark.parametrize("name", ["oc3-gsr", "class-queues", "pareto", "l4s", "parking-lot"])
def test_it_is_the_scenarios_own(name: str) -> None:
    scenario = forebay.load(name)
    for _ in range(2):
        assert document_and_hash(scenario) == (scenario.to_dict(), scenario.sha256())


def test_a_caller_that_changes_it_changes_no_other() -> None:
    scenario = forebay.load("oc3-gsr")
    document_and_hash(scenario)[0]["traffic"][0]["flows"] = 1
    assert document_and_hash(scenario)[0]["traffic"][0]["flows"] == 100
    other = scenario.replace({"traffic.0.flows": 101})
    assert document_and_hash(other)[0]["traffic"][0]["flows"] == 101


def test_paths_follow_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "packets.csv").write_text("time_s,bytes\n0.0,1000\n0.1,1000\n")
    monkeypatch.chdir(tmp_path)
    scenario = forebay.load("oc3-gsr").replace(
        {
            "traffic": [{"kind": "replay", "flows": 1, "file": "packets.csv"}],
            "goals.utilization": None,
        }
    )
    assert document_and_hash(scenario)[0] == scenario.to_dict()
    monkeypatch.chdir(tmp_path / "below")
    assert document_and_hash(scenario)[0] == scenario.to_dict()
