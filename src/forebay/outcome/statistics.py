"""95 % intervals over replications or batches; quantiles and means of histograms.

The intervals are the standard ones: the t interval of a mean, batch means, and the ratio
estimator with its linearized variance (Cochran, Sampling Techniques, ch. 6). The interval of a
quantile is where that of the share above it holds 1 - p (Woodruff, JASA 47, 1952), on a
logarithmic scale, because a share of rare long waits is skewed. `benches/interval_coverage.py`
counts how often each holds the truth.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from forebay.outcome.model import Metric
from forebay.outcome.reading import FloatArray, Histogram, IntArray

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


_ROUNDING = 1e-9
"""Relative: more than sums in another order differ by, or a window of 1 ms in whole picoseconds."""
_OF_SUMS = 1e-12  # a sum of n shares equals p only up to rounding


def around(value: float, half: float | None, n: int, bounds: Bounds) -> Metric:
    """Metric of `value` +- `half`, with its interval clipped to the range of the quantity.

    A value that only rounding put beyond that range is its end: a link that is always busy is used
    to 1, and not to 1 + 2e-16.
    """
    if bounds[1] < value <= bounds[1] * (1.0 + _ROUNDING):
        value = bounds[1]
    if half is None:
        return Metric(value=value, low=None, high=None, n=n)
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Metric(value=value, low=min(low, value), high=max(high, value), n=n)


def over_replications(
    values: Sequence[float], bounds: Bounds, counts: Sequence[float] | None = None
) -> Metric | None:
    """Mean of one value per replication with its interval; None without values.

    With ``counts``, how many packets each value is the mean of, it is the mean of all packets, as a
    quantile is that of all packets. They are above 0.

    Values that are all equal, such as no loss in any replication, have no interval: they do not
    tell how far another one may be. At each end the interval reaches as far as the t interval of
    the mean or that of its logit does (its logarithm where nothing bounds it above): the one is too
    short where values are skewed towards a bound, the other where most of them are 0.
    """
    if not values:
        return None
    if len(values) == 1:  # of a study's every row
        return around(float(values[0]), None, 1, bounds)
    array = np.asarray(values, dtype=np.float64)
    if counts is None:
        value, half = float(array.mean()), half_width(array)
    else:
        weights = np.asarray(counts, dtype=np.float64)
        value = float(np.dot(weights, array) / np.add.reduce(weights))
        half = ratio_half_width(weights * array, weights)
    metric = around(value, half or None, len(values), bounds)
    most = bounds[1]
    if bounds[0] != 0.0 or not half or not 0.0 < value < most:
        return metric
    assert metric.low is not None and metric.high is not None
    share = value / most  # 0 of infinity
    factor = math.exp(min(half / (value * (1.0 - share)), 500.0))
    low, high = (value * odds / (1.0 - share + share * odds) for odds in (1.0 / factor, factor))
    return Metric(
        value=value, low=min(metric.low, low), high=max(metric.high, min(high, most)), n=len(values)
    )


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
    quantiles = several_of_histogram(histogram, (probability,))
    return None if quantiles is None else float(quantiles[0])


def several_of_histogram(histogram: Histogram, probabilities: Sequence[float]) -> FloatArray | None:
    """`of_histogram` for each of `probabilities`, shape (p,), seconds."""
    if not histogram.counts.any():
        return None
    bins, inside = _locate_in_one(histogram.counts, probabilities)
    low, high = histogram.edges[bins], histogram.edges[bins + 1]
    width = np.where(high - low > 1.5 * _CLOCK_S, high - low, 0.0)
    return np.asarray(low + inside * width, dtype=np.float64)


def pooled(histograms: Sequence[Histogram]) -> tuple[FloatArray, FloatArray]:
    """Bring histograms to the same bins: edges, shape (k + 1,), and weights, shape (n, k).

    Their edges are those of one grid, of which each has the part that it needs.
    """
    edges = np.unique(np.concatenate([histogram.edges for histogram in histograms]))
    weights = np.zeros((len(histograms), edges.size - 1))
    for row, histogram in zip(weights, histograms, strict=True):
        row[edges.searchsorted(histogram.edges[:-1])] = histogram.counts
    return edges, weights


def bins_of_quantile(
    above: FloatArray, weights: FloatArray, probability: float
) -> tuple[int, int] | None:
    """First and last bin in which a quantile of all replications may be, with 95 %.

    Parameters
    ----------
    above : shape (n, k), the share of each replication that is above bin j; descending to 0.
    weights : shape (n,), what each share is of.

    Returns
    -------
    tuple or None
        None for fewer than two replications.
    """
    many = len(weights)
    if many < 2:
        return None
    whole = weights @ above / weights.sum()
    share = np.where(whole > _OF_SUMS, whole, 0.0)
    residuals = weights[:, np.newaxis] * (above - share)
    spread = np.sqrt(np.add.reduce(residuals * residuals) / (many - 1) / many) / weights.mean()
    relative = np.divide(spread, share, out=np.zeros_like(share), where=share > 0.0)
    factor = np.exp(np.minimum(student_t(many - 1) * relative, 500.0))
    left = 1.0 - probability + _OF_SUMS
    low = int(np.argmax(share / factor <= left))
    beyond = np.flatnonzero(share * factor > left)
    return low, max(low, int(beyond[-1]) + 1 if beyond.size else 0)


def shares_above(weights: FloatArray) -> FloatArray:
    """Share of each row of weights, shape (n, k), that is above bin j."""
    cumulated = weights.cumsum(axis=1)
    return np.asarray(1.0 - cumulated / cumulated[:, -1:], dtype=np.float64)


def mean_of_histogram(histogram: Histogram) -> float | None:
    """Mean with each bin's weight at its middle; None if the histogram is empty."""
    total = float(np.add.reduce(histogram.counts))
    if total <= 0.0:
        return None
    middles = (histogram.edges[:-1] + histogram.edges[1:]) / 2.0
    return float(np.dot(middles, histogram.counts)) / total


def _locate_in_one(
    weights: FloatArray, probabilities: Sequence[float]
) -> tuple[IntArray, FloatArray]:
    """`_locate` in one row, shape (k,); weights are not negative, so that they cumulate upwards."""
    cumulated = weights.cumsum()
    target = np.asarray(probabilities) * cumulated[-1]
    bins = cumulated.searchsorted(target)
    before = np.where(bins > 0, cumulated[bins - 1], 0.0)
    return bins, (target - before) / weights[bins]


def _locate(weights: FloatArray, probabilities: Sequence[float]) -> tuple[IntArray, FloatArray]:
    """Bin of each row that contains its quantile, and the quantile's position in it (0 to 1)."""
    cumulated = weights.cumsum(axis=1)
    target = np.asarray(probabilities) * cumulated[:, -1:]
    bins = (cumulated[:, np.newaxis, :] < target[:, :, np.newaxis]).sum(axis=2)
    rows = np.arange(len(weights))[:, np.newaxis]
    before = np.where(bins > 0, cumulated[rows, bins - 1], 0.0)
    return bins, (target - before) / weights[rows, bins]
