"""Variance-time estimate of H: the variance of block means is proportional to m^(2H-2).

Leland et al. 1994, section 4.1. The variance is about the mean of the series, which differs from
that of the process: for N samples of fractional Gaussian noise, in blocks of m,

    E[S_m^2] = sigma^2 (m^(2H-2) - N^(2H-2)),

because the mean itself has the variance sigma^2 N^(2H-2). So the plot of log S_m^2 bends down, and
for large H all of its points vary together with the one mean. Both effects are the same for every
m, so the differences S_m^2 - S_2m^2 do not have them; they are exactly proportional to m^(2H-2).
They are the energies of Haar's details, or Allan variances (Allan 1966), and are fitted as such.
"""

from __future__ import annotations

import numpy as np

from forebay.measure.estimate import Estimate, Floats
from forebay.measure.hurst.energy_slope import hurst_of_energies

_FEWEST = 8
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
