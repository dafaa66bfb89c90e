"""H of noise whose H is known; and that Poisson traffic has none above one half."""

from functools import lru_cache

import numpy as np
import pytest
from tests.cases import cases

from forebay.measure import Refused
from forebay.measure.hurst import (
    METHODS,
    excess,
    expected,
    falls,
    hurst,
    overlaps,
    variance_time,
    wavelet,
    whittle,
)
from forebay.workload.open_loop import noise

SAMPLES = 1 << 18
TRUTHS = (0.5, 0.7, 0.9, 0.96)


@lru_cache(maxsize=40)
def drawn(truth, seed, samples=SAMPLES):
    return noise(truth, np.random.default_rng(seed).standard_normal(2 * samples))


@pytest.mark.parametrize(("name", "truth"), [(name, truth) for name in METHODS for truth in TRUTHS])
def test_every_method_finds_h_of_fractional_noise(name, truth):
    found = METHODS[name](drawn(truth, 11))
    assert found.value == pytest.approx(truth, abs=0.05)


@pytest.mark.parametrize("method", [variance_time, wavelet, whittle])
@pytest.mark.parametrize("truth", cases(TRUTHS, (0.9).__eq__))
def test_published_intervals_hold_the_truth_nine_times_of_ten(method, truth):
    """Thirty draws: 25 and more is what 95 % gives but once in two thousand."""
    held = [method(drawn(truth, 500 + k)) for k in range(30)]
    assert sum(one.low <= truth <= one.high for one in held) >= 25


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("truth", cases((0.7, 0.96), (0.96).__eq__))
def test_intervals_of_shorter_series_hold_the_truth(name, truth):
    """Of a length between two of the table; a cover of 95 % misses eight of forty hardly ever."""
    held = [METHODS[name](drawn(truth, 900 + k, 1 << 13)) for k in range(40)]
    assert sum(one.low <= truth <= one.high for one in held) >= 33


@pytest.mark.parametrize("name", METHODS)
def test_no_h_above_one_half_is_claimed_for_poisson_traffic(name):
    counts = np.random.default_rng(5).poisson(3.0, SAMPLES).astype(float)
    found = METHODS[name](counts)
    assert found.value < 0.55 and found.low <= 0.5 <= found.high


@pytest.mark.parametrize("truth", cases(TRUTHS, (0.9).__eq__))
def test_the_variance_time_plot_of_fractional_noise_falls_as_it_must(truth):
    """E[S_m^2 - S_2m^2] = m^(2H-2) - (2m)^(2H-2): from E[S_m^2] = m^(2H-2) - N^(2H-2)."""
    found = np.mean([falls(drawn(truth, 60 + k, 1 << 14))[1] for k in range(40)], axis=0)
    m = 2.0 ** np.arange(3, 3 + len(found))
    power = 2 * truth - 2
    assert found[:7] == pytest.approx((m**power - (2 * m) ** power)[:7], rel=0.1)


def test_energies_of_independent_details_do_not_go_together():
    """White noise: details are independent (the filters are orthogonal), and on the power law."""
    haar = (0.5**0.5, 0.5**0.5)
    assert overlaps(haar, 0.5) == pytest.approx([1] + [0] * 8, abs=1e-9)
    assert excess(haar, 0.5) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("truth", cases((0.7, 0.96), (0.7).__eq__))
def test_energies_go_together_as_drawn_noise_has_them(truth):
    """The variance of a mean square of Haar details, and its covariance with the next octave's."""
    drawn_ = np.array([falls(drawn(truth, 70 + k, 1 << 11))[1][:2] for k in range(2000)])
    relative = np.cov((drawn_ / drawn_.mean(axis=0)).T)
    pairs = (1 << 11) / 16
    told = overlaps((0.5**0.5, 0.5**0.5), truth) * 2 / pairs
    assert relative[0, 0] == pytest.approx(told[0], rel=0.15)
    assert relative[0, 1] == pytest.approx(told[1], abs=0.15 * told[0])


def test_anis_and_lloyd():
    """For two independent numbers the range over the deviation is 1: Gamma(1/2)/(sqrt(pi)) * 1."""
    assert expected(2) == pytest.approx(1.0)


def test_what_cannot_carry_h_is_refused():
    assert isinstance(hurst(np.ones(100)), Refused)
    assert isinstance(hurst(np.ones(5000)), Refused)
    assert isinstance(hurst(np.tile([0.0, 1, 0, 0, 3, 0, 0, 0], 300)), Refused)


def test_an_h_outside_its_range_is_refused_with_the_reason():
    """Bytes of a constant rate: what is left after rounding falls faster than any noise."""
    from forebay.measure.estimate import Estimate, Measured
    from forebay.measure.traffic import possible_methods, slope_as_hurst

    found = Measured()
    slope_as_hurst(-0.88, 12, found)
    assert "hurst_by_slope" not in found.estimates
    assert "-0.88, and H lies between 0 and 1" in found.refused[0].why
    told = {"wavelet": Estimate(-0.9, -1.0, -0.8, 9), "whittle": Estimate(0.6, 0.5, 0.7, 9)}
    assert possible_methods(told, found) == {"whittle": told["whittle"]}
    refused = possible_methods({"wavelet": told["wavelet"]}, found)
    assert "wavelet gives -0.90" in refused.why
