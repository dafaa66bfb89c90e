"""Variance-time estimate of H: the variance of block means falls as m^(2H-2).

Leland et al. 1994, section 4.1. The mean over the whole series is not the process's mean, which
takes (m/n)^(2-2H) of the variance away and bends the plot down where H is large; what that leaves
of bias is found by calibration.
"""

from __future__ import annotations

import numpy as np

from forebay.measure.estimate import Estimate, Floats
from forebay.measure.hurst.calibration import calibrated, longest, shortened

_FEWEST_BLOCKS = 64
_FINEST = 3


def variance_time(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    series = shortened(series, longest())
    return calibrated("variance-time", raw(series), len(series))


def raw(series: Floats) -> float:
    """Return what the slope alone says of a series of shape (n,)."""
    logs, means = [], np.asarray(series, dtype=np.float64)
    octave = 0
    while len(means) >= _FEWEST_BLOCKS:
        if octave >= _FINEST:
            logs.append((octave, float(np.log2(means.var()))))
        means = means[: len(means) // 2 * 2].reshape(-1, 2).mean(axis=1)
        octave += 1
    octaves, variances = np.array(logs).T
    return 1 + float(np.polyfit(octaves, variances, 1)[0]) / 2
