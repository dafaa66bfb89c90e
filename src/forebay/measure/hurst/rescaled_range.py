"""Rescaled-range estimate of H: the range of block sums over their deviation is about m^H.

Hurst 1951; Mandelbrot and Wallis 1969. Short blocks give too large values. Anis and Lloyd 1976 give
the expectation of R/S for independent normal numbers,

    E = Gamma((m-1)/2) / (sqrt(pi) Gamma(m/2)) * sum_{i<m} sqrt((m-i)/i),

and H is 1/2 plus the slope after it is subtracted. That is exact only for H = 1/2; calibration
corrects the remaining bias for other H.

Corrects the bias of an estimator of H and gives its interval, from a table of simulated noise.

The table, `calibration.csv` in this folder, has the quantiles of the estimator over some hundred
draws of fractional Gaussian noise, for each method, length of the series and H. `calibrate.py`
makes it.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

import numpy as np

from forebay.measure.estimate import Estimate, Floats

TABLE = Path(__file__).with_name("calibration.csv")
QUANTILES = {"low": 0.025, "middle": 0.5, "high": 0.975}
_FLATTEST = 0.2
"""Lower limit of the slope of an estimator as a function of H, for its inversion."""


def calibrated(method: str, raw: float, length: int) -> Estimate:
    """Return the H of fractional Gaussian noise for which the estimator typically gives ``raw``.

    The value is the H whose median is ``raw``. The interval has each H for which ``raw`` is between
    the 2.5 % and the 97.5 % quantile (Neyman 1937). It covers the truth in 95 % of all series of
    such noise, for any bias and variance of the estimator. The curves are extrapolated linearly
    beyond the table's ends.

    Parameters
    ----------
    method
        As in the table.
    raw
        The estimator's uncorrected result.
    length
        Length of the series, up to the table's longest.
    """
    hurst, curves = _curves(method, length)
    low, value, high = (_inverse(hurst, curves[name], raw) for name in ("high", "middle", "low"))
    return Estimate(value, low, high, length)


def shortened(series: Floats, longest: int) -> Floats:
    """Return sums of neighbours of a series longer than the table's longest; H stays the same."""
    while len(series) > longest:
        series = series[: len(series) // 2 * 2].reshape(-1, 2).sum(axis=1)
    return series


def longest() -> int:
    """Return the length of the table's longest series."""
    return max(int(row["length"]) for row in _rows())


def _curves(method: str, length: int) -> tuple[Floats, dict[str, Floats]]:
    """Return the table's H, and the estimator's quantiles for series of this length.

    Between two lengths of the table they are interpolated in the logarithm.
    """
    table = _table(method)
    lengths = np.array(sorted(table))
    right = min(max(int(np.searchsorted(lengths, length)), 1), len(lengths) - 1)
    left = right - 1
    share = np.log(length / lengths[left]) / np.log(lengths[right] / lengths[left])
    hurst = table[lengths[0]]["hurst"]
    ends = [table[lengths[at]] for at in (left, right)]
    return hurst, {n: (1 - share) * ends[0][n] + share * ends[1][n] for n in QUANTILES}


@cache
def _table(method: str) -> dict[int, dict[str, Floats]]:
    lengths = {int(row["length"]) for row in _rows() if row["method"] == method}
    return {length: _columns(method, length) for length in lengths}


def _columns(method: str, length: int) -> dict[str, Floats]:
    kept = [r for r in _rows() if r["method"] == method and int(r["length"]) == length]
    return {name: np.array([float(row[name]) for row in kept]) for name in ("hurst", *QUANTILES)}


@cache
def _rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _inverse(hurst: Floats, curve: Floats, raw: float) -> float:
    """Return the H at which a rising curve is ``raw``; random decreases are flattened."""
    rising = np.maximum.accumulate(curve)
    at = min(max(int(np.searchsorted(rising, raw)), 1), len(hurst) - 1)
    slope = max((rising[at] - rising[at - 1]) / (hurst[at] - hurst[at - 1]), _FLATTEST)
    end = at if raw > rising[-1] else at - 1
    return float(hurst[end] + (raw - rising[end]) / slope)


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
