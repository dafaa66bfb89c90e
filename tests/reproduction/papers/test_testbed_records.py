"""What the testbed has recorded for papers A, B, D: of today's scenarios, through the gate."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay.engines.testbed.validity import faults
from forebay.reproduction import Measured, papers

FOLDER = Path(papers.__file__).parent
PACKAGE = "forebay.reproduction.papers"
FOLDERS = ("appenzeller_2004/fig16", "theagarajan_2006", "theagarajan_2006/fig7", "yang_2013")


def load(path: str) -> Any:
    return import_module(f"{PACKAGE}.{path}")


def scenario_of(folder: str, run: dict[str, Any]) -> forebay.Scenario:
    """Return what a run's key says was played."""
    if folder == "appenzeller_2004/fig16":
        return load("appenzeller_2004.fig16.artefact").scenario_of(run["ring"])
    if folder == "theagarajan_2006":
        return load("theagarajan_2006.bottleneck").scenario_of(run["videos"], run["packets"], 60)
    if folder == "theagarajan_2006/fig7":
        return load("theagarajan_2006.fig7.artefact").scenario_of(
            run["videos"], run["packets"], quick=True
        )
    return load("yang_2013.testbed").scenario_of(run["link_mbps"], run["rtt_ms"], run["packets"])


@pytest.mark.parametrize("folder", FOLDERS)
def test_runs_are_of_the_scenarios_that_are_there_now(folder: str) -> None:
    runs = Measured(FOLDER / folder).runs
    assert runs
    for run in runs:
        assert run["scenario_sha256"] == scenario_of(folder, run).sha256(), run


def gate_of(run: Any) -> dict[str, float]:
    """Older runs tell only how many segments came twice: where none did, none was doubled."""
    gate: dict[str, float] = run["gate"]
    none = {"doubled_segments": 0, "late_segments": 0} if gate["dsacks"] == 0 else {}
    return none | gate


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_has_passed_the_gate_and_is_there_once(folder: str) -> None:
    runs = Measured(FOLDER / folder).runs
    full_speed = load("yang_2013.testbed").FULL_MBPS  # shown for what they are not
    judged = [gate_of(run) for run in runs if run.get("link_mbps") != full_speed]
    assert judged and not any(faults(gate) for gate in judged)
    names = ("ring", "videos", "link_mbps", "rtt_ms", "packets", "seed")
    assert len({tuple(run.get(name) for name in names) for run in runs}) == len(runs)


@pytest.mark.parametrize(
    ("folder", "least"),
    [
        ("appenzeller_2004/fig16", 3),
        ("theagarajan_2006", 2),
        ("theagarajan_2006/fig7", 1),
        ("yang_2013", 2),
    ],
)
def test_each_cell_was_played_often_enough(folder: str, least: int) -> None:
    cells: dict[tuple[Any, ...], int] = {}
    for run in Measured(FOLDER / folder).runs:
        if run.get("link_mbps") == load("yang_2013.testbed").FULL_MBPS:
            continue  # beside the others, to show what they are not
        key = tuple(run.get(name) for name in ("ring", "videos", "link_mbps", "rtt_ms", "packets"))
        cells[key] = cells.get(key, 0) + 1
    assert min(cells.values()) >= least


def test_the_slow_mix_is_the_same_packets() -> None:
    testbed = load("yang_2013.testbed")
    for drops in (False, True):
        pairs = zip(testbed.testbed_cells(drops), testbed.full_speed_cells(drops), strict=True)
        for slow, full in pairs:
            one, other = (testbed.scenario_of(**cell.key) for cell in (slow, full))
            assert one.bdp_packets == pytest.approx(other.bdp_packets)
            assert one.buffer_packets == other.buffer_packets and one.n_flows == 198


def test_the_tail_of_figure_16_has_no_stall_in_it() -> None:
    fig16 = load("appenzeller_2004.fig16.artefact")
    assert all(run["gate"]["lateness_max_s"] <= fig16.STALL_S for run in Measured(fig16.HERE).runs)
