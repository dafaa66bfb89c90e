"""Energies of wavelet details of fractional Gaussian noise: their means and covariances.

For Gaussian details D of octaves j and k = j + g, with n of them in the finer octave,

    Cov(mean D_j^2, mean D_k^2) = 2/n sum over offsets of Cov(D_j, D_k)^2

(Isserlis 1918), over all offsets of a coarse detail to the fine ones. Divided by the product of the
means, the sum depends only on the gap g, because the noise is self-similar. For independent details
it is 1 for g = 0 and else 0, which Veitch and Abry 1999 assume.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from forebay.measure.estimate import Floats
from forebay.workload.video import autocovariance

_FINE = 3
"""Octave of the finer details; from this octave on the noise is close to its limit."""
_SAMPLES = 1 << 15
_GAPS = 8
"""Details with a larger gap have correlations below 0.01."""


@cache
def overlaps(scaling: tuple[float, ...], hurst: float) -> Floats:
    """Return the relative sums for the gaps 0, 1, …

    Parameters
    ----------
    scaling
        The wavelet's scaling filter, with sum sqrt(2).
    hurst
        Hurst parameter of the noise, between 0 and 1.
    """
    spectrum = _spectrum(hurst)
    fine = _response(scaling, _FINE)
    own = _covariances(fine, fine, spectrum)
    found = [float((own**2).sum()) / own[0] ** 2]
    for gap in range(1, _GAPS + 1):
        coarse = _response(scaling, _FINE + gap)
        energy = _energy(coarse, spectrum)
        crossed = _covariances(coarse, fine, spectrum)
        found.append(float((crossed**2).sum()) / (own[0] * energy))
    return np.array(found)


@cache
def excess(scaling: tuple[float, ...], hurst: float) -> Floats:
    """Return log2 of the mean energy above its power law, for the octaves 1, 2, …

    The power law is that of coarse octaves. Fine octaves deviate from it, because samples that are
    sums over intervals are not the approximations that the filter cascade needs (Veitch, Taqqu and
    Abry 2000, Meaningful MRA initialization for discrete time series). For Haar's filter they are.
    """
    spectrum, octaves = _spectrum(hurst), np.arange(1, _FINE + _GAPS)
    energies = [_energy(_response(scaling, int(octave)), spectrum) for octave in octaves]
    logs = np.log2(energies) - octaves * (2 * hurst - 1)
    found: Floats = logs - logs[-1]
    return found


def _spectrum(hurst: float) -> Floats:
    lags = np.minimum(np.arange(_SAMPLES), _SAMPLES - np.arange(_SAMPLES))
    found: Floats = np.fft.fft(autocovariance(hurst, lags)).real
    return found


def _energy(response: Floats, spectrum: Floats) -> float:
    return float((np.abs(response) ** 2 * spectrum).mean())


def _covariances(one: Floats, other: Floats, spectrum: Floats) -> Floats:
    """Return covariances of a detail with those of the fine octave, for each offset."""
    lagged: Floats = np.fft.ifft(one * np.conj(other) * spectrum).real
    return lagged[:: 1 << _FINE]


def _response(scaling: tuple[float, ...], octave: int) -> Floats:
    """Return the transfer function of the filter cascade of an octave's details."""
    low = np.array(scaling)
    high = low[::-1] * (-1.0) ** np.arange(len(low))
    turns = np.arange(_SAMPLES)
    product = np.fft.fft(high, _SAMPLES)[turns * (1 << (octave - 1)) % _SAMPLES]
    for level in range(octave - 1):
        product = product * np.fft.fft(low, _SAMPLES)[turns * (1 << level) % _SAMPLES]
    return np.asarray(product)
