"""What others measured beside the simulator: the tables, the set-ups, bands and reasons."""

import csv
from typing import Any

import pytest
from tests.outcomes import metric

import forebay
from forebay.reproduction import OTHERS, UNEXPLAINED, Effort, Work
from forebay.reproduction.papers.published import compared as module
from forebay.reproduction.papers.published.compared import HERE, Compared, read_rows, read_toml

NAMES = ("coexistence", "many-flows", "single-flow")
FULL = 100 * 1448 / 1514
"""Per cent of a link's rate that the payload of its frames can have."""


WORK = Work(HERE, quick=False, effort=Effort(seeds=1, jobs=1))


def compared(value: float, **more: Any) -> Compared:
    known: dict[str, Any] = {"measured": 80.0, "band": 1.0, "full": FULL} | more
    return Compared([100, "cubic"], "goodput", simulated=metric(value), **known)


@pytest.mark.parametrize(
    ("value", "more", "holds"),
    [
        (80.9, {}, True),
        (81.1, {}, False),
        (79.1, {}, True),
        (91.9, {"band": 15.0, "relative": True}, True),
        (92.1, {"band": 15.0, "relative": True}, False),
        (67.9, {"band": 15.0, "relative": True}, False),
    ],
)
def test_a_row_is_in_its_band_or_not(value: float, more: dict[str, Any], holds: bool) -> None:
    row = compared(value, **more)
    assert row.holds is holds is not bool(row.reason)
    assert bool(row.cause) is not holds
    assert row.row.checks[0].kind == OTHERS and row.row.checks[0].published


@pytest.mark.parametrize(("measured", "passes"), [(95.5, True), (94.0, False)])
def test_rows_that_a_link_never_idle_would_pass_are_told_apart(measured, passes):
    assert compared(95.0, measured=measured).row.checks[0].full_passes is passes
    assert compared(95.0, full=None).row.checks[0].full_passes is None


def test_a_reason_is_found_by_the_rows_name() -> None:
    known = {"100 bbr*": {"why": "no"}, "100 cubic*": {"why": "yes", "cause": "unknown set-up"}}
    assert compared(50.0, misses=known).reason.endswith("; yes")
    assert compared(50.0, misses=known).cause == "unknown set-up"
    assert compared(50.0).reason.endswith("; cause not known")
    assert compared(50.0).cause == UNEXPLAINED


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_all_its_numbers(name: str) -> None:
    folder = HERE / name.replace("-", "_")
    with (folder / "measured.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert all(len(row) == len(rows[0]) for row in rows) and len(rows) > 20
    for why in read_toml(folder, "misses").values():
        assert set(why) <= {"why", "cause"} and why["why"]


def test_the_single_flows_are_those_of_the_table() -> None:
    cells = module.single_cells()
    assert len(cells) == 72 and len(module.single_cells("4.15")) == 48
    for cell in cells:
        goodput, rate = float(cell["goodput_mbps"]), float(cell["rate_mbps"])
        assert float(cell["least_mbps"]) <= goodput <= float(cell["most_mbps"])
        assert goodput < 1.001 * FULL / 100 * rate and cell["trials"] == "5"
    scenario = module.single(cells[0])
    assert scenario.link.rate == 10e6 and scenario.traffic[0].offloads


def test_a_single_flow_is_compared_in_points_or_per_cent() -> None:
    full = next(c for c in module.single_cells() if c["rate_mbps"] == "10" and c["rtt_ms"] == "10")
    row = module.compare_single(WORK, full)
    assert not row.relative and row.band == 1.0 and row.holds and row.row.checks[0].full_passes
    low = full | {"goodput_mbps": "6.0"}
    row = module.compare_single(WORK, low)
    assert row.relative and row.band == 15.0 and not row.holds


def test_the_loss_is_of_what_came() -> None:
    cell = next(c for c in read_rows(module.MANY) if c["dropped"] == "9179")
    assert module.loss_percent(cell) == pytest.approx(100 * 9179 / (9179 + 89257163))
    found = module.compare_many(WORK, cell, seconds=5)
    assert [row.quantity for row in found] == [module.GOODPUT, module.LOSS]
    assert found[0].holds


def test_a_share_is_judged_where_the_sample_tells_it() -> None:
    assert module.buffers() == [0.1, 0.5, 1.0, 10.0, 100.0]
    assert [module.judged(each) for each in module.buffers()] == [True, True, True, False, True]
    percent, error = module.share(0.5)
    assert percent == pytest.approx(73.4, abs=0.1) and error == pytest.approx(0.6, abs=0.1)
    assert "7 %" in module.unjudged(10.0)


def test_the_buffer_of_the_coexistence_is_tbfs_limit() -> None:
    scenario = module.beside(1)
    assert [each.congestion_control for each in scenario.traffic] == ["bbr3", "cubic"]
    assert scenario.link.shaper.rate == 1e9
    short = scenario.replace({"measure.duration": "3 s"})
    outcome = forebay.run(short, seed=1)
    delay = outcome.links["bottleneck"].queue_delay_s
    assert delay.p99.value < 1.1 * module.BDP_BYTES * 8 / module.RATE_BPS
