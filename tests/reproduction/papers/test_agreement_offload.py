"""Hosts with offload against the kernel: what is judged, and whether records are of these cells."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import forebay
from forebay.effort import Effort
from forebay.engines.testbed.validity import faults
from forebay.outcome import Metric
from forebay.reproduction import Measured
from forebay.reproduction.papers.agreement import kernel

FOLDER = kernel.OFFLOAD


@pytest.fixture
def offload() -> Any:
    return kernel


def metric(value: float) -> Metric:
    return Metric(value=value, low=None, high=None, n=1)


def cell_of(module: ModuleType, run: dict[str, Any]) -> dict[str, Any]:
    return {name: run[name] for name in module.OFFLOAD_KEY}


def test_runs_are_of_todays_scenarios_and_passed_the_gate(offload: ModuleType) -> None:
    runs = Measured(offload.OFFLOAD).runs
    assert len(runs) > 20
    for run in runs:
        cell = cell_of(offload, run)
        assert cell in offload.offload_cells()
        assert run["scenario_sha256"] == offload.with_offload(cell, run["offload"]).sha256(), cell
        none = {"doubled_segments": 0, "late_segments": 0} if run["gate"]["dsacks"] == 0 else {}
        assert not faults(none | run["gate"])
    named = [(tuple(cell_of(offload, run).values()), run["offload"], run["seed"]) for run in runs]
    assert len(set(named)) == len(named)


def test_runs_of_shares_are_of_todays_scenarios_and_passed_the_gate(offload: ModuleType) -> None:
    runs = Measured(offload.SHARES).runs
    assert {run["packets"] for run in runs} == {167, 333, 1000}
    for run in runs:
        cell = cell_of(offload, run)
        assert cell in offload.offload_cells(offload.SHARES)
        assert run["scenario_sha256"] == offload.with_offload(cell, "on", offload.SHARES).sha256()
        assert not faults(run["gate"])


def test_a_cell_differs_from_itself_in_its_hosts_alone(offload: ModuleType) -> None:
    for cell in offload.offload_cells():
        on, off = (offload.with_offload(cell, switch) for switch in ("on", "off"))
        assert on.traffic[0].offloads and not off.traffic[0].offloads
        assert on.replace({"traffic.0.offload": "off"}) == off


@pytest.mark.parametrize(
    ("quantity", "off", "on", "counts"),
    [
        ("utilization", 0.95, 0.9595, False),
        ("utilization", 0.95, 0.9605, True),
        ("loss_rate", 0.071, 0.1, False),
        ("loss_rate", 0.069, 0.1, True),
        ("bbr_share", 0.5, 0.59, False),
        ("bbr_share", 0.5, 0.61, True),
    ],
)
def test_what_offload_moves_by_twice_its_band_is_judged(offload, quantity, off, on, counts):
    cell = offload.offload_cells()[0]
    assert offload.Compared(FOLDER, cell, quantity, metric(on), off=metric(off)).counts is counts


def test_a_miss_says_how_far_and_that_its_cause_is_open(offload: ModuleType) -> None:
    def reason(value: float) -> str:
        seen = offload.Compared(
            FOLDER, offload.offload_cells()[0], "queue_packets", metric(100.0), metric(value)
        )
        return str(seen.reason)

    assert reason(114.0) == ""
    assert reason(80.0).startswith("-20 %, band ±15; ")


def test_only_judged_quantities_are_rows(offload, monkeypatch):
    cell = offload.offload_cells()[0]
    moved = offload.Compared(
        FOLDER, cell, "utilization", metric(0.99), metric(0.98), metric(0.9), [0.98, 0.9801]
    )
    still = offload.Compared(FOLDER, cell, "loss_rate", metric(0.1), metric(0.5), off=metric(0.1))
    monkeypatch.setattr(offload, "offload_cells", lambda: [cell])
    monkeypatch.setattr(offload, "kernel", lambda _: [moved, still])
    monkeypatch.setattr(offload, "simulated", lambda *_: [moved, still])
    made = offload.offload.reproduce(Effort(seeds=2))
    assert [row[5] for row in made.rows] == ["utilization, %"] and not made.agrees


def test_the_share_is_bbrs_beside_another(offload: ModuleType) -> None:
    alone = '[link]\nrate = "9 Mbit/s"\n[queue]\nsize = "30 packets"\n[[traffic]]\nflows = 8\n'
    alone += 'rtt = "20 ms"\n[measure]\nwarmup = "11 s"\nduration = "2 s"\n'
    from forebay.scenario import loads

    scenario = loads(alone)
    assert offload.bbr_share(forebay.run(scenario, seed=1)) is None
    mixed = scenario.replace({"traffic.0.congestion_control": offload.MIX})
    assert 0 < offload.bbr_share(forebay.run(mixed, seed=1)).value < 1


@pytest.mark.parametrize(("after_stalls", "counts"), [(7, True), (8, False), (None, True)])
def test_a_run_whose_losses_are_of_stalls_gives_no_loss(offload, monkeypatch, after_stalls, counts):
    cell = offload.offload_cells()[0]
    gate = {} if after_stalls is None else {"drops": 100, "stall_drops": after_stalls}
    run = {**cell, "seed": 1, "utilization": 0.9, "loss_rate": 0.01, "gate": gate}
    both = [run | {"offload": switch} for switch in ("on", "off")]
    monkeypatch.setattr(Measured, "__init__", lambda self, folder: setattr(self, "runs", both))
    read = {each.quantity for each in offload.kernel(cell)}
    assert read == ({"utilization", "loss_rate"} if counts else {"utilization"})


def test_a_number_whose_side_of_the_band_is_not_told_has_no_verdict(offload: ModuleType) -> None:
    """One run of the kernel, replications that differ by 0.2 points: 0.4 of a band of 0.5."""
    cell, kernel, off = offload.offload_cells()[0], metric(0.95), metric(0.9)

    def told(*runs: float) -> bool:
        mean = metric(sum(runs) / len(runs))
        seen = offload.Compared(FOLDER, cell, "utilization", kernel, mean, off, runs)
        return bool(seen.told)

    assert not told(0.952, 0.954, 0.956) and told(0.98, 0.982, 0.984)
    assert told(0.9500, 0.9501, 0.9502) and not told(0.98)
