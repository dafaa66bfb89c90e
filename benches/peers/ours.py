"""Our own simulator on the peers' dumbbell."""

from __future__ import annotations

import os
import time
from pathlib import Path

import forebay

SCENARIO = Path(__file__).parents[2] / "scenarios" / "oc3-gsr.toml"
SENDERS = ("ns2", "linux")
# As the command does: NumPy's threads spin for a while after their import, and no run needs them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def run(sender: str, flows: int, limit: int, seed: int) -> dict[str, float]:
    """One run; the peers' limit counts the packet being sent, so ours is one packet less."""
    overrides = (
        f"traffic.0.flows={flows}",
        f"queue.size={limit - 1} packets",
        f"traffic.0.sender={sender}",
        "traffic.0.initial_window=10",
    )
    scenario = forebay.load(SCENARIO, overrides)
    started = time.process_time()
    outcome = forebay.run(scenario, seed=seed, jobs=1)
    cpu = time.process_time() - started
    link = outcome.links["bottleneck"]
    assert link.utilization and link.loss_rate and link.queue_packets and link.queue_packets.mean
    return {
        "utilization": link.utilization.value,
        "loss": link.loss_rate.value,
        "queue": link.queue_packets.mean.value,
        "packets": outcome.provenance.packets or 0,
        "cpu": cpu,
    }
