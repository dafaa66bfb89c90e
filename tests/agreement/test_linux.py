"""Our simulator with the profile `linux` against a Linux kernel, on one dumbbell."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import forebay

HERE = Path(__file__).parent
CELLS = tomllib.loads((HERE / "linux.toml").read_text())["cell"]
SCENARIO = Path(__file__).parents[2] / "scenarios" / "oc3-gsr.toml"
KERNEL = [
    "traffic.0.sender=linux",
    "traffic.0.initial_window=10",
    "traffic.0.start={ uniform = ['0 s', '5 s'] }",
    "traffic.0.access_rate=100 Gbit/s",
    "measure.warmup=15 s",
    "measure.duration=25 s",
]

UTILIZATION_POINTS = 0.5
LOSS_SHARE = 0.15
QUEUE_SHARE = 0.15


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell['flows']}-{cell['limit']}")
def test_utilization_loss_and_queue_agree_with_the_kernel(cell: dict[str, Any]) -> None:
    size = f"queue.size={cell['limit'] - 1} packets"
    asked = forebay.load(SCENARIO, [*KERNEL, f"traffic.0.flows={cell['flows']}", size])
    link = forebay.run(asked, seeds=5).links["bottleneck"]
    assert link.utilization is not None and link.loss_rate is not None
    assert link.queue_packets is not None and link.queue_packets.mean is not None
    used = link.utilization.value
    assert 100 * used == pytest.approx(cell["utilization_percent"], abs=UTILIZATION_POINTS)
    assert 100 * link.loss_rate.value == pytest.approx(cell["loss_percent"], rel=LOSS_SHARE)
    # A packet is on the wire for the share of time that the link is used.
    waiting_or_sent = link.queue_packets.mean.value + used
    assert waiting_or_sent == pytest.approx(cell["mean_queue_packets"], rel=QUEUE_SHARE)
