"""Laws after the papers, each against an independent calculation of the same thing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.laws import fractional_brownian as fbm
from forebay.laws import general_decrease as single
from forebay.laws import partial_synchrony, sawtooth, tcp_and_link, tiny_buffers

ratios = st.floats(0.0, 3.0)
betas = st.floats(0.3, 0.95)


# --- one flow under any decrease ------------------------------------------------------------------


def fluid(ratio: float, beta: float, slope: float) -> float:
    """Mean utilization by following W' = W^slope / RTT, RTT = max(W, BDP) / C, BDP = C = 1."""
    window = np.linspace(beta * (1 + ratio), 1 + ratio, 10_001)
    seconds = np.maximum(window, 1.0) / window**slope  # dt / dW
    busy = np.minimum(window, 1.0) * seconds
    return float(np.trapezoid(busy, window) / np.trapezoid(seconds, window))


@given(ratios, betas, st.sampled_from([0.0, 0.5, 0.75, 1.0]))
def test_mean_utilization_by_following_the_fluid(ratio, beta, slope):
    # where the queue fills, W packets leave in W / C: the link is full
    expected = fluid(ratio, beta, slope)
    assert single.utilization(ratio, 1.0, beta, slope) == pytest.approx(expected, rel=1e-6)


@given(ratios, betas)
def test_cubic_utilization_by_following_the_fluid(ratio, beta):
    left = np.linspace(0.0, 1.0, 20_001)
    window = (1 + ratio) * (1 - (1 - beta) * left**3)
    expected = np.trapezoid(np.minimum(window, 1.0), left)
    assert single.cubic_utilization(ratio, 1.0, beta) == pytest.approx(expected, rel=1e-6)


@given(ratios)
def test_reno_is_paper_a_s_sawtooth(ratio):
    """Appendix B, 3/4 without a buffer."""
    assert single.utilization(ratio, 1.0, 0.5) == pytest.approx(sawtooth.utilization(ratio, 1.0))


@given(ratios, betas)
def test_lowest_is_below_the_mean_and_both_fill_at_once(ratio, beta):
    lowest = single.lowest_utilization(ratio, 1.0, beta)
    assert lowest <= single.utilization(ratio, 1.0, beta) + 1e-12
    full = single.buffer_for_lowest(1.0, 1.0, beta)
    assert single.utilization(full, 1.0, beta) == pytest.approx(1.0)
    assert single.cubic_utilization(full, 1.0, beta) == pytest.approx(1.0)


@pytest.mark.parametrize(("beta", "bdps"), [(0.5, 1.0), (0.7, 0.43), (0.875, 0.14)])
def test_buffer_of_a_single_flow(beta, bdps):
    """1/beta - 1: one BDP for Reno, 0.43 for CUBIC, 0.14 for Scalable."""
    assert single.buffer_for_lowest(1.0, 1.0, beta) == pytest.approx(bdps, abs=0.005)


def test_bbr1_by_following_its_gains():
    for ratio in (0.0, 0.1, 0.25, 1.0):
        queue, sent = 0.0, []
        for gain in (1.25, 0.75, 1, 1, 1, 1, 1, 1):
            sent.append(min(queue + gain, 1.0))
            queue = min(max(queue + gain - 1.0, 0.0), ratio)
        assert single.bbr1_lowest_utilization(ratio, 1.0) == pytest.approx(min(sent))
        assert single.bbr1_utilization(ratio, 1.0) == pytest.approx(np.mean(sent))


# --- fractional Brownian traffic ------------------------------------------------------------------


@given(st.floats(0.51, 0.95), st.floats(1.0, 100.0), st.floats(0.3, 0.95))
def test_norros_by_searching_the_worst_time(hurst, buffer, load):
    capacity, peak = 100.0, 2.0
    mean = load * capacity
    times = np.geomspace(1e-6, 1e6, 40_001)
    exponent = (buffer + (capacity - mean) * times) ** 2 / (2 * peak * mean * times ** (2 * hurst))
    law = fbm.overflow(buffer, capacity, mean, peak, hurst)
    assert -np.log(law) == pytest.approx(exponent.min(), rel=1e-5)


