"""95 % Student-t intervals over replications or batches; quantiles and means of histograms.

The intervals are the standard ones: the t interval of a mean, batch means, and the ratio
estimator with its linearized variance (Cochran, Sampling Techniques, ch. 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.model import Metric
from forebay.outcome.reading import Histogram

FloatArray = NDArray[np.float64]
Bounds = tuple[float, float]

CONFIDENCE = 0.95


@lru_cache(maxsize=256)
def student_t(degrees: int) -> float:
    """Two-sided 95 % point of Student's t with `degrees` degrees of freedom."""
    from scipy.special import stdtrit  # scipy slows the start, and closed forms do not need it

    return float(stdtrit(degrees, (1.0 + CONFIDENCE) / 2.0))


@lru_cache(maxsize=256)
def equal_shares(whole: float, parts: int) -> FloatArray:
    """Return ``whole`` in equal parts, shape (parts,), read-only."""
    shares = np.full(parts, whole / parts)
    shares.setflags(write=False)
    return shares


def half_width(values: FloatArray) -> float | None:
    """Half the t interval of the mean of `values` (shape (n,)); None for fewer than two."""
    if values.size < 2:
        return None
    # The same as values.std(ddof=1), which takes three times as long for a few values.
    apart = values - np.add.reduce(values) / values.size
    deviation = math.sqrt(np.add.reduce(apart * apart) / (values.size - 1))
    return student_t(values.size - 1) * deviation / math.sqrt(values.size)


def ratio_half_width(numerators: FloatArray, denominators: FloatArray) -> float | None:
    """Half the t interval of sum(numerators) / sum(denominators), both of shape (b,).

    The residuals numerator - ratio * denominator give the error, so a batch with few arrivals has
    a small weight, and an empty one has none.
    """
    batches, total = numerators.size, float(np.add.reduce(denominators))
    if batches < 2 or total <= 0.0:
        return None
    residuals = numerators - float(np.add.reduce(numerators)) / total * denominators
    spread = math.sqrt(float(np.add.reduce(residuals * residuals)) / (batches - 1))
    return student_t(batches - 1) * spread / math.sqrt(batches) / (total / batches)


def around(value: float, half: float | None, n: int, bounds: Bounds) -> Metric:
    """Metric of `value` +- `half`, with its interval clipped to the range of the quantity."""
    if half is None:
        return Metric(value=value, low=None, high=None, n=n)
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Metric(value=value, low=min(low, value), high=max(high, value), n=n)


def over_replications(values: Sequence[float], bounds: Bounds) -> Metric | None:
    """Mean of one value per replication with its t interval; None without values."""
    if not values:
        return None
    if len(values) == 1:  # of a study's every row
        return Metric(value=float(values[0]), low=None, high=None, n=1)
    array = np.asarray(values, dtype=np.float64)
    return around(float(array.mean()), half_width(array), len(values), bounds)


PROBABILITIES = (0.50, 0.95, 0.99)
_CLOCK_S = 1e-12
"""Engines count in whole picoseconds: a bin of one contains only its lower edge."""


def of_counts(weights: FloatArray, step: int, probabilities: Sequence[float]) -> FloatArray:
    """Smallest integers whose cumulated weight reaches each of `probabilities`, row by row.

    Bin j of a row of `weights`, shape (n, k), has the integers j * step ... (j + 1) * step - 1
    and counts as the first of them. An empty queue is in the first bin, and to spread its time
    over the bin would give a queue where nothing waits. The result has shape (n, p), without
    the rows that are all zero.
    """
    weights = weights[weights.any(axis=1)]
    if not weights.size:
        return np.empty((0, len(probabilities)))
    if len(weights) == 1:
        bins = _locate_in_one(weights[0], probabilities)[0][np.newaxis]
    else:
        bins, _ = _locate(weights, probabilities)
    return np.asarray(bins * step, dtype=np.float64)


def of_histogram(histogram: Histogram, probability: float) -> float | None:
    """Quantile of a continuous histogram, linear inside the bin; None if it is empty."""
    found = several_of_histogram(histogram, (probability,))
    return None if found is None else float(found[0])


def several_of_histogram(histogram: Histogram, probabilities: Sequence[float]) -> FloatArray | None:
    """`of_histogram` for each of `probabilities`, shape (p,), seconds."""
    if not histogram.counts.any():
        return None
    bins, inside = _locate_in_one(histogram.counts, probabilities)
    low, high = histogram.edges[bins], histogram.edges[bins + 1]
    width = np.where(high - low > 1.5 * _CLOCK_S, high - low, 0.0)
    return np.asarray(low + inside * width, dtype=np.float64)


def mean_of_histogram(histogram: Histogram) -> float | None:
    """Mean with each bin's weight at its middle; None if the histogram is empty."""
    total = float(np.add.reduce(histogram.counts))
    if total <= 0.0:
        return None
    middles = (histogram.edges[:-1] + histogram.edges[1:]) / 2.0
    return float(np.dot(middles, histogram.counts)) / total


def _locate_in_one(
    weights: FloatArray, probabilities: Sequence[float]
) -> tuple[NDArray[np.int64], FloatArray]:
    """`_locate` in one row, shape (k,); weights are not negative, so that they cumulate upwards."""
    cumulated = weights.cumsum()
    target = np.asarray(probabilities) * cumulated[-1]
    bins = cumulated.searchsorted(target)
    before = np.where(bins > 0, cumulated[bins - 1], 0.0)
    return bins, (target - before) / weights[bins]


def _locate(
    weights: FloatArray, probabilities: Sequence[float]
) -> tuple[NDArray[np.int64], FloatArray]:
    """Bin of each row that contains its quantile, and the quantile's position in it (0 to 1)."""
    cumulated = weights.cumsum(axis=1)
    target = np.asarray(probabilities) * cumulated[:, -1:]
    bins = (cumulated[:, np.newaxis, :] < target[:, :, np.newaxis]).sum(axis=2)
    rows = np.arange(len(weights))[:, np.newaxis]
    before = np.where(bins > 0, cumulated[rows, bins - 1], 0.0)
    return bins, (target - before) / weights[rows, bins]
