"""Interval arithmetic: 95 % Student-t intervals over replications or over batches.

The sources are textbook: the t interval of a mean, batch means, and the ratio
estimator with its linearized variance (Cochran, Sampling Techniques, ch. 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.model import Metric

FloatArray = NDArray[np.float64]
Bounds = tuple[float, float]

CONFIDENCE = 0.95


@lru_cache(maxsize=256)
def student_t(degrees: int) -> float:
    """Two-sided 95 % point of Student's t with `degrees` degrees of freedom."""
    from scipy.special import stdtrit  # scipy costs start-up time that closed forms never need

    return float(stdtrit(degrees, (1.0 + CONFIDENCE) / 2.0))


def half_width(values: FloatArray) -> float | None:
    """Half the t interval of the mean of `values` (shape (n,)); None for fewer than two."""
    if values.size < 2:
        return None
    return student_t(values.size - 1) * float(values.std(ddof=1)) / math.sqrt(values.size)


def ratio_half_width(numerators: FloatArray, denominators: FloatArray) -> float | None:
    """Half the t interval of sum(numerators) / sum(denominators), both of shape (b,).

    The residuals numerator - ratio * denominator carry the error, so a batch with
    few arrivals weighs little, and an empty one does no harm.
    """
    batches, total = numerators.size, float(denominators.sum())
    if batches < 2 or total <= 0.0:
        return None
    residuals = numerators - float(numerators.sum()) / total * denominators
    spread = math.sqrt(float((residuals**2).sum()) / (batches - 1))
    return student_t(batches - 1) * spread / math.sqrt(batches) / (total / batches)


def around(value: float, half: float | None, n: int, bounds: Bounds) -> Metric:
    """Metric of `value` +- `half`, its interval cut to the range the quantity can take."""
    if half is None:
        return Metric(value=value, low=None, high=None, n=n)
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Metric(value=value, low=min(low, value), high=max(high, value), n=n)


def over_replications(values: Sequence[float], bounds: Bounds) -> Metric | None:
    """Mean of one value a replication with its t interval; None for no values."""
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    return around(float(array.mean()), half_width(array), len(values), bounds)
