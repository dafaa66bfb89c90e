"""Laws of short flows (paper A, §4, §5.1.2, appendix C), and the exact queue."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from forebay.laws import bursts, completion_time, effective_bandwidth
from forebay.laws.bursts import SINGLE_PACKETS, Bursts, of_flow
from forebay.laws.effective_bandwidth import Order, kappa, prefactor
from forebay.laws.finite_queue import exact_queue

FOURTEEN = Bursts.given([2, 4, 8])

loads = st.floats(0.05, 0.95)
size_lists = st.lists(st.integers(1, 60), min_size=1, max_size=6)


def test_bursts_of_the_papers_flows():
    """§4: 14 packets go as 2, 4, 8; 16 as 2, 4, 8 and 2 (the paper prints 4)."""
    assert of_flow(14) == [2, 4, 8]
    assert of_flow(16) == [2, 4, 8, 2]


@given(st.integers(1, 10**6), st.integers(1, 64))
def test_bursts_of_a_flow_sum_to_its_length(length, window):
    sizes = of_flow(length, window)
    assert sum(sizes) == length
    assert sizes[:-1] == [window * 2**i for i in range(len(sizes) - 1)]
    assert sizes[-1] <= window * 2 ** (len(sizes) - 1)


@given(st.lists(st.tuples(st.integers(1, 500), st.floats(0.1, 5.0)), min_size=1, max_size=8))
def test_bursts_of_many_lengths_are_those_of_each(flows):
    lengths, weights = zip(*flows, strict=True)
    found = Bursts.of_lengths(lengths, weights, initial_window=3)
    counted: dict[int, float] = {}
    for length, weight in flows:
        for size in of_flow(length, 3):
            counted[size] = counted.get(size, 0.0) + weight
    total = sum(counted.values())
    assert found.sizes.tolist() == sorted(counted)
    expected = [counted[s] / total for s in sorted(counted)]
    np.testing.assert_allclose(found.probabilities, expected)


def test_mean_queue_of_14_packet_flows():
    """§4 at a load of 0.8: waiting 11.60 packets; the printed formula gives 10.13."""
    assert bursts.mean_waiting(0.8, FOURTEEN) == pytest.approx(11.60, abs=1e-9)
    printed = bursts.mean_waiting(0.8, FOURTEEN, as_printed=True)
    assert printed == pytest.approx(10.13, abs=0.005)
    assert bursts.mean_in_system(0.8, FOURTEEN) == pytest.approx(12.40)
    assert bursts.workload(0.8, FOURTEEN) == pytest.approx(12.0)
    assert exact_queue(0.8, FOURTEEN).mean_waiting == pytest.approx(11.60, abs=1e-8)


def test_single_packets_are_m_d_1():
    """§4: X = 1 is M/D/1, whose mean wait is rho^2 / (2 (1 - rho)) packets."""
    load = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(
        bursts.mean_waiting(load, SINGLE_PACKETS), load**2 / (2 * (1 - load))
    )
    queue = exact_queue(0.5, SINGLE_PACKETS)
    # P(L = 0) = 1 - rho and P(L = 1) = (1 - rho) (e^rho - 1), Crommelin 1932
    np.testing.assert_allclose(queue.in_system[:2], [0.5, 0.5 * math.expm1(0.5)], rtol=1e-14)


@settings(max_examples=examples(25))
@given(loads, size_lists)
def test_exact_queue_has_mass_one_and_the_mean_of_m_g_1(load, sizes):
    of_sizes = Bursts.given(sizes)
    queue = exact_queue(load, of_sizes)
    assert queue.in_system.sum() == pytest.approx(1.0, abs=2e-12)
    assert np.all(queue.in_system >= 0.0)
    assert queue.mean_waiting == pytest.approx(float(bursts.mean_waiting(load, of_sizes)), rel=1e-7)


@settings(max_examples=examples(25))
@given(st.floats(0.3, 0.95), size_lists)
def test_exact_tail_decays_with_the_full_kappa(load, sizes):
    """Two derivations that share nothing: P(L = j+1) / P(L = j) tends to exp(-kappa)."""
    bursts = Bursts.given([*sizes, 1])  # a span of one: no gaps between the levels
    probabilities = exact_queue(load, bursts).in_system
    fall = math.log(probabilities[-1] / probabilities[-2])
    exponent = float(effective_bandwidth.kappa(load, bursts))
    assert fall == pytest.approx(-exponent, rel=1e-3)


def test_exact_queue_against_a_simulated_one():
    """Packets one by one through a plain FIFO, watched at random moments."""
    random = np.random.default_rng(20)
    bursts, load, count = FOURTEEN, 0.8, 300_000
    starts = np.cumsum(random.exponential(bursts.mean / load, count))
    arrivals = np.repeat(starts, random.choice(bursts.sizes, count))
    turn = np.arange(arrivals.size)
    departures = np.maximum.accumulate(arrivals - turn) + turn + 1.0
    moments = random.uniform(starts[1000], starts[-1], 1_000_000)
    inside = np.searchsorted(arrivals, moments) - np.searchsorted(departures, moments)
    waiting = np.maximum(inside - 1, 0)
    queue = exact_queue(load, bursts)
    assert waiting.mean() == pytest.approx(queue.mean_waiting, rel=0.03)
    for level in (1, 10, 30):
        assert (waiting >= level).mean() == pytest.approx(float(queue.tail(level)), rel=0.05)


def test_exact_buffer_is_the_smallest():
    queue = exact_queue(0.8, FOURTEEN)
    size = int(queue.buffer_for(0.025))
    assert queue.tail(size) <= 0.025 < queue.tail(size - 1)
    with pytest.raises(ValueError, match="smaller mass"):
        queue.buffer_for(1e-15)


def test_orders_of_effective_bandwidth_for_14_packet_flows():
    """Appendix C by hand: kappa = 2 (0.2 / 0.8) (14/3) / 28 = 1/12 at second order."""
    second = effective_bandwidth.kappa(0.8, FOURTEEN, Order.SECOND)
    assert second == pytest.approx(1 / 12)
    assert effective_bandwidth.prefactor(0.8, FOURTEEN, Order.SECOND) == 1.0
    assert effective_bandwidth.tail(24, 0.8, FOURTEEN) == pytest.approx(math.exp(-2))


@given(loads, size_lists)
def test_each_order_solves_its_own_equation(load, sizes):
    bursts = Bursts.given(sizes)
    second, third, full = (float(effective_bandwidth.kappa(load, bursts, order)) for order in Order)
    m1, m2, m3 = (bursts.moment(k) for k in (1, 2, 3))
    assert load * (1 + second * m2 / m1 / 2) == pytest.approx(1.0)
    assert load * (1 + third * m2 / m1 / 2 + third**2 * m3 / m1 / 6) == pytest.approx(1.0)
    assert effective_bandwidth.alpha(full, load, bursts) == pytest.approx(1.0)
    assert full <= third * (1 + 1e-12) <= second * (1 + 1e-9)


@given(st.floats(0.01, 0.99), size_lists)
def test_prefactor_is_cramers(load, sizes):
    """(1 - alpha(0)) / (kappa alpha'(kappa)), the derivative taken numerically."""
    bursts = Bursts.given(sizes)
    exponent = float(effective_bandwidth.kappa(load, bursts))
    step = 1e-5 * exponent
    high = effective_bandwidth.alpha(exponent + step, load, bursts)
    low = effective_bandwidth.alpha(exponent - step, load, bursts)
    expected = (1 - load) / (exponent * float(high - low) / (2 * step))
    found = float(effective_bandwidth.prefactor(load, bursts))
    assert found == pytest.approx(expected, rel=1e-5)
    assert 0.0 < found <= 1.0 + 1e-9  # Lundberg's bound


@given(loads, size_lists, st.floats(1e-9, 0.05), st.sampled_from(list(Order)))
def test_buffer_for_a_drop_probability(load, sizes, target, order):
    bursts = Bursts.given(sizes)
    size = effective_bandwidth.buffer_for(target, load, bursts, order)
    reached = effective_bandwidth.tail(size, load, bursts, order)
    assert reached <= target * (1 + 1e-9)
    if size > 0:
        assert reached == pytest.approx(target)


def test_figure_12_rule():
    """§5.1.2: the model's curve is P(Q > B) = 0.025; at a load of 0.8, 12 ln 40 packets."""
    assert completion_time.buffer(0.8, FOURTEEN) == pytest.approx(12 * math.log(40))
    exact = exact_queue(0.8, FOURTEEN).buffer_for(completion_time.DROP_PROBABILITY)
    assert completion_time.buffer(0.8, FOURTEEN, Order.FULL) == pytest.approx(float(exact), abs=1.5)


def test_small_loads_do_not_overflow():
    load = np.array([1e-12, 1e-6, 0.01])
    exponent = effective_bandwidth.kappa(load, Bursts.given([1, 1000]))
    assert np.all(np.isfinite(exponent)) and np.all(np.diff(exponent) < 0)


@pytest.mark.parametrize("load", [0.0, 1.0, 1.3, math.nan])
def test_an_unstable_load_is_refused(load):
    for ask in (bursts.mean_waiting, effective_bandwidth.kappa, exact_queue):
        with pytest.raises(ValueError, match="load"):
            ask(load, FOURTEEN)


def test_bursts_of_nothing_are_refused():
    with pytest.raises(ValueError, match="at least one packet"):
        Bursts.given([0, 2])


def test_the_prefactor_of_third_order_is_that_of_its_own_alpha():
    """Equation 13 with alpha(k) = l (E[X] + k E[X^2] / 2 + k^2 E[X^3] / 6), at its own kappa."""
    bursts, load = Bursts.given([1, 4, 30], [0.5, 0.3, 0.2]), 0.7
    first, second, third = (bursts.mean, bursts.moment(2), bursts.moment(3))

    def alpha(k: float) -> float:
        return load / first * (first + k * second / 2 + k**2 * third / 6)

    k = float(kappa(load, bursts, Order.THIRD))
    assert alpha(k) == pytest.approx(1.0)
    slope = (alpha(k + 1e-6) - alpha(k - 1e-6)) / 2e-6
    expected = (1.0 - alpha(0.0)) / (k * slope)
    assert float(prefactor(load, bursts, Order.THIRD)) == pytest.approx(expected, rel=1e-6)
