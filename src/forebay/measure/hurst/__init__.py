"""The Hurst parameter of a series, by four methods with different errors.

All need stationary increments. Daily cycles, a drifting rate or a queue that limits peaks make each
of them wrong; the four methods then disagree.

Local Whittle estimate of H: the low frequencies of the periodogram.

Robinson 1995, Gaussian semiparametric estimation of long range dependence, Annals of Statistics
23(5): R(H) = log mean(lambda^(2H-1) I) - (2H-1) mean(log lambda), minimized over H; its error is
asymptotically normal with variance 1/(4m).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from forebay.measure.estimate import NORMAL_95, Estimate, Floats, Refused
from forebay.measure.hurst.rescaled_range import rescaled_range
from forebay.measure.hurst.wavelet import falls, variance_time, wavelet

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


SHORTEST = 1 << 10

METHODS: dict[str, Callable[[Floats], Estimate]] = {
    "variance-time": variance_time,
    "rescaled-range": rescaled_range,
    "wavelet": wavelet,
    "whittle": whittle,
}


def hurst(series: Floats) -> dict[str, Estimate] | Refused:
    """Return H by every method, or why the series does not allow it.

    Parameters
    ----------
    series : shape (n,)
        Amounts in consecutive intervals of equal length.
    """
    if len(series) < SHORTEST:
        why = f"{len(series)} intervals; at least {SHORTEST} are needed: capture longer"
        return Refused("hurst", why)
    if not series.std() > 0:
        return Refused("hurst", "the load never changes")
    if not falls(series)[1].min() > 0:
        return Refused("hurst", "the load is periodic: long intervals never differ")
    return {name: method(series) for name, method in METHODS.items()}


__all__ = ["METHODS", "SHORTEST", "hurst", "rescaled_range", "variance_time", "wavelet", "whittle"]