def test_norros_at_one_half_is_brownian_motion():
    """P(Q > x) = exp(-2 (C - m) x / variance) for Brownian motion with drift."""
    assert fbm.overflow(10.0, 100.0, 80.0, 2.0, 0.5) == pytest.approx(math.exp(-2.5))


@given(st.floats(1e-9, 0.5), st.floats(0.5, 0.95))
def test_norros_inverse(probability, hurst):
    size = fbm.buffer_for(probability, 100.0, 80.0, 2.0, hurst)
    assert fbm.overflow(size, 100.0, 80.0, 2.0, hurst) == pytest.approx(probability, rel=1e-6)


# --- partly synchronized flows --------------------------------------------------------------------


@given(st.floats(10.0, 1e5), st.integers(1, 1000), st.floats(0.0, 1.0))
def test_partial_synchrony_leaves_the_link_just_full(bdp, n, cut):
    size = float(partial_synchrony.buffer_for_full_link(bdp, n, cut))
    left = (bdp + size) * (1.0 - cut / 2.0) + (1.0 - cut) * n
    assert left >= bdp * (1 - 1e-9)
    if size > 0.0:
        assert left == pytest.approx(bdp)
    assert partial_synchrony.buffer_for_full_link(bdp, n, 1.0) == pytest.approx(bdp)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=20))
def test_harmonic_rtt_is_enough(rtts):
    """Equal windows: rates before the cut over rates after it, with a queue of C T_h."""
    delay = float(partial_synchrony.harmonic_rtt(rtts))
    before = sum(1.0 / (rtt + delay) for rtt in rtts)
    after = sum(0.5 / rtt for rtt in rtts)
    assert after >= before * (1 - 1e-12)


# --- tiny buffers ---------------------------------------------------------------------------------


def test_tiny_buffers_bound_the_loss_of_poisson_arrivals():
    """Overflow of an M/D/1 queue of 20, load 0.8, by its embedded chain, is below 0.8^20."""
    places, load = 21, 0.8
    arrivals = [math.exp(-load) * load**k / math.factorial(k) for k in range(60)]
    chain = np.zeros((places, places))
    for start in range(places):
        for k, chance in enumerate(arrivals):
            chain[start, min(max(start - 1, 0) + k, places - 1)] += chance
    state = np.linalg.matrix_power(chain, 4096)[0]
    lost = sum(
        state[start] * chance * max(max(start - 1, 0) + k - (places - 1), 0)
        for start in range(places)
        for k, chance in enumerate(arrivals)
    )
    assert 0.0 < lost / load < tiny_buffers.loss_bound(20, load)


def test_tiny_buffers_bound_the_throughput():
    """A window capped at 64 packets, each packet lost with probability rho^B."""
    random, w_max = np.random.default_rng(3), 64.0
    for buffer, load in ((30, 0.8), (40, 0.8), (60, 0.9)):
        lost = float(tiny_buffers.loss_bound(buffer, load))
        window, sent = w_max, 0.0
        for coin in random.random(40_000):
            sent += window
            halved = coin < 1.0 - (1.0 - lost) ** window
            window = window / 2.0 if halved else min(window + 1.0, w_max)
        bound = float(tiny_buffers.throughput_bound(buffer, load, w_max))
        assert sent / (40_000 * w_max) >= bound - 0.005


@given(st.floats(0.5, 0.99), st.floats(0.3, 0.98), st.floats(20.0, 1e4))
def test_tiny_buffers_inverse_and_logarithm(target, load, w_max):
    size = float(tiny_buffers.buffer_for(target, load, w_max))
    assert tiny_buffers.throughput_bound(size, load, w_max) >= target - 1e-9
    more = float(tiny_buffers.buffer_for(target, load, w_max**2))
    assert more - size == pytest.approx(2 * math.log(w_max) / -math.log(load), rel=1e-9)


