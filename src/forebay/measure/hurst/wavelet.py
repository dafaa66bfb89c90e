"""Wavelet estimate of H: the energy of the details of each octave.

Veitch and Abry 1999, A wavelet-based joint estimator of the parameters of long-range dependence,
IEEE Transactions on Information Theory 45(3): log2 of an octave's mean energy, without the bias
g(n_j), against the octave; weighted least squares; the slope is 2H - 1. They assume that details
are independent and that fine octaves follow the power law; the latter gives an H that is 0.002 too
large near 1, half a standard deviation. Both are corrected here: see `energy_slope.py`.
"""

from __future__ import annotations

import numpy as np

from forebay.measure.estimate import Estimate, Floats
from forebay.measure.hurst.energy_slope import hurst_of_energies

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
