"""Readings of the simulator keep to the invariants; each is seen where it is broken."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import (
    ClassReading,
    LinkReading,
    Outcome,
    Reading,
    violations,
    violations_of_reading,
)
from forebay.outcome.reading_invariants import INVARIANTS
from forebay.scenario import Scenario, load, loads
from forebay.scenario.queue import Discipline

IMPOSSIBLE = sorted((Path(__file__).parent / "impossible").glob("*.toml"))

BUSY = """
link.rate = "10 Mbit/s"
queue.size = "12 packets"
measure = { warmup = "1 s", duration = "4 s" }
[[traffic]]
flows = 8
[[traffic]]
kind = "short"
length = "6 packets"
load = 0.3
"""


def run(scenario: Scenario, seeds: int = 1) -> tuple[Outcome, list[Reading]]:
    engine = SimulationEngine()
    outcome = engine.run(scenario, range(1, seeds + 1), Effort(jobs=1))
    return outcome, [reading for reading, _ in engine._readings._kept.values()]


@pytest.fixture(scope="module")
def sound() -> Reading:
    """Return what breaks none."""
    (found,) = run(loads(BUSY))[1]
    assert found.links_tell_all and violations_of_reading(found) == []
    return found


@pytest.mark.parametrize("path", IMPOSSIBLE, ids=lambda path: str(path.stem))
def test_scenarios_that_once_gave_impossible_numbers(path):
    """Loss rates of 7.5 and 3197, and an interval that reached beyond the link's rate."""
    outcome, _ = run(load(path))
    assert violations(outcome) == []


@pytest.mark.parametrize("ring", [0, 5])
@pytest.mark.parametrize("discipline", get_args(Discipline))
def test_every_discipline_keeps_to_them(discipline, ring):
    """Under heavy load, over a window that begins with a full queue, and beside datagrams."""
    sets = [f"queue.discipline={discipline}", f"queue.transmit_ring={ring}"]
    if discipline == "classes":
        sets.append("queue.classes=[{ name = 'all', default = true }]")
    text = BUSY.replace("12 packets", "40 packets").replace('warmup = "1 s"', 'warmup = "3 ms"')
    more = '[[traffic]]\nkind = "udp"\nflows = 3\nload = 0.4\npacket = "200 B"\nstart = "0 s"\n'
    short = text.replace('duration = "4 s"', 'duration = "700 ms"').replace(
        "flows = 8", 'flows = 8\nstart = "0 s"'
    )
    outcome, _ = run(loads(short + more, overrides=sets), seeds=3)
    assert violations(outcome) == []
    total = sum(k.throughput_bps.value for k in outcome.classes if k.throughput_bps)
    link = outcome.links["bottleneck"]
    assert total == pytest.approx(link.utilization.value * link.capacity_bps, rel=1e-9)


def _link(reading: Reading, **fields: object) -> Reading:
    changed: LinkReading = replace(reading.links["bottleneck"], **fields)  # type: ignore[arg-type]
    return replace(reading, links={"bottleneck": changed})


def _class(reading: Reading, **fields: object) -> Reading:
    changed: ClassReading = replace(reading.classes[0], **fields)  # type: ignore[arg-type]
    return replace(reading, classes=[changed, *reading.classes[1:]])


def _bottleneck(reading: Reading) -> LinkReading:
    return reading.links["bottleneck"]


BREAK: dict[str, Callable[[Reading], Reading]] = {
    "counted": lambda r: _class(r, timeouts=r.classes[0].timeouts - 1_000_000),
    "packets-conserved": lambda r: _link(r, sent=_bottleneck(r).sent + 1),
    "each-wait-counted": lambda r: _link(r, longest_s=9.0),
    "time-adds-up": lambda r: _link(r, queue_s=_bottleneck(r).queue_s * 0.99),
    "queue-area": lambda r: _link(r, queue_packet_s=_bottleneck(r).queue_packet_s * 1.01),
    "queue-within-limit": lambda r: _link(r, most_packets=3),
    "wire-within-time": lambda r: _link(r, bits=_bottleneck(r).bits * 2.0),
    "classes-within-link": lambda r: _class(
        r, throughput_bits=r.classes[0].throughput_bits * 2.0
    ),
    "flows-make-class": lambda r: _class(
        r, flow_goodput_bits=r.classes[0].flow_goodput_bits * 0.5
    ),
    "drops-make-classes": lambda r: _class(r, drops=r.classes[0].drops + 1),
    "passed-was-accepted": lambda r: _class(r, passed=r.classes[0].passed * 2),
}  # fmt: skip


def _one_wait_less(reading: Reading) -> Reading:
    delay = _bottleneck(reading).delay
    fewer = replace(delay, counts=delay.counts - np.eye(1, delay.counts.size)[0])
    return _link(reading, delay=fewer)


@pytest.mark.parametrize(
    ("name", "change"),
    [*((name, BREAK[name]) for name in INVARIANTS), ("each-wait-counted", _one_wait_less)],
)
def test_what_cannot_be_read_is_seen(sound, name, change):
    assert name in {each.invariant for each in violations_of_reading(change(sound))}


def test_a_link_may_drop_packets_of_handshakes_but_no_fewer_than_the_classes(sound):
    testbed = replace(sound, handshakes=True)
    fewer_of_classes = _class(testbed, drops=sound.classes[0].drops // 2)
    more_of_classes = _class(testbed, drops=sound.classes[0].drops + 1)
    assert violations_of_reading(fewer_of_classes) == []
    assert [each.invariant for each in violations_of_reading(more_of_classes)] == [
        "drops-make-classes"
    ]
