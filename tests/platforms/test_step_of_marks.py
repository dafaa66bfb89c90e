"""A step K of ECN marks is written and read back as the same K."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.platforms.reading import one, said, wanted

from forebay.outcome.size_result import AqmThresholds
from forebay.platforms import PlatformError, Port, Wanted, emit, lint

WRITES = ("nx-os", "sonic", "eos")


def step(k: int, limit: int, port: Port, *, ecn: bool = True) -> Wanted:
    """A sizing's K in bytes, with a guard of so many packets."""
    aqm = AqmThresholds(
        discipline="red", min_bytes=k, max_bytes=k + 1, probability=1.0,
        packet_bytes=port.packet_bytes, limit_packets=limit, ecn=ecn,
        packet_s=8 * port.packet_bytes / port.rate_bps,
    )  # fmt: skip
    return Wanted(limit * port.packet_bytes, limit, f"red with {limit} packets", "a.json", aqm)


@settings(deadline=None, max_examples=examples(60))
@given(
    name=st.sampled_from(WRITES),
    rate=st.sampled_from([1e9, 1e10, 2.5e10, 1e11, 4e11]),
    k=st.integers(1500, 20_000_000),
    limit=st.integers(1, 20_000),
)
def test_lint_reads_back_the_same_k(name: str, rate: float, k: int, limit: int) -> None:
    port = Port(rate)
    asked = step(k, limit, port)
    made = emit(asked, port, name)
    assert made.given.marks_bytes == k
    found = lint(made.text, port, platform=name, wanted=asked)
    (reading,) = found.readings
    assert reading.marks_bytes == k
    assert found.verdict(reading) == "as asked" and not found.unread
    assert f"a step K of {k} B" in found.text
    other = lint(made.text, port, platform=name, wanted=step(k + 1500, limit, port))
    assert other.verdict(other.readings[0]) == "smaller"
    less = lint(made.text, port, platform=name, wanted=step(k - 1, limit, port))
    assert less.verdict(less.readings[0]) == "larger" and less.exit_status == 1


@pytest.mark.parametrize("name", WRITES)
def test_pfc_is_said_not_to_be_modelled(name: str) -> None:
    made = emit(step(30_000, 100, Port(1e10)), Port(1e10), name)
    assert any("PFC is not modelled" in line for line in made.comments)


def test_a_step_that_drops_is_not_written_as_marks() -> None:
    port = Port(1e10)
    with pytest.raises(PlatformError, match="the queue is red, which cannot be written for eos"):
        emit(step(30_000, 100, port, ecn=False), port, "eos")


def test_arista_texts_of_others() -> None:
    """Units, thresholds that differ, chips' own segments, and a queue without marks."""
    port = Port(1e11)
    head = "qos profile ROCE\n   uc-tx-queue 3\n      random-detect ecn "
    rising = one(f"{head}minimum-threshold 150 kbytes maximum-threshold 1500 kbytes\n", port)
    assert rising.marks_bytes is None and "from 150000 to 1500000 B" in said(rising, "note")
    equal = one(f"{head}minimum-threshold 1 mbytes maximum-threshold 1 mbytes weight 0\n", port)
    assert equal.marks_bytes == 1_000_000 and equal.queue == "qos profile ROCE, uc-tx-queue 3"
    cells = one(f"{head}minimum-threshold 2000 segments maximum-threshold 2000 segments\n", port)
    assert cells.marks_bytes is None and "depend on the chip" in said(cells, "uncertain")
    unread = lint(f"{head}count\nqueue-monitor length\n", port).unread
    assert [each.line for each in unread] == [3, 4]


def test_marks_that_rise_are_no_step() -> None:
    port = Port(1e10)
    nexus = one(
        "policy-map type queuing P\n class type queuing c-out-8q-q3\n"
        "  random-detect minimum-threshold 100 kbytes maximum-threshold 300 kbytes ecn\n"
        "  queue-limit 1000 kbytes\n",
        port,
    )
    assert nexus.marks_bytes is None
    made = json.loads(emit(step(30_000, 100, port), port, "sonic").text)
    made["WRED_PROFILE"]["forebay"]["green_max_threshold"] = "90000"
    rising = one(json.dumps(made, indent=1), port)
    assert rising.marks_bytes is None and "from 30000 to 90000 B" in said(rising, "note")
    made["QUEUE"] = {}
    apart = lint(json.dumps(made, indent=1), port)
    assert [each.marks_bytes or each.bytes for each in apart.readings] == [150_000, None]
    assert "from 30000 to 90000 B" in said(apart.readings[1], "note") and not apart.unread


def test_a_plain_size_is_not_written_for_arista() -> None:
    port = Port(1e10)
    with pytest.raises(PlatformError, match=r"no public page.*only a step of ECN marks"):
        emit(wanted(20, port), port, "eos")
