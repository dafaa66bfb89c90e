"""Fractional Gaussian noise: its covariance is the formula's, and H comes back."""

import numpy as np
import pytest

from forebay.workload.streams import normals
from forebay.workload.video import autocovariance, noise

from .hurst import local_whittle


def test_autocovariance():
    """H = 1/2 has no memory; γ(1) = 2^(2H-1) - 1; γ(k) ~ H(2H-1) k^(2H-2)."""
    lags = np.arange(4)
    np.testing.assert_allclose(autocovariance(0.5, lags), [1, 0, 0, 0], atol=1e-15)
    assert autocovariance(0.96, np.array([1]))[0] == pytest.approx(2**0.92 - 1)
    assert autocovariance(0.9, np.array([1000]))[0] == pytest.approx(
        0.9 * 0.8 * 1000**-0.2, rel=1e-6
    )


@pytest.mark.parametrize("hurst", [0.5, 0.7, 0.96, 0.99])
def test_the_covariance_is_exact(hurst):
    """The noise is linear in its numbers: its matrix times its transpose is the covariance."""
    half = 16
    matrix = np.array([noise(hurst, unit) for unit in np.eye(2 * half)])
    lags = np.abs(np.subtract.outer(np.arange(half), np.arange(half)))
    np.testing.assert_allclose(matrix.T @ matrix, autocovariance(hurst, lags), atol=1e-12)


def test_the_embedding_has_no_negative_eigenvalue():
    for hurst in (0.5, 0.75, 0.96, 0.99):
        size = 2**12
        row = autocovariance(hurst, np.minimum(np.arange(size), size - np.arange(size)))
        assert np.fft.rfft(row).real.min() > -1e-9


@pytest.mark.parametrize("hurst", [0.6, 0.8, 0.96])
def test_the_hurst_parameter_comes_back(hurst):
    """Within 0.02 at 2^20 samples; the estimate's standard error is 0.004."""
    samples = noise(hurst, normals(1, "video", 0, 2**21))
    assert len(samples) == 2**20
    assert local_whittle(samples, 2**14) == pytest.approx(hurst, abs=0.02)


def test_averaged_variances_fall_as_they_should():
    """Var of the mean of m samples is m^(2H-2), over many short independent pieces."""
    hurst = 0.8
    pieces = np.array([noise(hurst, normals(i, "piece", 0, 512)) for i in range(2000)])
    assert pieces.var() == pytest.approx(1.0, abs=0.03)
    for m in (4, 16, 64):
        means = pieces.reshape(2000, -1, m).mean(axis=2)
        assert np.mean(means**2) == pytest.approx(m ** (2 * hurst - 2), rel=0.06)
