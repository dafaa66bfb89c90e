"""Quantiles and means of binned distributions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.reading import Histogram

FloatArray = NDArray[np.float64]

PROBABILITIES = (0.50, 0.95, 0.99)


def of_counts(weights: FloatArray, step: int, probability: float) -> float | None:
    """Smallest integer whose cumulated weight reaches `probability`.

    Bin j of `weights` (shape (k,)) holds the integers j * step ... (j + 1) * step - 1,
    taken as equally likely inside the bin; None where all weights are zero.
    """
    cumulated = np.cumsum(weights)
    if cumulated.size == 0 or cumulated[-1] <= 0.0:
        return None
    bin_, inside = _locate(cumulated, weights, probability)
    return float(bin_ * step + max(math.ceil(inside * step - 1e-9), 1) - 1)


def of_histogram(histogram: Histogram, probability: float) -> float | None:
    """Quantile of a continuous histogram, linear inside the bin; None where it is empty."""
    cumulated = np.cumsum(histogram.counts)
    if cumulated.size == 0 or cumulated[-1] <= 0.0:
        return None
    bin_, inside = _locate(cumulated, histogram.counts, probability)
    low, high = float(histogram.edges[bin_]), float(histogram.edges[bin_ + 1])
    return low + inside * (high - low)


def mean_of_histogram(histogram: Histogram) -> float | None:
    """Mean with each bin's weight at its middle; None where the histogram is empty."""
    total = float(np.sum(histogram.counts))
    if total <= 0.0:
        return None
    middles = (histogram.edges[:-1] + histogram.edges[1:]) / 2.0
    return float(np.dot(middles, histogram.counts)) / total


def _locate(cumulated: FloatArray, weights: FloatArray, probability: float) -> tuple[int, float]:
    """Bin that holds the quantile, and how far into it (0 to 1) the quantile lies."""
    target = probability * float(cumulated[-1])
    bin_ = int(np.searchsorted(cumulated, target, side="left"))
    before = float(cumulated[bin_ - 1]) if bin_ else 0.0
    return bin_, (target - before) / float(weights[bin_])
