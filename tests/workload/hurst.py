"""Estimators for tests: the Hurst parameter, and the burstiness profile of a list of packets."""

import numpy as np
from numpy.typing import NDArray


def local_whittle(samples: NDArray[np.float64], frequencies: int) -> float:
    """Hurst parameter from the lowest frequencies; standard error 1 / (2 sqrt(frequencies)).

    Robinson 1995: minimizes log(mean(I λ^(2H-1))) - (2H - 1) mean(log λ).
    """
    n = len(samples)
    rates = 2 * np.pi * np.arange(1, frequencies + 1) / n
    power = np.abs(np.fft.rfft(samples)[1 : frequencies + 1]) ** 2
    candidates = np.arange(0.3, 1.2, 0.001)
    costs = [
        np.log((power * rates ** (2 * h - 1)).mean()) - (2 * h - 1) * np.log(rates).mean()
        for h in candidates
    ]
    return float(candidates[int(np.argmin(costs))])


def burstiness(
    at_s: NDArray[np.float64], octets: NDArray[np.int32], span_s: float, step_s: float
) -> float:
    """β(s): coefficient of variation of the bytes in windows of length s (paper B, II.C)."""
    windows = int(span_s / step_s)
    inside = at_s < windows * step_s
    volume = np.bincount(
        (at_s[inside] / step_s).astype(np.int64), weights=octets[inside], minlength=windows
    )
    return float(volume.std() / volume.mean())
