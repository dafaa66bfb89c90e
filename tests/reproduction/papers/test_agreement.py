"""The simulator against the kernel: the comparison, and the reason of a miss."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import forebay
from forebay.effort import Effort
from forebay.outcome import LinkOutcome, Metric, Outcome, Provenance, Quantiles
from forebay.reproduction.papers.agreement import kernel


@pytest.fixture
def cells() -> Any:
    return kernel


def metric(value: float) -> Metric:
    return Metric(value=value, low=0.99 * value, high=1.01 * value, n=3)


@pytest.fixture
def said(cells: ModuleType, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What both say: a change here changes the simulator alone."""
    linux = {"utilization": 0.97, "loss_rate": 0.015, "queue_packets": 60.0}
    values = dict(linux)

    def run(scenario: Any, **options: Any) -> Outcome:
        queue = Quantiles(mean=metric(values["queue_packets"]), p50=None, p95=None, p99=None)
        link = LinkOutcome(
            utilization=metric(values["utilization"]), loss_rate=metric(values["loss_rate"]),
            queue_packets=queue, queue_delay_s=None, buffer_packets=1, bdp_packets=1.0,
        )  # fmt: skip
        known = Provenance(version="0", seeds=[1], scenario_sha256="", wall_s=0.0)
        return Outcome(
            scenario={}, engine="simulation", links={"bottleneck": link}, classes=[],
            broken_assumptions=[], provenance=known,
        )  # fmt: skip

    monkeypatch.setattr(forebay, "run", run)
    monkeypatch.setattr(cells, "recorded", lambda cell, quantity: metric(linux[quantity]))
    return values


def test_eight_cells_in_one_set_up(cells: ModuleType) -> None:
    asked = [cells.plain(cell) for cell in cells.every_cell()]
    assert len(asked) == 8
    assert {each.traffic[0].sender for each in asked} == {"linux"}
    assert [each.buffer_packets for each in asked] == [64, 129, 258, 32, 64, 128, 129, 129]
    controls = [next(iter(each.traffic[0].shares)) for each in asked]
    assert controls == ["reno"] * 6 + ["cubic", "bbr"]


def test_what_is_equal_agrees_and_is_drawn(cells: ModuleType, said: dict[str, float]) -> None:
    made = cells.cells.reproduce(Effort(seeds=2))
    assert made.agrees and len(made.rows) == 24
    assert [panel.title for panel in made.picture.panels] == list(cells.NAMES.values())[:3]


@pytest.mark.parametrize(
    ("quantity", "within", "beyond", "told"),
    [
        ("utilization", 0.9749, 0.9649, "-0.51 points, band ±0.5"),
        ("loss_rate", 0.0172, 0.0127, "-15 %, band ±15"),
        ("queue_packets", 68.9, 69.1, "+15 %, band ±15"),
    ],
)
def test_the_bands(cells, said, quantity, within, beyond, told):
    said[quantity] = within
    assert cells.cells.reproduce(Effort(seeds=2)).agrees
    said[quantity] = beyond
    made = cells.cells.reproduce(Effort(seeds=2))
    assert made.verdicts.count(False) == 8
    assert next(filter(None, made.reasons)).startswith(told)


def test_a_cell_that_was_not_played_is_no_agreement(cells, said, monkeypatch):
    monkeypatch.setattr(cells, "recorded", lambda cell, quantity: None)
    made = cells.cells.reproduce(Effort(seeds=2))
    assert not any(made.verdicts) and made.reasons[0] == "the kernel was not measured"
