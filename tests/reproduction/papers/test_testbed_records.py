"""What the testbed has recorded: of today's scenarios, through the gate, and often enough."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import forebay
from forebay.engines.testbed.validity import faults
from forebay.reproduction import Measured, papers
from forebay.reproduction.papers.agreement import kernel
from forebay.reproduction.papers.appenzeller_2004 import short
from forebay.reproduction.papers.theagarajan_2006 import bottleneck
from forebay.reproduction.papers.yang_2013 import mix

FOLDER = Path(papers.__file__).parent
LEAST = {
    "appenzeller_2004/fig16": 3,
    "theagarajan_2006": 2,
    "theagarajan_2006/fig7": 1,
    "yang_2013": 2,
    "agreement/offload": 1,
    "agreement/shares": 1,
}
"""Runs of a cell, by folder."""


def runs_of(folder: str) -> list[dict[str, Any]]:
    """Return the runs but those of paper D at full speed, which are shown for what they are not."""
    runs = Measured(FOLDER / folder).runs
    return [run for run in runs if run.get("link_mbps") != mix.FULL_MBPS]


def scenario_of(folder: str, run: dict[str, Any]) -> forebay.Scenario:
    """Return what a run's key says was played."""
    if folder == "appenzeller_2004/fig16":
        return short.linux_queue(run["ring"])
    if folder == "theagarajan_2006":
        return bottleneck.scenario_of(run["videos"], run["packets"], 60)
    if folder == "theagarajan_2006/fig7":
        return bottleneck.core(run["videos"], run["packets"], quick=True)
    if folder == "yang_2013":
        return mix.on_testbed(run["link_mbps"], run["rtt_ms"], run["packets"])
    cell = {name: run[name] for name in kernel.OFFLOAD_KEY}
    assert cell in kernel.cells_of(FOLDER / folder)
    return kernel.with_offload(cell, run.get("offload", "on"), FOLDER / folder)


@pytest.mark.parametrize("folder", LEAST)
def test_runs_are_of_the_scenarios_that_are_there_now(folder):
    for run in Measured(FOLDER / folder).runs:
        assert run["scenario_sha256"] == scenario_of(folder, run).sha256(), run


@pytest.mark.parametrize("folder", LEAST)
def test_each_has_passed_the_gate_and_is_there_once_and_often_enough(folder):
    """Older runs tell only how many segments came twice: where none did, none was doubled."""
    runs = runs_of(folder)
    for run in runs:
        none = {} if run["gate"]["dsacks"] else {"doubled_segments": 0, "late_segments": 0}
        assert not faults(none | run["gate"]), run
    names = (
        "ring", "videos", "link_mbps", "rtt_ms", "packets", *kernel.OFFLOAD_KEY, "offload",
    )  # fmt: skip
    keys = [tuple(run.get(name) for name in names) for run in runs]
    seeds = [run["seed"] for run in runs]
    assert len(set(zip(keys, seeds, strict=True))) == len(runs) > 5
    assert min(Counter(keys).values()) >= LEAST[folder]


def test_the_shares_are_of_three_buffers():
    assert {run["packets"] for run in Measured(kernel.SHARES).runs} == {167, 333, 1000}


def test_the_slow_mix_is_the_same_packets():
    for drops in (False, True):
        pairs = zip(mix.cells(drops), mix.cells(drops, full_speed=True), strict=True)
        for slow, full in pairs:
            keys: list[Any] = [slow.key, full.key]
            one, other = (mix.on_testbed(**key) for key in keys)
            assert one.bdp_packets == pytest.approx(other.bdp_packets)
            assert one.buffer_packets == other.buffer_packets and one.n_flows == 198


def test_the_tail_of_figure_16_has_no_stall_in_it():
    runs = Measured(short.FIG16).runs
    assert all(run["gate"]["lateness_max_s"] <= short.STALL_S for run in runs)
