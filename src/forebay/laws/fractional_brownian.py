"""The queue under long-range dependent traffic: Norros's tail for fractional Brownian input.

In t seconds A(t) = m t + sqrt(a m) Z(t) packets arrive, Z a fractional Brownian motion of Hurst
parameter H with Var Z(t) = t^(2H); the link serves C > m packets a second. Then

    P(Q > x) ~ exp( -(C - m)^(2H) x^(2 - 2H) / (2 kappa^2 a m) ),  kappa = H^H (1 - H)^(1 - H).

It was verified by derivation, not at the source: it is the maximum over t of the Gaussian exponent
of P(A(t) > x + C t), which tests confirm by search. At H = 1/2 it is the exact tail of Brownian
motion with drift. It has no prefactor, so far in the tail it gives only the order of magnitude.
Arguments broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array


def overflow(
    buffer: ArrayLike, capacity: ArrayLike, mean: ArrayLike, peakedness: ArrayLike, hurst: ArrayLike
) -> Array:
    """P(Q > buffer).

    Parameters
    ----------
    buffer : packets; capacity, mean : packets a second, C and m, with m < C.
    peakedness : a, variance of one second's packets over their mean.
    hurst : H, between 1/2 and 1.
    """
    power = 2.0 - 2.0 * as_array(hurst)
    return np.exp(-(as_array(buffer) ** power) / _scale(capacity, mean, peakedness, hurst))


def buffer_for(
    probability: ArrayLike,
    capacity: ArrayLike,
    mean: ArrayLike,
    peakedness: ArrayLike,
    hurst: ArrayLike,
) -> Array:
    """Buffer in packets that Q exceeds with `probability`: the inverse of `overflow`."""
    power = 2.0 - 2.0 * as_array(hurst)
    exponent = -np.log(as_array(probability))
    return (exponent * _scale(capacity, mean, peakedness, hurst)) ** (1.0 / power)


def _scale(capacity: ArrayLike, mean: ArrayLike, peakedness: ArrayLike, hurst: ArrayLike) -> Array:
    h, m = as_array(hurst), as_array(mean)
    kappa = h**h * (1.0 - h) ** (1.0 - h)
    return 2.0 * kappa**2 * as_array(peakedness) * m / (as_array(capacity) - m) ** (2.0 * h)
