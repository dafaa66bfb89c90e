"""The queue of bursts behind a buffer that ends: the chain itself, its limits, and waits."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from forebay.laws import bursts
from forebay.laws.bursts import SINGLE_PACKETS, Bursts
from forebay.laws.finite_queue import (
    arrivals_in_a_packet_time,
    exact_queue,
    finite_queue,
    with_repeats,
)

SLOW_START = Bursts.given([2, 4, 8])


def by_power(load: float, bursts: Bursts, buffer: int) -> list[float]:
    """Stationary distribution of L' = min(max(L - 1, 0) + A, K), from its transition matrix."""
    top = buffer + 1
    arrivals = arrivals_in_a_packet_time(load / bursts.mean, bursts, 4 * top + 400)
    moves = np.zeros((top + 1, top + 1))
    for state in range(top + 1):
        for a, p in enumerate(arrivals):
            moves[state, min(max(state - 1, 0) + a, top)] += p
    moves /= moves.sum(axis=1, keepdims=True)
    values, vectors = np.linalg.eig(moves.T)
    found = np.abs(vectors[:, np.argmax(values.real)].real)
    return list(found / found.sum())


@pytest.mark.parametrize("load", [0.3, 0.9, 1.0, 2.5])
@pytest.mark.parametrize("bursts", [SINGLE_PACKETS, SLOW_START])
@pytest.mark.parametrize("buffer", [1, 5, 30])
def test_it_is_the_chain_s_own_distribution(load, bursts, buffer):
    found = finite_queue(load, bursts, buffer).in_system
    assert found == pytest.approx(by_power(load, bursts, buffer), abs=1e-9)


def test_a_buffer_of_one_packet_in_m_d_1():
    """M/D/1/2 seen at packet times: p1 = p0 (e^rho - 1), p2 = (p0 + p1) P(A > 1) / a0."""
    rho = 0.7
    none, one = math.exp(-rho), rho * math.exp(-rho)
    first = (1 - none) / none
    second = (1 + first) * (1 - none - one) / none
    total = 1 + first + second
    found = finite_queue(rho, SINGLE_PACKETS, 1)
    assert found.in_system == pytest.approx([1 / total, first / total, second / total])
    assert found.loss_rate == pytest.approx(1 - (1 - 1 / total) / rho)


def test_a_large_buffer_is_the_endless_one():
    found, endless = finite_queue(0.8, SLOW_START, 1000), exact_queue(0.8, SLOW_START)
    assert found.utilization == pytest.approx(0.8)
    assert found.in_system[:100] == pytest.approx(endless.in_system[:100], rel=1e-6)


@pytest.mark.parametrize("buffer", [2, 10, 100])
def test_more_arrivals_carry_more_and_lose_more(buffer):
    loads = np.geomspace(0.01, 4.0, 30)
    found = [finite_queue(float(load), SLOW_START, buffer) for load in loads]
    used, lost = [q.utilization for q in found], [q.loss_rate for q in found]
    assert np.all(np.diff(used) > -1e-12) and np.all(np.diff(lost) > -1e-12)
    assert all(0.0 <= x <= 1.0 for x in (*used, *lost))


def test_what_is_lost_is_sent_again():
    """At 0.95 with 30 packets a ninth is lost; simulation of such flows lost 9.7 %, ours 13.9 %."""
    found = with_repeats(0.95, SLOW_START, 30)
    assert found.utilization == pytest.approx(0.95, rel=1e-5)
    assert found.arriving == pytest.approx(0.95 / (1 - found.loss_rate), rel=1e-5)
    assert found.loss_rate > finite_queue(0.95, SLOW_START, 30).loss_rate
    assert with_repeats(0.95, Bursts.given([200]), 3) is None, "no buffer takes these bursts"


def test_long_queues_take_a_bounded_time():
    started = time.process_time()
    assert with_repeats(0.99, Bursts.given([40]), 2_000) is not None
    assert time.process_time() - started < 20


def test_a_flow_of_many_full_windows_is_counted_not_listed():
    found = Bursts.of_lengths([10**9], initial_window=2, max_window=8)
    assert list(found.sizes) == [2, 4, 8]
    assert found.mean == pytest.approx(8, rel=1e-6)
    ended = Bursts.of_lengths([14 + 8 * 5 + 3], initial_window=2, max_window=8)
    assert ended.mean * 9 == pytest.approx(57)  # 2, 4, six times 8, 3


ENDLESS = 10**9


@settings(max_examples=examples(30))
@given(st.floats(0.05, 0.9), st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_mean_wait_is_little_s_law(load, sizes):
    found = Bursts.given(sizes)
    waited = bursts.mean(exact_queue(load, found), found, ENDLESS)
    assert waited == pytest.approx(float(bursts.mean_waiting(load, found)) / load, rel=1e-6)


def test_single_packets_wait_as_crommelin_says():
    """P(W <= t) = (1 - rho) e^(rho t) for t below a packet time (M/D/1, Crommelin 1932)."""
    queue = exact_queue(0.5, SINGLE_PACKETS)
    at = math.log(1.5) / 0.5  # where that is 3/4; the wire taken as independent costs 0.04
    assert bursts.quantile(queue, SINGLE_PACKETS, 0.75, ENDLESS) == pytest.approx(at, abs=0.05)
    assert bursts.quantile(queue, SINGLE_PACKETS, 0.4, ENDLESS) == 0.0


@settings(max_examples=examples(30))
@given(st.floats(0.001, 0.99), st.floats(0.001, 0.99), st.integers(1, 60))
def test_quantiles_rise_and_end_at_a_full_buffer(one, other, size):
    found = Bursts.given([2, 4, 8])
    queue = exact_queue(0.8, found)
    low, high = (bursts.quantile(queue, found, p, size) for p in sorted((one, other)))
    assert 0.0 <= low <= high <= size
