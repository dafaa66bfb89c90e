"""Rescaled-range estimate of H: the range of block sums over their deviation is about m^H.

Hurst 1951; Mandelbrot and Wallis 1969. Short blocks give too large values. Anis and Lloyd 1976 give
the expectation of R/S for independent normal numbers,

    E = Gamma((m-1)/2) / (sqrt(pi) Gamma(m/2)) * sum_{i<m} sqrt((m-i)/i),

and H is 1/2 plus the slope after it is subtracted. That is exact only for H = 1/2; calibration
corrects the remaining bias for other H.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from forebay.measure.estimate import Estimate, Floats
from forebay.measure.hurst.calibration import calibrated, longest, shortened

_SHORTEST = 32
_FEWEST_BLOCKS = 8


def rescaled_range(series: Floats) -> Estimate:
    """Return H of a series of shape (n,)."""
    series = shortened(series, longest())
    return calibrated("rescaled-range", raw(series), len(series))


@cache
def expected(block: int) -> float:
    """Return E[R/S] of `block` independent normal numbers (Anis and Lloyd 1976)."""
    i = np.arange(1, block)
    gammas = math.lgamma((block - 1) / 2) - math.lgamma(block / 2)
    return math.exp(gammas) / math.sqrt(math.pi) * float(np.sqrt((block - i) / i).sum())


def raw(series: Floats) -> float:
    """Return the uncorrected estimate of a series of shape (n,)."""
    blocks, left = [], []
    block = _SHORTEST
    while len(series) // block >= _FEWEST_BLOCKS:
        ranges = _rescaled(series[: len(series) // block * block].reshape(-1, block))
        if len(ranges):
            blocks.append(math.log(block))
            left.append(math.log(float(ranges.mean()) / expected(block)))
        block *= 2
    return 0.5 + float(np.polyfit(blocks, left, 1)[0])


def _rescaled(blocks: Floats) -> Floats:
    """Return R/S of each row that is not constant."""
    apart = blocks - blocks.mean(axis=1, keepdims=True)
    sums = np.cumsum(apart, axis=1)
    deviation = blocks.std(axis=1)
    ranges = np.maximum(sums.max(axis=1), 0) - np.minimum(sums.min(axis=1), 0)
    changes = deviation > 0
    found: Floats = ranges[changes] / deviation[changes]
    return found
