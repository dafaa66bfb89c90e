"""Readings of the simulator keep to the invariants.

That each is seen where it is broken, and from where on, is in `tests/outcome/test_kept.py`.
"""

from pathlib import Path
from typing import get_args

import pytest

from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import (
    violations,
)
from forebay.scenario import load, loads
from forebay.scenario.queue import Discipline

IMPOSSIBLE = sorted((Path(__file__).parent / "impossible").glob("*.toml"))

BUSY = """
link.rate = "10 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "3 ms", duration = "700 ms" }
traffic = [
  { flows = 8, start = "0 s" },
  { kind = "short", length = "6 packets", load = 0.3 },
  { kind = "udp", flows = 3, load = 0.4, packet = "200 B", start = "0 s" },
]
"""


@pytest.mark.parametrize("path", IMPOSSIBLE, ids=lambda path: str(path.stem))
def test_scenarios_that_once_gave_impossible_numbers(path):
    """Loss rates of 7.5 and 3197, and an interval that reached beyond the link's rate."""
    assert violations(SimulationEngine().run(load(path), [1], Effort(jobs=1))) == []


@pytest.mark.parametrize("ring", [0, 5])
@pytest.mark.parametrize("discipline", get_args(Discipline))
def test_every_discipline_keeps_to_them(discipline, ring):
    """Under heavy load, over a window that begins with a full queue, and beside datagrams."""
    sets = [f"queue.discipline={discipline}", f"queue.transmit_ring={ring}"]
    if discipline == "classes":
        sets.append("queue.classes=[{ name = 'all', default = true }]")
    outcome = SimulationEngine().run(loads(BUSY, overrides=sets), [1, 2, 3], Effort(jobs=1))
    assert violations(outcome) == []
    total = sum(k.throughput_bps.value for k in outcome.classes if k.throughput_bps)
    link = outcome.links["bottleneck"]
    assert total == pytest.approx(link.utilization.value * link.capacity_bps, rel=1e-9)
