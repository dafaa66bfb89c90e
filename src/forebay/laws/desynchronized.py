"""The queue of many desynchronized flows: normal, truncated to [0, B] (paper A, §3.2, eq. 4, 5).

Each window is uniform between 2/3 and 4/3 of its mean, so the sum of n windows is normal with
standard deviation (2 Tp C + B) / (3 sqrt(3 n)). The queue is centred in the buffer; eq. 6 counts
all time with a deviation above B/2 as lost. Arguments broadcast; all sizes are in packets.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays
from forebay.laws.arrays import Array, as_array


def sigma(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Standard deviation of the queue before truncation (bound above eq. 6)."""
    return (as_array(bdp) + as_array(buffer)) / (3.0 * math.sqrt(3.0) * np.sqrt(as_array(n)))


def sigma_of_constant_hazard(windows: ArrayLike, n: ArrayLike, index: ArrayLike = 1.0) -> Array:
    """Standard deviation of a sum of windows whose losses come at any height.

    If a loss is equally likely at any time, a window that grows by a constant rate and is halved at
    each loss has E[W^2] = 4/3 E[W]^2, so that it strays by 1/sqrt(3) of its mean: three times as
    far as the sawtooth of `sigma` (Altman, Avrachenkov, Barakat, SIGCOMM 2000, with p = 1/2).

    Parameters
    ----------
    windows : mean of the sum, packets.
    index : variance of the sum over the sum of the variances; 1 where windows are independent.
    """
    return as_array(windows) * np.sqrt(as_array(index) / (3.0 * as_array(n)))


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
