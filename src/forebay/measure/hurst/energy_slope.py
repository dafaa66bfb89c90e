"""H from the energies of details: weighted regression of their logarithms on the octave.

Veitch and Abry 1999 (IEEE Transactions on Information Theory 45(3)), with two corrections from
fractional Gaussian noise of that H: the deviation of fine octaves from the power law, and the
covariance of the energies, which they assume to be independent.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from forebay.measure.estimate import NORMAL_95, Estimate, Floats
from forebay.measure.hurst.detail_covariance import excess, overlaps

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