@pytest.mark.parametrize(("w_max", "packets"), [(2.5, 3.289), (2.0, 1.289), (1.5, 0.0)])
def test_tiny_buffers_of_small_windows(w_max, packets):
    """log(w^2 / 3) / -log 0.8 at half the throughput; none where the square is below 3."""
    assert tiny_buffers.buffer_for(0.5, 0.8, w_max) == pytest.approx(packets, abs=5e-4)


# --- paper C's link at rest -----------------------------------------------------------------------


@given(st.floats(1e-5, 0.5), st.floats(0.0, 1.0))
def test_window_at_rest_balances_slide_9(loss, timeouts):
    w = float(tcp_and_link.window(loss, timeouts))
    gained = (1 - loss) / w
    taken = loss * (1 - timeouts) * 2 * w / 3 + loss * timeouts * 4 * w / 3
    assert gained == pytest.approx(taken)
    assert tcp_and_link.loss_rate_of_window(w, timeouts) == pytest.approx(loss)


def test_half_of_what_comes_is_dropped_at_a_full_queue():
    """Slide 10, corrected: the loss rate rises to one half as q reaches b."""
    lost = tcp_and_link.loss_rate_of_queue([0.0, 90.0, 100.0], 100.0, 10.0)
    assert lost == pytest.approx([0.0, 0.158655, 0.5], abs=1e-6)


@given(st.floats(20.0, 2000.0), st.integers(2, 200))
def test_balance_is_at_rest(buffer, n):
    made = tcp_and_link.balance(12_917.0, 0.1, buffer, n, sigma=10.0)
    assert made.loss_rate == pytest.approx(tcp_and_link.loss_rate_of_window(made.window), rel=1e-6)
    assert made.rtt == pytest.approx(0.1 + made.queue / 12_917.0)
    assert made.utilization == pytest.approx(n * made.window / made.rtt / 12_917.0)
    if made.queue > 0.0:
        assert made.utilization == pytest.approx(1.0, rel=1e-9)
    else:
        assert made.utilization <= 1.0 + 1e-9


def test_balance_broadcasts_and_knows_its_end():
    made = tcp_and_link.balance(12_917.0, 0.1, [[20.0], [200.0]], [10.0, 100.0, 5000.0], sigma=10.0)
    assert made.queue.shape == (2, 3)
    assert np.isnan(made.window[:, 2]).all() and not np.isnan(made.window[:, :2]).any()


def test_balance_meets_the_crossing_wherever_it_lies():
    """Slow and fast, empty and full, wide and narrow; the drops agree to nine digits and more."""
    draw = np.random.default_rng(2007)
    c, n, b = (10 ** draw.uniform(low, high, 20_000) for low, high in ((2, 6), (0, 4), (0, 5)))
    tau, sigma = draw.uniform(0.001, 0.4, c.size), b * draw.uniform(0.002, 0.7, c.size)
    made = tcp_and_link.balance(c, tau, b, n, sigma=sigma)
    inside = made.queue > 0.0
    assert 0.3 < inside.mean() < 0.9 and np.nanmax(made.queue - b) <= 0.0
    taken = tcp_and_link.loss_rate_of_window((c * tau + made.queue) / n)
    assert np.max(np.abs(np.log(made.loss_rate / taken))[inside]) < 1e-9
    alone = [
        float(tcp_and_link.balance(*each[:4], sigma=each[4]).queue)
        for each in zip(c[:50], tau, b, n, sigma, strict=False)
    ]
    assert alone == pytest.approx(made.queue[:50], rel=1e-12, nan_ok=True)


def test_balance_refuses_a_queue_that_does_not_vary():
    with pytest.raises(ValueError, match="sigma"):
        tcp_and_link.balance(12_917.0, 0.1, 100.0, 10, sigma=0.0)
