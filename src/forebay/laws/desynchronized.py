"""The queue under many flows out of step: normal, and cut to [0, B] (paper A, §3.2, eq. 4, 5).

Each window is uniform between 2/3 and 4/3 of its mean, so n of them sum to a normal of
standard deviation (2 Tp C + B) / (3 sqrt(3 n)). Eq. 6 loses what lies more than B/2 away on
either side: the queue is centred in the buffer. Arguments broadcast; packets throughout.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays
from forebay.laws.arrays import Array, as_array


def sigma(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Standard deviation of the queue before it is cut (bound above eq. 6)."""
    return (as_array(bdp) + as_array(buffer)) / (3.0 * math.sqrt(3.0) * np.sqrt(as_array(n)))


def queue_mean(buffer: ArrayLike) -> Array:
    """Mean queue: B/2, cut or not, since both ends are cut alike."""
    return as_array(buffer) / 2.0


def queue_quantile(
    probability: ArrayLike, buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike
) -> Array:
    """Quantile of the cut normal, between 0 and B."""
    size = as_array(buffer)
    free = size / 2.0 + arrays.quantile(probability) * sigma(buffer, bdp, n)
    return np.minimum(np.maximum(free, 0.0), size)
