"""Statements about buffers are read, or listed as not understood."""

from __future__ import annotations

import pytest
from tests.platforms.reading import one, said

from forebay.platforms import Port, lint

NEXUS = "policy-map type queuing Q\n class type queuing c-out-8q-q1\n"
MARKS = "random-detect minimum-threshold {} kbytes maximum-threshold {} kbytes"


def test_nexus_marks_from_its_minimum_on(gigabit: Port) -> None:
    early = f"  {MARKS.format(100, 2000)} drop-probability 30 weight 0 ecn\n"
    reading = one(f"{NEXUS}{early}  queue-limit 3000 kbytes\n", gigabit)
    assert reading.bytes == 3_000_000 and reading.marks_bytes is None
    assert "rising probability from 100000 to 2000000 B" in said(reading, "note")


def test_nexus_marks_beside_a_limit_without_a_pool_limit_nothing(gigabit: Port) -> None:
    early = f"  {MARKS.format(60, 60)} drop-probability 100 weight 0 ecn\n"
    reading = one(f"{NEXUS}{early}  queue-limit dynamic 8\n", gigabit)
    assert reading.bytes is None and reading.marks_bytes == 60_000
    drops = one(f"{NEXUS}{early.replace(' ecn', '')}  queue-limit dynamic 8\n", gigabit)
    assert drops.bytes == 60_000, "without ecn it drops there"


@pytest.mark.parametrize(
    ("shape", "served"),
    [
        ("average 500 mbps", 5e8),
        ("average percent 10", 1e8),
        ("min 1 mbps max 5 mbps", 5e6),
        ("x", None),
    ],
)
def test_nexus_shapes_are_read_or_said(shape: str, served: float | None, gigabit: Port) -> None:
    reading = one(f"{NEXUS}  shape {shape}\n  queue-limit 3000 kbytes\n", gigabit)
    assert (reading.served and reading.served.rate_bps) == served
    assert ("is not understood" in said(reading)) == (served is None)


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        ("vyos", "set qos policy rate-control RC burst 16kb"),
        ("vyos", "set qos policy rate-control RC latency 250"),
        ("vyos", "set qos policy cake C rtt 100"),
        ("vyos", "set traffic-policy fq-codel F target 5"),
        ("vyos", "set interfaces ethernet eth0 ring-buffer tx 4096"),
        ("eos", "platform trident mmu queue profile Q"),
        ("eos", "   egress unicast queue 1 threshold 1/64"),
        ("eos", "   egress unicast queue 1 reserved bytes 5000"),
        ("nx-os", "  hardware N2248T queue-limit 83000 rx"),
        ("nx-os", "qos ns-buffer-profile mesh"),
        ("nx-os", "hardware profile buffer info interval 5"),
        ("ios-xe", "platform hardware queue-limit 5"),
        ("ios-xe", "platform qos wred-threshold 1"),
    ],
)
def test_what_is_not_read_is_listed(platform: str, text: str, gigabit: Port) -> None:
    found = lint(f"{text}\n", gigabit, platform=platform)
    assert [each.written for each in found.unread] == [text.strip()] and not found.readings


def test_fair_queue_with_a_limit_of_its_own_is_listed(gigabit: Port) -> None:
    text = "policy-map X\n class class-default\n  fair-queue queue-limit 64\n  fair-queue\n"
    found = lint(f"{text}  queue-limit 100 packets\n", gigabit, platform="ios-xe")
    assert [each.line for each in found.unread] == [3]


def test_netem_above_a_leaf_is_said(gigabit: Port) -> None:
    text = "tc qdisc add dev e root handle 1: netem delay 40ms limit 300\n"
    text += "tc qdisc add dev e parent 1: pfifo limit 77\n"
    assert "netem above it holds at most 300 packets" in said(one(text, gigabit))
