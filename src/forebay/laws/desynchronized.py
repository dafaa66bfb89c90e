"""The queue of many desynchronized flows: normal, truncated to [0, B] (paper A, §3.2, eq. 4, 5).

Each window is uniform between 2/3 and 4/3 of its mean, so the sum of n windows is normal with
standard deviation (2 Tp C + B) / (3 sqrt(3 n)). The queue is centred in the buffer; eq. 6 counts
all time with a deviation above B/2 as lost. Arguments broadcast; all sizes are in packets.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays
from forebay.laws.arrays import Array, as_array


def sigma(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Standard deviation of the queue before truncation (bound above eq. 6)."""
    return (as_array(bdp) + as_array(buffer)) / (3.0 * math.sqrt(3.0) * np.sqrt(as_array(n)))


def queue_mean(buffer: ArrayLike) -> Array:
    """Mean queue: B/2, because both ends are truncated alike."""
    return as_array(buffer) / 2.0


def queue_quantile(
    probability: ArrayLike, buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike
) -> Array:
    """Quantile of the truncated normal distribution, between 0 and B."""
    size = as_array(buffer)
    free = size / 2.0 + arrays.quantile(probability) * sigma(buffer, bdp, n)
    return np.minimum(np.maximum(free, 0.0), size)
