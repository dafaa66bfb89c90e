"""The simulator against the kernel, without and with offload: what is judged, and why it misses."""

from typing import Any

import pytest
from tests.outcomes import link_of, metric, outcome_of, quantiles
from tests.scenarios import scenario

import forebay
from forebay.effort import Effort
from forebay.outcome import Outcome
from forebay.reproduction import Measured
from forebay.reproduction.papers.agreement import kernel
from forebay.reproduction.papers.agreement.kernel import OFFLOAD, Compared


@pytest.fixture
def said(monkeypatch):
    """What both say: a change here changes the simulator alone."""
    linux = {"utilization": 0.97, "loss_rate": 0.015, "queue_packets": 60.0}
    values = dict(linux)

    def run(scenario: Any, **options: Any) -> Outcome:
        seen = {name: metric(value) for name, value in values.items()}
        return outcome_of(
            link_of(**seen | {"queue_packets": quantiles(mean=seen["queue_packets"])})
        )

    monkeypatch.setattr(forebay, "run", run)
    monkeypatch.setattr(kernel, "recorded", lambda cell, quantity: metric(linux[quantity]))
    return values


def test_eight_cells_in_one_set_up():
    asked = [kernel.plain(cell) for cell in kernel.cells_of(kernel.CELLS)]
    assert len(asked) == 8
    assert {each.traffic[0].sender for each in asked} == {"linux"}
    assert [each.buffer_packets for each in asked] == [64, 129, 258, 32, 64, 128, 129, 129]
    controls = [next(iter(each.traffic[0].shares)) for each in asked]
    assert controls == ["reno"] * 6 + ["cubic", "bbr"]


def test_what_is_equal_agrees_and_is_drawn(said):
    made = kernel.cells.reproduce(Effort(seeds=2))
    assert made.agrees and len(made.rows) == 24
    assert [panel.title for panel in made.picture.panels] == list(kernel.NAMES.values())[:3]


@pytest.mark.parametrize(
    ("quantity", "within", "beyond", "told"),
    [
        ("utilization", 0.9749, 0.9649, "-0.51 points, band ±0.5"),
        ("loss_rate", 0.0172, 0.0127, "-15 %, band ±15"),
        ("queue_packets", 68.9, 69.1, "+15 %, band ±15"),
    ],
)
def test_the_bands(said, quantity, within, beyond, told):
    said[quantity] = within
    assert kernel.cells.reproduce(Effort(seeds=2)).agrees
    said[quantity] = beyond
    made = kernel.cells.reproduce(Effort(seeds=2))
    assert made.verdicts.count(False) == 8
    assert next(filter(None, made.reasons)).startswith(told)


def test_a_cell_that_was_not_played_is_no_agreement(said, monkeypatch):
    monkeypatch.setattr(kernel, "recorded", lambda cell, quantity: None)
    made = kernel.cells.reproduce(Effort(seeds=2))
    assert not any(made.verdicts) and made.reasons[0] == "the kernel was not measured"


CELL = kernel.cells_of(OFFLOAD)[0]


def test_a_cell_differs_from_itself_in_its_hosts_alone():
    for cell in kernel.cells_of(OFFLOAD):
        on, off = (kernel.with_offload(cell, switch) for switch in ("on", "off"))
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
def test_what_offload_moves_by_twice_its_band_is_judged(quantity, off, on, counts):
    assert Compared(OFFLOAD, CELL, quantity, metric(on), off=metric(off)).counts is counts


def test_a_miss_says_how_far_and_that_its_cause_is_open():
    within, beyond = (
        Compared(OFFLOAD, CELL, "queue_packets", metric(100.0), metric(value)).reason
        for value in (114.0, 80.0)
    )
    assert within == "" and beyond.startswith("-20 %, band ±15; ")


def test_only_judged_quantities_are_rows(monkeypatch):
    moved = Compared(
        OFFLOAD, CELL, "utilization", metric(0.99), metric(0.98), metric(0.9), [0.98, 0.9801]
    )
    still = Compared(OFFLOAD, CELL, "loss_rate", metric(0.1), metric(0.5), off=metric(0.1))
    monkeypatch.setattr(kernel, "cells_of", lambda _: [CELL])
    monkeypatch.setattr(kernel, "kernel", lambda _: [moved, still])
    monkeypatch.setattr(kernel, "simulated", lambda *_: [moved, still])
    made = kernel.offload.reproduce(Effort(seeds=2))
    assert [row[5] for row in made.rows] == ["utilization, %"] and not made.agrees


def test_the_share_is_bbrs_beside_another():
    alone = scenario({"traffic.0.flows": 8, "measure.warmup": "11 s"})
    assert kernel.bbr_share(forebay.run(alone, seed=1)) is None
    mixed = alone.replace({"traffic.0.congestion_control": kernel.MIX})
    assert 0 < kernel.bbr_share(forebay.run(mixed, seed=1)).value < 1


@pytest.mark.parametrize(("after_stalls", "counts"), [(7, True), (8, False), (None, True)])
def test_a_run_whose_losses_are_of_stalls_gives_no_loss(monkeypatch, after_stalls, counts):
    gate = {} if after_stalls is None else {"drops": 100, "stall_drops": after_stalls}
    run = {**CELL, "seed": 1, "utilization": 0.9, "loss_rate": 0.01, "gate": gate}
    both = [run | {"offload": switch} for switch in ("on", "off")]
    monkeypatch.setattr(Measured, "__init__", lambda self, folder: setattr(self, "runs", both))
    read = {each.quantity for each in kernel.kernel(CELL)}
    assert read == ({"utilization", "loss_rate"} if counts else {"utilization"})


@pytest.mark.parametrize(
    ("runs", "is_told"),
    [
        ((0.952, 0.954, 0.956), False),
        ((0.98, 0.982, 0.984), True),
        ((0.9500, 0.9501, 0.9502), True),
        ((0.98,), False),
    ],
)
def test_a_number_whose_side_of_the_band_is_not_told_has_no_verdict(runs, is_told):
    """One run of the kernel, replications that differ by 0.2 points: 0.4 of a band of 0.5."""
    mean = metric(sum(runs) / len(runs))
    seen = Compared(OFFLOAD, CELL, "utilization", metric(0.95), mean, metric(0.9), runs)
    assert seen.told is is_told
