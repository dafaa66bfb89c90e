"""What the testbed has recorded for papers A, B, D: of today's scenarios, through the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay.engines.testbed.validity import faults
from forebay.reproduction import Measured, papers
from forebay.reproduction.papers.appenzeller_2004 import short
from forebay.reproduction.papers.theagarajan_2006 import bottleneck
from forebay.reproduction.papers.yang_2013 import mix

FOLDER = Path(papers.__file__).parent
FOLDERS = ("appenzeller_2004/fig16", "theagarajan_2006", "theagarajan_2006/fig7", "yang_2013")


def scenario_of(folder: str, run: dict[str, Any]) -> forebay.Scenario:
    """Return what a run's key says was played."""
    if folder == "appenzeller_2004/fig16":
        return short.linux_queue(run["ring"])
    if folder == "theagarajan_2006":
        return bottleneck.scenario_of(run["videos"], run["packets"], 60)
    if folder == "theagarajan_2006/fig7":
        return bottleneck.core(run["videos"], run["packets"], quick=True)
    return mix.on_testbed(run["link_mbps"], run["rtt_ms"], run["packets"])


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
    full_speed = mix.FULL_MBPS  # shown for what they are not
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
        if run.get("link_mbps") == mix.FULL_MBPS:
            continue  # beside the others, to show what they are not
        key = tuple(run.get(name) for name in ("ring", "videos", "link_mbps", "rtt_ms", "packets"))
        cells[key] = cells.get(key, 0) + 1
    assert min(cells.values()) >= least


def test_the_slow_mix_is_the_same_packets() -> None:
    for drops in (False, True):
        pairs = zip(mix.cells(drops), mix.cells(drops, full_speed=True), strict=True)
        for slow, full in pairs:
            keys: list[Any] = [slow.key, full.key]
            one, other = (mix.on_testbed(**key) for key in keys)
            assert one.bdp_packets == pytest.approx(other.bdp_packets)
            assert one.buffer_packets == other.buffer_packets and one.n_flows == 198


def test_the_tail_of_figure_16_has_no_stall_in_it() -> None:
    runs = Measured(short.FIG16).runs
    assert all(run["gate"]["lateness_max_s"] <= short.STALL_S for run in runs)
