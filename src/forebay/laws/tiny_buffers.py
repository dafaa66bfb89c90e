"""A few dozen packets suffice if packets are spaced and the load is below the capacity.

The form, O(log Wmax), is that of Enachescu et al. 2005/06. Their theorem was not available; the
constant is derived here. Packets arrive as a Poisson stream (paced, or from slow access links) at a
load rho < 1, so a buffer of B is full with probability below rho^B: the tail of M/M/1, above that
of M/D/1. One halving costs a flow with a window of Wmax at most Wmax^2 / 6 packets (at 2/3 Wmax;
Wmax^2 / 8 at Wmax). Its throughput is at least the share theta of that without loss if
rho^B Wmax^2 / 6 <= 1 - theta. Arguments broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array


def loss_bound(buffer: ArrayLike, load: ArrayLike) -> Array:
    """Upper bound on the loss rate, rho^B."""
    return as_array(load) ** as_array(buffer)


def throughput_bound(buffer: ArrayLike, load: ArrayLike, w_max: ArrayLike) -> Array:
    """Lower bound on a flow's throughput over its throughput at a window of `w_max`, >= 0."""
    return np.maximum(1.0 - loss_bound(buffer, load) * as_array(w_max) ** 2 / 6.0, 0.0)


def buffer_for(target: ArrayLike, load: ArrayLike, w_max: ArrayLike) -> Array:
    """Buffer in packets with `throughput_bound` equal to `target` (< 1); zero if none is needed."""
    needed = np.log(as_array(w_max) ** 2 / (6.0 * (1.0 - as_array(target))))
    return np.maximum(needed, 0.0) / -np.log(as_array(load))
