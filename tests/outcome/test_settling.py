"""Whether long flows have settled, from known series of batches."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from forebay.outcome import Histogram, LongFlows
from forebay.outcome.reading import ClassReading, LinkReading
from forebay.outcome.settling import EVENTS, GOODPUT, GROWS, LOSSES, why_unsettled
from forebay.words import Fact

BATCHES, WINDOW_S, RATE = 20, 40.0, 1e8
LOSS_BASED = LongFlows(True, False, 1e9, float("inf"))
BY_MODEL = LongFlows(False, True, 1e9, float("inf"))
NOISE = np.random.default_rng(1)


def counts(*values: float) -> Any:
    """Return whole numbers, repeated to 20 batches."""
    return np.resize(np.asarray(values), BATCHES).astype(np.int64)


def read(
    flows: LongFlows, drops: Any, goodput: Any = None, rtt_s: float = 0.1, queue: Any = None
) -> tuple[ClassReading, LinkReading]:
    bits = np.full(BATCHES, RATE * WINDOW_S / BATCHES) if goodput is None else goodput
    rtt = Histogram(np.array([0.0, 2 * rtt_s]), np.array([1.0]))
    nothing = counts(0)
    of_class = ClassReading(
        name="long-0", kind="long", flows=1, link="bottleneck", throughput_bits=bits,
        goodput_bits=bits, drops=drops, passed=counts(10_000), sent=counts(10_000),
        timeouts=nothing, flow_goodput_bits=np.array([bits.sum()]), rtt=rtt, fct_s=None,
        unfinished_s=None, long_flows=flows,
    )  # fmt: skip
    waits = np.full(BATCHES, 10.0) if queue is None else queue
    link = LinkReading(
        capacity_bps=RATE, window_s=WINDOW_S, buffer_packets=100, bdp_packets=800.0, bits=bits,
        arrivals=nothing, drops=drops, accepted=nothing, sent=nothing, held=counts(0),
        most_packets=100, queue_packet_s=waits * WINDOW_S / BATCHES, queue_s=np.zeros((BATCHES, 1)),
        queue_step=1, delay=rtt, delay_sum_s=np.zeros(BATCHES), longest_s=0.0, class_delays=[],
    )  # fmt: skip
    return of_class, link


def why(of_class: ClassReading, link: LinkReading, marks: Any = None) -> Fact | None:
    return why_unsettled([of_class], [link], [marks], [WINDOW_S])


climbing = np.linspace(0.6, 1.4, BATCHES) * RATE * 0.3
noisy = RATE * NOISE.normal(1.0, 0.05, BATCHES)
sawtooth = RATE * np.resize([0.7, 0.8, 0.9, 1.0], BATCHES)


@pytest.mark.parametrize(
    ("flows", "drops", "goodput", "queue", "expected"),
    [
        (LOSS_BASED, counts(0), climbing, None, GOODPUT),
        (LOSS_BASED, counts(0), climbing[::-1], None, GOODPUT),
        (LOSS_BASED, counts(0), None, None, EVENTS),
        (LOSS_BASED, np.eye(1, BATCHES, 3, dtype=np.int64)[0], None, None, EVENTS),
        (LOSS_BASED, counts(0, 0, 0, 5), sawtooth, None, None),
        (LOSS_BASED, counts(3, 0, 7, 1), noisy, None, None),
        (BY_MODEL, counts(0), noisy, None, None),
        (BY_MODEL, np.array([6207, 3155, *[0] * 18]), None, None, LOSSES),
        (BY_MODEL, counts(290, 310, 305), noisy, None, None),
        (BY_MODEL, np.array([9, 3, *[0] * 18]), None, None, None),
        (BY_MODEL, counts(0), None, np.linspace(10, 90, BATCHES), GROWS),
        (BY_MODEL, counts(0), None, np.resize([10.0, 30.0], BATCHES), None),
        (BY_MODEL, counts(0), None, np.array([10.0, 20, 30, 40, 50, 49]), GROWS),
        (BY_MODEL, counts(0), None, np.array([10.0, 20, 30, 29, 50, 49]), None),
        (LOSS_BASED, counts(0), np.zeros(BATCHES), None, None),
    ],
)  # fmt: skip
def test_a_series_is_judged(flows, drops, goodput, queue, expected):
    assert why(*read(flows, drops, goodput, queue=queue)) == expected


def test_replications_are_judged_together():
    """One of five without an event does not leave the class unsettled."""
    quiet, busy = read(LOSS_BASED, counts(0)), read(LOSS_BASED, counts(0, 1))
    runs = [quiet, busy, busy, busy, busy]
    classes, links = [each for each, _ in runs], [link for _, link in runs]
    assert why_unsettled(classes, links, [None] * 5, [WINDOW_S] * 5) is None


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (counts(0, 5000, 5000, *[0] * 12, 900, *[0] * 4), LOSSES),
        (counts(0, 1000, 1000, *[0] * 12, 900, *[0] * 4), None),  # a sawtooth's
        (counts(0, 5000, *[900] * 18), None),  # steady, with a burst of others
    ],
)
def test_an_overshoot_is_no_steady_loss(losses, expected):
    assert why(*read(LOSS_BASED, losses)) == expected


def test_each_replication_has_its_window():
    of_class, link = read(LOSS_BASED, counts(0))
    with pytest.raises(ValueError, match="zip"):
        why_unsettled([of_class] * 2, [link] * 2, [None] * 2, [WINDOW_S])


def test_where_no_round_trip_was_measured_no_window_holds_the_flows_back():
    of_class, link = read(replace(LOSS_BASED, window_bits=RATE), counts(0))
    assert why(of_class, link) == EVENTS
    assert why(replace(of_class, rtt=None), link) == EVENTS
    held, _ = read(replace(LOSS_BASED, window_bits=RATE), counts(0), rtt_s=0.8)
    assert why(held, link) is None


@pytest.mark.parametrize(("busy", "expected"), [(1, EVENTS), (2, EVENTS), (3, LOSSES)])
def test_most_replications_must_lose_at_once(busy, expected):
    """One event in each of four: too few, whether or not it is an overshoot."""
    few, many = (read(LOSS_BASED, counts(0, lost, *[0] * 18)) for lost in (5, 5000))
    runs = [many] * busy + [few] * (4 - busy)
    classes, links = [of for of, _ in runs], [link for _, link in runs]
    assert why_unsettled(classes, links, [None] * 4, [WINDOW_S] * 4) == expected
