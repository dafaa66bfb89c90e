"""Quantiles and means of binned distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.reading import Histogram

FloatArray = NDArray[np.float64]

PROBABILITIES = (0.50, 0.95, 0.99)


def of_counts(weights: FloatArray, step: int, probability: float) -> FloatArray:
    """Smallest integer whose cumulated weight reaches `probability`, row by row.

    Bin j of a row of `weights` (shape (n, k)) holds the integers j * step ... (j + 1) * step - 1,
    taken as equally likely inside the bin. Gives shape (n,), without the rows that are all zero.
    """
    weights = weights[weights.any(axis=1)]
    if not weights.size:
        return np.empty(0)
    bins, inside = _locate(weights, probability)
    reached = np.maximum(np.ceil(inside * step - 1e-9), 1.0) - 1.0
    return np.asarray(bins * step + reached, dtype=np.float64)


def of_histogram(histogram: Histogram, probability: float) -> float | None:
    """Quantile of a continuous histogram, linear inside the bin; None where it is empty."""
    if not histogram.counts.any():
        return None
    (bin_,), (inside,) = _locate(histogram.counts[np.newaxis], probability)
    low, high = float(histogram.edges[bin_]), float(histogram.edges[bin_ + 1])
    return low + float(inside) * (high - low)


def mean_of_histogram(histogram: Histogram) -> float | None:
    """Mean with each bin's weight at its middle; None where the histogram is empty."""
    total = float(np.sum(histogram.counts))
    if total <= 0.0:
        return None
    middles = (histogram.edges[:-1] + histogram.edges[1:]) / 2.0
    return float(np.dot(middles, histogram.counts)) / total


def _locate(weights: FloatArray, probability: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Bin of each row that holds its quantile, and how far into it (0 to 1) the quantile lies."""
    rows, cumulated = np.arange(len(weights)), np.cumsum(weights, axis=1)
    target = probability * cumulated[:, -1]
    bins = np.sum(cumulated < target[:, np.newaxis], axis=1)
    before = np.where(bins > 0, cumulated[rows, bins - 1], 0.0)
    return bins, (target - before) / weights[rows, bins]
