"""Wavelet estimate of H: the energy of the details of each octave.

Veitch and Abry 1999, A wavelet-based joint estimator of the parameters of long-range dependence,
IEEE Transactions on Information Theory 45(3): log2 of an octave's mean energy, without the bias
g(n_j), against the octave; weighted least squares; the slope is 2H - 1. They assume that details
are independent and that fine octaves follow the power law; the latter gives an H that is 0.002 too
large near 1, half a standard deviation. Both are corrected here: see `energy_slope.py`.

Energies of wavelet details of fractional Gaussian noise: their means and covariances.

For Gaussian details D of octaves j and k = j + g, with n of them in the finer octave,

    Cov(mean D_j^2, mean D_k^2) = 2/n sum over offsets of Cov(D_j, D_k)^2

(Isserlis 1918), over all offsets of a coarse detail to the fine ones. Divided by the product of the
means, the sum depends only on the gap g, because the noise is self-similar. For independent details
it is 1 for g = 0 and else 0, which Veitch and Abry 1999 assume.

H from the energies of details: weighted regression of their logarithms on the octave.

Veitch and Abry 1999 (IEEE Transactions on Information Theory 45(3)), with two corrections from
fractional Gaussian noise of that H: the deviation of fine octaves from the power law, and the
covariance of the energies, which they assume to be independent.

Variance-time estimate of H: the variance of block means is proportional to m^(2H-2).

Leland et al. 1994, section 4.1. The variance is about the mean of the series, which differs from
that of the process: for N samples of fractional Gaussian noise, in blocks of m,

    E[S_m^2] = sigma^2 (m^(2H-2) - N^(2H-2)),

because the mean itself has the variance sigma^2 N^(2H-2). So the plot of log S_m^2 bends down, and
for large H all of its points vary together with the one mean. Both effects are the same for every
m, so the differences S_m^2 - S_2m^2 do not have them; they are exactly proportional to m^(2H-2).
They are the energies of Haar's details, or Allan variances (Allan 1966), and are fitted as such.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from forebay.measure.estimate import NORMAL_95, Estimate, Floats
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


_ROUNDS = 3
"""The weights depend on H, and H depends slightly on the weights."""
_LEAST, _MOST = 0.05, 0.99


def hurst_of_energies(
    octaves: Floats, energies: Floats, counts: Floats, scaling: tuple[float, ...], offset: float
) -> Estimate:
    """Return H if the energy of an octave's details grows as 2^(octave (2H - offset)).

    Parameters
    ----------
    octaves, energies, counts : shape (m,)
        Consecutive octaves, ascending; mean squares of their details, and the number of details.
    scaling
        Scaling filter of the wavelet.
    offset
        1 for details of filters of norm 1, 2 for differences of means.
    """
    hurst, deviation = 0.5, 0.0
    for _ in range(_ROUNDS):
        near = round(min(max(hurst, _LEAST), _MOST), 2)
        logs = np.log2(energies) - _of(excess(scaling, near), octaves.astype(int) - 1)
        slope, variance = _regression(octaves, logs, counts, overlaps(scaling, near))
        hurst, deviation = (slope + offset) / 2, math.sqrt(variance) / 2
    half = NORMAL_95 * deviation
    return Estimate(hurst, hurst - half, hurst + half, len(octaves))


def _regression(
    octaves: Floats, logs: Floats, counts: Floats, overlap: Floats
) -> tuple[float, float]:
    """Return the slope of logarithms by generalized least squares, and its variance.

    A mean of squares has about n / overlap degrees of freedom. The bias of its log2,
    psi(n/2)/ln 2 - log2(n/2), is subtracted.
    """
    from scipy.special import psi

    half = counts / overlap[0] / 2
    unbiased = logs - (psi(half) / math.log(2) - np.log2(half))
    design = np.column_stack([np.ones(len(octaves)), octaves])
    weighted = np.linalg.solve(_covariance(counts, overlap), design)
    spread = np.linalg.inv(design.T @ weighted)
    return float(spread[1] @ (weighted.T @ unbiased)), float(spread[1, 1])


def _covariance(counts: Floats, overlap: Floats) -> Floats:
    """Return the covariance of log2 of the energies; trigamma(n/2) if independent."""
    from scipy.special import zeta

    octave = np.arange(len(counts))
    gap = np.abs(octave[:, None] - octave)
    finer = np.maximum(counts[:, None], counts)
    found: Floats = 2 * _of(overlap, gap) / finer
    np.fill_diagonal(found, zeta(2, counts / overlap[0] / 2))
    return found / math.log(2) ** 2


def _of(known: Floats, index: NDArray[np.int64]) -> Floats:
    """Return the values at an index, zero beyond the known ones."""
    return np.where(index < len(known), known[np.minimum(index, len(known) - 1)], 0.0)


# Daubechies' filter with three vanishing moments: linear and quadratic trends have no effect.
# Ten lectures on wavelets (1992), table 6.1, N = 3; its sum is sqrt(2).
_SCALING = (
    0.3326705529500825, 0.8068915093110924, 0.4598775021184914,
    -0.1350110200102546, -0.0854412738820267, 0.0352262918857095,
)  # fmt: skip
_DETAIL = np.array(_SCALING[::-1]) * (-1.0) ** np.arange(len(_SCALING))
_FIRST = 4
"""Finer octaves are affected by short-range correlations."""
_FEWEST = 8


def octaves(series: Floats) -> tuple[Floats, Floats, Floats]:
    """Return octaves 1, 2, …, the mean energy of the details in each, and their number."""
    energies, counts = [], []
    smooth = series - series.mean()
    while len(smooth) >= 2 * _FEWEST + len(_SCALING):
        detail = np.convolve(smooth, _DETAIL, "valid")[::2]
        smooth = np.convolve(smooth, _SCALING, "valid")[::2]
        energies.append(float((detail**2).mean()))
        counts.append(len(detail))
    return np.arange(1.0, len(counts) + 1), np.array(energies), np.array(counts, dtype=np.float64)


def wavelet(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    octave, energy, count = octaves(series)
    first = min(_FIRST, len(octave) - 2)
    chosen = slice(first - 1, None)
    return hurst_of_energies(octave[chosen], energy[chosen], count[chosen], _SCALING, 1)


_FINEST = 3
"""Finer blocks, of up to four samples, are affected by short-range correlations."""
_HAAR = (0.5**0.5, 0.5**0.5)


def variance_time(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    octaves, differences, counts = falls(series)
    return hurst_of_energies(octaves, differences, counts, _HAAR, 2)


def falls(series: Floats) -> tuple[Floats, Floats, Floats]:
    """Return octaves of m, S_m^2 - S_2m^2 for each, and the number of pairs of blocks.

    Both variances are of the same samples, because a last block without a pair is omitted. Their
    difference is then a quarter of the mean square of the differences within pairs.
    """
    octaves, found, counts = [], [], []
    means, octave = np.asarray(series, dtype=np.float64), 0
    while len(means) >= 2 * _FEWEST:
        pairs = means[: len(means) // 2 * 2].reshape(-1, 2)
        means = pairs.mean(axis=1)
        if octave >= _FINEST:
            octaves.append(float(octave))
            found.append(float((np.diff(pairs) ** 2).mean()) / 4)
            counts.append(float(len(means)))
        octave += 1
    return np.array(octaves), np.array(found), np.array(counts)
