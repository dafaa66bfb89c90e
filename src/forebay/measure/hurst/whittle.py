"""Local Whittle estimate of H: the low frequencies of the periodogram.

Robinson 1995, Gaussian semiparametric estimation of long range dependence, Annals of Statistics
23(5): R(H) = log mean(lambda^(2H-1) I) - (2H-1) mean(log lambda), minimized over H; its error is
asymptotically normal with variance 1/(4m).
"""

from __future__ import annotations

import math

import numpy as np

from forebay.measure.estimate import NORMAL_95, Estimate, Floats

_FREQUENCIES = 0.65
"""m = n^0.65: so few that only the power law at low frequencies is used."""


def whittle(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    from scipy.optimize import minimize_scalar

    n = len(series)
    m = int(n**_FREQUENCIES)
    power = np.abs(np.fft.rfft(series - series.mean())[1 : m + 1]) ** 2
    logs = np.log(2 * np.pi * np.arange(1, m + 1) / n)

    def contrast(h: float) -> float:
        return float(
            np.log(np.mean(np.exp((2 * h - 1) * logs) * power)) - (2 * h - 1) * logs.mean()
        )

    value = float(minimize_scalar(contrast, bounds=(0.01, 1.49), method="bounded").x)
    half = NORMAL_95 / (2 * math.sqrt(m))
    return Estimate(value, value - half, value + half, m)
