"""Our simulator with the profile `ns2` against ns-2 itself, on one dumbbell."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases

import forebay

HERE = Path(__file__).parent
CELLS = tomllib.loads((HERE / "ns2.toml").read_text())["cell"]
SCENARIO = Path(__file__).parents[2] / "scenarios" / "oc3-gsr.toml"

UTILIZATION_POINTS = 0.7
LOSS_SHARE = 0.08
QUICK = ("60-15", "100-129")


def named(cell: dict[str, Any]) -> str:
    return f"{cell['flows']}-{cell['limit']}"


@pytest.mark.parametrize("cell", cases(CELLS, lambda cell: named(cell) in QUICK), ids=named)
def test_utilization_and_loss_agree_with_ns2(cell):
    low, high = cell.get("rtt", ("80 ms", "120 ms"))
    asked = forebay.load(
        SCENARIO,
        [
            f"link.rate={cell.get('rate', '155 Mbit/s')}",
            f'traffic.0.rtt={{uniform=["{low}", "{high}"]}}',
            "traffic.0.access_rate=1 Gbit/s",
            "traffic.0.sender=ns2",
            f"traffic.0.flows={cell['flows']}",
            f"queue.size={cell['limit'] - 1} packets",
            "traffic.0.initial_window=10",
            "traffic.0.min_rto=200 ms",
        ],
    )
    link = forebay.run(asked, seeds=cell.get("seeds", 5)).links["bottleneck"]
    ours = 100 * link.utilization.value
    assert ours == pytest.approx(cell["utilization_percent"], abs=UTILIZATION_POINTS)
    assert 100 * link.loss_rate.value == pytest.approx(cell["loss_percent"], rel=LOSS_SHARE)
