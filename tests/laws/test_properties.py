"""What theory says of every law: limits, monotony, scaling, inverses, the fluid's own balance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfinv

from forebay.laws import arrays, desynchronized, loss, sawtooth, utilization

ratios = st.floats(0.001, 20.0)
bdps = st.floats(5.0, 1e7)
flows = st.integers(1, 100_000)
shares = st.floats(0.001, 0.999)


@given(ratios, bdps)
def test_sawtooth_utilization_by_integrating_the_fluid(ratio, bdp):
    """Numerical integration of W' = 1 / (2 Tp + Q/C), with nothing from the closed form."""
    high = bdp * (1.0 + ratio)
    window = np.linspace(high / 2.0, high, 20_001)
    round_trip = np.maximum(window, bdp)  # times C
    sent = np.trapezoid(window, window)
    possible = np.trapezoid(round_trip, window)
    assert sawtooth.utilization(ratio * bdp, bdp) == pytest.approx(sent / possible, rel=1e-6)
    assert sawtooth.period(ratio * bdp, 1.0, bdp) == pytest.approx(possible, rel=1e-6)
    waiting = np.trapezoid(np.maximum(window - bdp, 0.0) * round_trip, window)
    assert sawtooth.queue_mean(ratio * bdp, bdp) == pytest.approx(
        waiting / possible, rel=1e-5, abs=1e-6 * bdp
    )


@given(st.floats(0.01, 3.0), shares)
def test_sawtooth_quantiles_by_integrating_the_fluid(ratio, probability):
    window = np.linspace((1.0 + ratio) / 2.0, 1.0 + ratio, 20_001)
    middle = (window[1:] + window[:-1]) / 2.0
    queue = np.maximum(middle - 1.0, 0.0)
    for weights, read in (
        (np.maximum(middle, 1.0), sawtooth.queue_quantile),
        (middle, sawtooth.queue_seen_quantile),
    ):
        reached = np.cumsum(weights) >= probability * weights.sum()
        expected = queue[int(np.argmax(reached))]
        assert read(probability, ratio, 1.0) == pytest.approx(expected, abs=1e-3)


def test_sawtooth_limits():
    assert sawtooth.utilization(0.0, 100.0) == pytest.approx(0.75)
    np.testing.assert_allclose(sawtooth.utilization([100.0, 250.0], 100.0), 1.0)
    assert sawtooth.buffer_for(0.5, 100.0) == 0.0


@given(st.floats(0.7501, 1.0), bdps)
def test_sawtooth_inverse(target, bdp):
    size = sawtooth.buffer_for(target, bdp)
    assert 0.0 <= size <= bdp * (1 + 1e-9)
    assert sawtooth.utilization(size, bdp) == pytest.approx(target, rel=1e-9)


@given(ratios, bdps)
def test_sawtooth_loss_constants(ratio, bdp):
    """3/2 w^-2 and, at half the growth, 3/4 w^-2: close to Morris's 0.76."""
    mean = 0.75 * bdp * (1.0 + ratio)
    full = sawtooth.loss_rate(ratio * bdp, bdp, 1)
    half = sawtooth.loss_rate(ratio * bdp, bdp, 1, growth=0.5)
    assert full * mean**2 == pytest.approx(1.5)
    assert half == pytest.approx(float(loss.loss_rate(mean)), rel=0.014)


@given(ratios, bdps, flows, st.floats(0.01, 100.0))
def test_utilization_depends_on_ratios_alone(ratio, bdp, n, k):
    assert utilization.utilization(ratio * bdp * k, bdp * k, n) == pytest.approx(
        float(utilization.utilization(ratio, 1.0, n))
    )
    assert sawtooth.utilization(ratio * bdp * k, bdp * k) == pytest.approx(
        float(sawtooth.utilization(ratio, 1.0))
    )


@given(st.lists(ratios, min_size=2, max_size=8), flows)
def test_more_buffer_never_lowers_utilization(sizes, n):
    ordered = np.sort(sizes)
    assert np.all(np.diff(utilization.utilization(ordered, 1.0, n)) >= 0.0)
    assert np.all(np.diff(sawtooth.utilization(ordered, 1.0)) >= -1e-12)


@given(st.floats(0.5, 0.9999), bdps, st.integers(20, 100_000))
def test_eq_6_inverse(target, bdp, n):
    size = utilization.buffer_for(target, bdp, n)
    assert utilization.utilization(size, bdp, n) == pytest.approx(target, rel=1e-9)


def test_eq_6_never_promises_more_than_an_endless_buffer_gives():
    ceiling = float(utilization.utilization(1e12, 1.0, 1))
    assert ceiling == pytest.approx(math.erf(3 * math.sqrt(3) / (2 * math.sqrt(2))))
    assert utilization.buffer_for(ceiling + 1e-6, 1.0, 1) == math.inf
    assert utilization.buffer_for(1.0, 1.0, 10_000) == math.inf
    assert utilization.buffer_for(ceiling - 1e-3, 1.0, 1) < math.inf
    assert math.isnan(utilization.buffer_for(1.2, 1.0, 10))


@given(shares, ratios, bdps, flows)
def test_queue_quantiles_stay_in_the_buffer(p, ratio, bdp, n):
    size = ratio * bdp
    for read in (
        desynchronized.queue_quantile(p, size, bdp, n),
        sawtooth.queue_quantile(p, size, bdp),
        sawtooth.queue_seen_quantile(p, size, bdp),
    ):
        assert 0.0 <= read <= size * (1 + 1e-9)


@given(st.floats(1e-4, 0.2), bdps, flows)
def test_loss_inverse(target, bdp, n):
    size = loss.buffer_for(target, bdp, n)
    reached = loss.loss_rate(loss.window(size, bdp, n))
    assert reached <= target * (1 + 1e-9)
    if size > 0.0:
        assert reached == pytest.approx(target)


@given(st.floats(-0.999999999, 0.999999999))
def test_scalar_erfinv_is_scipys(y):
    assert arrays.erfinv(y) == pytest.approx(float(erfinv(y)), rel=1e-9, abs=1e-15)


def test_erfinv_at_its_ends():
    assert arrays.erfinv(1.0) == math.inf
    assert arrays.erfinv(-1.0) == -math.inf
    assert math.isnan(arrays.erfinv(1.5))
