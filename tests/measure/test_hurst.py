"""H of noise whose H is known; and that Poisson traffic has none above one half."""

import numpy as np
import pytest

from forebay.measure import Refused
from forebay.measure.hurst import METHODS, hurst, wavelet, whittle
from forebay.measure.hurst.rescaled_range import expected
from forebay.workload.fractional_noise import noise

SAMPLES = 1 << 18
TRUTHS = (0.5, 0.7, 0.9, 0.96)


def drawn(truth, seed, samples=SAMPLES):
    return noise(truth, np.random.default_rng(seed).standard_normal(2 * samples))


@pytest.mark.parametrize(
    ("name", "truth"),
    [(name, truth) for name in METHODS for truth in TRUTHS],
)
def test_every_method_finds_h_of_fractional_noise(name, truth):
    found = METHODS[name](drawn(truth, 11))
    assert found.value == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("method", [wavelet, whittle])
@pytest.mark.parametrize("truth", TRUTHS)
def test_published_intervals_hold_the_truth_nine_times_of_ten(method, truth):
    """Thirty draws: 25 and more is what 95 % gives but once in two thousand."""
    held = [method(drawn(truth, 500 + k)) for k in range(30)]
    assert sum(one.low <= truth <= one.high for one in held) >= 25


@pytest.mark.parametrize("name", ["variance-time", "rescaled-range"])
@pytest.mark.parametrize("truth", (0.7, 0.96))
def test_intervals_by_calibration_hold_the_truth(name, truth):
    """Of a length between two of the table; a cover of 95 % misses eight of forty hardly ever."""
    held = [METHODS[name](drawn(truth, 900 + k, 1 << 13)) for k in range(40)]
    assert sum(one.low <= truth <= one.high for one in held) >= 33


@pytest.mark.parametrize("name", METHODS)
def test_no_h_above_one_half_is_claimed_for_poisson_traffic(name):
    counts = np.random.default_rng(5).poisson(3.0, SAMPLES).astype(float)
    found = METHODS[name](counts)
    assert found.value < 0.55 and found.low <= 0.5 <= found.high


def test_anis_and_lloyd():
    """For two independent numbers the range over the deviation is 1: Gamma(1/2)/(sqrt(pi)) * 1."""
    assert expected(2) == pytest.approx(1.0)


def test_what_cannot_carry_h_is_refused():
    assert isinstance(hurst(np.ones(100)), Refused)
    assert isinstance(hurst(np.ones(5000)), Refused)
