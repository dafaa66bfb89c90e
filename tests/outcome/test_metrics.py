"""Metrics from raw readings: small cases by hand, then properties."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from forebay.outcome import Histogram, LinkOutcome, Metric, summarize
from forebay.outcome.metrics import class_outcome, jain, link_outcome
from forebay.outcome.reading import ClassReading, LinkReading, Reading


def link(batches: int = 4, seed: int = 1) -> LinkReading:
    """A link of 1000 bit/s over 4 s: plausible and consistent, no more."""
    random = np.random.default_rng(seed)
    arrivals = random.integers(50, 100, batches)
    drops = random.integers(0, 10, batches)
    seconds = random.dirichlet(np.ones(6), batches) * (4.0 / batches)
    return LinkReading(
        capacity_bps=1000.0, window_s=4.0, buffer_packets=5, bdp_packets=10.0,
        bits=random.uniform(0.8, 1.0, batches) * 4000.0 / batches, arrivals=arrivals, drops=drops,
        accepted=arrivals - drops, sent=arrivals - drops, held=np.zeros(batches + 1, np.int64),
        most_packets=5, queue_packet_s=seconds @ np.arange(6.0), queue_s=seconds, queue_step=1,
        delay=Histogram(np.array([0.0, 0.1, 0.2]), np.array([30.0, 10.0])),
        delay_sum_s=random.uniform(1.0, 2.0, batches), longest_s=0.2, class_delays=[],
    )  # fmt: skip


def traffic(batches: int = 4, flows: int = 3) -> ClassReading:
    return ClassReading(
        name="long-0", kind="long", flows=flows, link="bottleneck",
        throughput_bits=np.linspace(800.0, 1000.0, batches),
        goodput_bits=np.linspace(780.0, 980.0, batches), drops=np.array([1, 3] * (batches // 2)),
        passed=np.array([99, 97] * (batches // 2)), sent=np.full(batches, 100),
        timeouts=np.arange(batches), flow_goodput_bits=np.array([1.0, 1.0, 2.0]),
        rtt=Histogram(np.array([0.1, 0.2]), np.array([7.0])), fct_s=None, unfinished_s=None,
    )  # fmt: skip


def reading(seed: int) -> Reading:
    return Reading(seed, {"bottleneck": link(seed=seed)}, [traffic()], packets=400, cpu_s=0.1)


def metrics_of(outcome: LinkOutcome) -> list[Metric]:
    spreads = [outcome.queue_packets, outcome.queue_delay_s]
    inside = [getattr(s, f) for s in spreads if s for f in ("mean", "p50", "p95", "p99")]
    return [m for m in [outcome.utilization, outcome.loss_rate, *inside] if m is not None]


def test_link_metrics_by_hand() -> None:
    hand = replace(
        link(), bits=np.array([900.0, 1000.0, 950.0, 950.0]),
        arrivals=np.array([100, 100, 200, 100]), drops=np.array([0, 5, 5, 0]),
        accepted=np.array([100, 95, 195, 100]),
        queue_s=np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, 1.0, 0]]),
        queue_packet_s=np.array([0.0, 1.0, 2.0, 1.0]),
        delay_sum_s=np.array([10.0, 19.0, 19.5, 0.5]),
    )  # fmt: skip
    outcome = link_outcome([hand])
    assert outcome.utilization.value == pytest.approx(0.95)
    assert outcome.utilization.n == 1
    # batches 0.90 1.00 0.95 0.95: deviation 0.0408, t(3) = 3.1824, so +- 0.0650; cut at 1
    assert outcome.utilization.low == pytest.approx(0.95 - 3.18245 * 0.0408248 / 2.0, rel=1e-5)
    assert outcome.utilization.high == 1.0
    assert outcome.loss_rate.value == pytest.approx(10 / 500)
    assert outcome.queue_packets.mean.value == pytest.approx(1.0)
    assert outcome.queue_packets.p50.value == 1.0
    assert outcome.queue_delay_s.mean.value == pytest.approx(49.0 / 490)


def test_a_link_that_only_sends_an_earlier_packet_is_not_like_an_idle_one() -> None:
    none = np.zeros(4, dtype=np.int64)
    idle = replace(link(), bits=np.zeros(4), arrivals=none, drops=none, accepted=none)
    sending = replace(idle, bits=np.full(4, 1000.0))
    both = replace(reading(1), links={"bottleneck": sending, "other": idle})
    links, _ = summarize([both])
    used = {name: each.utilization for name, each in links.items()}
    assert [each and each.value for each in used.values()] == [1.0, 0.0]


def test_class_metrics_by_hand() -> None:
    _, classes = summarize([reading(1)])
    (outcome,) = classes
    assert outcome.throughput_bps.value == pytest.approx(3600.0 / 4.0)
    assert outcome.goodput_bps.value == pytest.approx(3520.0 / 4.0)
    assert outcome.jain.value == pytest.approx(16.0 / (3 * 6))
    assert outcome.loss_rate.value == pytest.approx(0.02)
    assert outcome.timeouts.value == pytest.approx(6.0)
    assert outcome.rtt_s.mean.value == pytest.approx(0.15)
    assert outcome.fct_s is None


def test_jain_bounds() -> None:
    assert jain(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert jain(np.array([5.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert jain(np.zeros(4)) is None


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_every_metric_is_bounded_and_inside_its_interval(seed: int, runs: int) -> None:
    outcome = link_outcome([link(seed=seed + i) for i in range(runs)])
    assert 0.0 <= outcome.utilization.value <= 1.0
    assert 0.0 <= outcome.loss_rate.value <= 1.0
    for metric in metrics_of(outcome):
        assert metric.n == runs
        if metric.low is not None and metric.high is not None:
            assert 0.0 <= metric.low <= metric.value <= metric.high


@given(st.permutations(range(6)))
def test_the_order_of_batches_does_not_matter(order: list[int]) -> None:
    straight = link(batches=6)
    fields = ("bits", "arrivals", "drops", "accepted", "queue_packet_s", "queue_s", "delay_sum_s")
    changed: dict[str, Any] = {f: _take(getattr(straight, f), order) for f in fields}
    shuffled = replace(straight, **changed)
    for a, b in zip(
        metrics_of(link_outcome([straight])), metrics_of(link_outcome([shuffled])), strict=True
    ):
        assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))


def _take(values: NDArray[np.float64], order: list[int]) -> NDArray[np.float64]:
    return values[np.asarray(order)]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40))
def test_counts_of_one_run_are_whole(counts: list[int]) -> None:
    marked = replace(link(batches=len(counts)), marks=np.array(counts))
    marks = link_outcome([marked]).marks
    assert marks.value == sum(counts)


def test_each_replication_of_a_class_has_its_window() -> None:
    both = [traffic(), traffic()]
    with pytest.raises(ValueError, match="zip"):
        class_outcome(both, [4.0])
    assert class_outcome(both, [4.0, 4.0]).goodput_bps is not None
