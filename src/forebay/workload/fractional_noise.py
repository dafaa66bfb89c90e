"""Exact fractional Gaussian noise, the source of long-range-dependent traffic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


def autocovariance(hurst: float, lags: NDArray[np.int64]) -> _Floats:
    """Return the autocovariance for variance 1: (|k+1|^2H - 2|k|^2H + |k-1|^2H) / 2 at lag k.

    Mandelbrot and Van Ness 1968.
    """
    k, power = np.abs(lags).astype(np.float64), 2 * hurst
    found: _Floats = ((k + 1) ** power - 2 * k**power + np.abs(k - 1) ** power) / 2
    return found


def noise(hurst: float, normals: _Floats) -> _Floats:
    """Return n samples from 2 n standard normal numbers, n a power of two.

    The covariance matrix is embedded in a circulant matrix of twice its size. The eigenvalues of
    that are a Fourier transform and, for this noise, never negative. The samples then have exactly
    this covariance (Davies and Harte 1987; Dietrich and Newsam 1997).

    Parameters
    ----------
    hurst
        Hurst parameter, from 0.5 to below 1.
    normals : shape (2 n,)
    """
    size = len(normals)
    half = size // 2
    row = autocovariance(hurst, np.minimum(np.arange(size), size - np.arange(size)))
    # Rounding can make the smallest eigenvalues slightly negative.
    eigenvalues = np.maximum(np.fft.rfft(row).real, 0.0)
    spectrum = np.empty(half + 1, dtype=np.complex128)
    spectrum[0], spectrum[half] = normals[0], normals[half]
    spectrum[1:half] = (normals[1:half] + 1j * normals[half + 1 :]) * np.sqrt(0.5)
    samples = np.fft.irfft(spectrum * np.sqrt(eigenvalues * size), size)
    return np.asarray(samples[:half], dtype=np.float64)
