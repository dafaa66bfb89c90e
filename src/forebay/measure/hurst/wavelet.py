"""Wavelet estimate of H: the energy of the details of each octave.

Veitch and Abry 1999, A wavelet-based joint estimator of the parameters of long-range dependence,
IEEE Transactions on Information Theory 45(3): log2 of an octave's mean energy, with the bias
g(n_j) taken off, against the octave; weighted least squares with variance zeta(2, n_j/2)/ln^2 2;
the slope is 2H - 1.
"""

from __future__ import annotations

import math

import numpy as np

from forebay.measure.estimate import NORMAL_95, Estimate, Floats

# Daubechies' filter with three vanishing moments: linear trends and parabolas leave no trace.
# Ten lectures on wavelets (1992), table 6.1, N = 3; its sum is the root of 2.
_SCALING = np.array(
    [0.3326705529500825, 0.8068915093110924, 0.4598775021184914,
     -0.1350110200102546, -0.0854412738820267, 0.0352262918857095]
)  # fmt: skip
_DETAIL = _SCALING[::-1] * np.array([1, -1, 1, -1, 1, -1])
_FIRST = 4
"""Finer octaves still feel that a series of sums is no sampled signal, and short correlations."""
_FEWEST = 8


def octaves(series: Floats) -> tuple[Floats, Floats, Floats]:
    """Return octaves 1, 2, …, the mean energy of the details in each, and how many there are."""
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
    from scipy.special import psi, zeta

    octave, energy, count = octaves(series)
    first = min(_FIRST, len(octave) - 2)
    octave, energy, count = octave[first - 1 :], energy[first - 1 :], count[first - 1 :]
    bias = psi(count / 2) / math.log(2) - np.log2(count / 2)
    y, variance = np.log2(energy) - bias, zeta(2, count / 2) / math.log(2) ** 2
    weight = 1 / variance
    s0, s1, s2 = (float((weight * octave**k).sum()) for k in (0, 1, 2))
    slope = float((weight * (s0 * octave - s1) * y).sum()) / (s0 * s2 - s1**2)
    half = NORMAL_95 * math.sqrt(s0 / (s0 * s2 - s1**2)) / 2
    value = (slope + 1) / 2
    return Estimate(value, value - half, value + half, len(octave))
