"""The fluid sawtooth of paper A, appendix B, over a whole cycle.

The window W grows by `growth` packets in a round trip of 2 Tp + Q/C and is halved when the
queue Q = W - 2 Tp C reaches the buffer B, at Wmax = 2 Tp C + B. Above W = 2 Tp C the link is busy;
the paper covers this part of the cycle (eq. 8 to 10). Below it the queue is empty, the flow sends
W / 2 Tp and the link is partly idle; this part is integrated here from the same two equations. In
both, W dW packets are sent while W grows by dW, so a cycle from Wmax / 2 to Wmax delivers
3/8 Wmax^2 packets for a growth of one and any buffer.

Synchronized flows are one flow with n times the growth (§3.1). Arguments broadcast;
`bdp` is 2 Tp C and `buffer` is B, packets; `capacity` is C, packets per second.
"""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array


def window(t: ArrayLike, capacity: ArrayLike, bdp: ArrayLike, *, as_printed: bool = False) -> Array:
    """W(t) in packets, `t` seconds after the queue began to fill (eq. 9).

    `as_printed` uses the line above eq. 9 as printed: W^2 = 2 C t + W(0). It should be W(0)^2, as
    in eq. 9 itself.
    """
    start = as_array(bdp)
    return np.sqrt(2.0 * as_array(capacity) * as_array(t) + (start if as_printed else start**2))


def queue(t: ArrayLike, capacity: ArrayLike, bdp: ArrayLike) -> Array:
    """Q(t) in packets, `t` seconds after the queue began to fill (eq. 10)."""
    return window(t, capacity, bdp) - as_array(bdp)


def fill_time(
    buffer: ArrayLike, capacity: ArrayLike, bdp: ArrayLike, growth: ArrayLike = 1.0
) -> Array:
    """T = B^2 / 2C + 2 Tp B, seconds: from an empty queue to a full one (below eq. 10).

    For B = 2 Tp C this is the whole period: 1.5 B^2 / C.
    """
    size, product = as_array(buffer), as_array(bdp)
    return (size**2 / 2.0 + product * size) / (as_array(capacity) * as_array(growth))


def period(
    buffer: ArrayLike, capacity: ArrayLike, bdp: ArrayLike, growth: ArrayLike = 1.0
) -> Array:
    """Seconds from one halving to the next, for any buffer."""
    return _cycle(buffer, bdp) / (as_array(capacity) * as_array(growth))


def utilization(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Packets delivered in a cycle over C times its period: 3/4 (1+b)^2 / (1+b+b^2), b = B/BDP.

    3/4 without a buffer, 1 for B >= 2 Tp C; does not depend on the growth, nor on n.
    """
    return _delivered(buffer, bdp) / _cycle(buffer, bdp)


def buffer_for(target: ArrayLike, bdp: ArrayLike) -> Array:
    """Smallest buffer in packets with the `utilization` `target`; zero up to 3/4.

    Solves (U - 3/4) (1 + b^2) = (3/2 - U) b for the root b <= 1.
    """
    excess = np.maximum(as_array(target) - 0.75, 0.0)
    middle = 0.75 - excess
    # It is 0 at a target of 1, apart from rounding.
    discriminant = np.maximum(middle**2 - 4.0 * excess**2, 0.0)
    return as_array(bdp) * 2.0 * excess / (middle + np.sqrt(discriminant))


def loss_rate(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike, growth: ArrayLike = 1.0) -> Array:
    """One drop for each flow over the packets of a cycle, with `n` flows of `growth` each.

    8 n^2 growth / (3 Wmax^2). In terms of the mean window w = 3/4 Wmax / n that is 3/2 w^-2
    for a growth of one and 3/4 w^-2 for a half, next to Morris's 0.76 w^-2.
    """
    flows = as_array(n)
    return flows**2 * as_array(growth) / _delivered(buffer, bdp)


def queue_mean(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Mean of Q over time, packets."""
    return _queue_integral(buffer, bdp) / _cycle(buffer, bdp)


def queue_quantile(probability: ArrayLike, buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Quantile of Q over time, in packets."""
    lowest, product = _lowest_busy(buffer, bdp), as_array(bdp)
    idle = product * (product - np.minimum(_halved(buffer, bdp), product))
    busy = np.maximum(as_array(probability) * _cycle(buffer, bdp) - idle, 0.0)
    return np.sqrt(lowest**2 + 2.0 * busy) - product


def queue_seen_mean(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Mean of Q at the packets' arrivals, in packets; over C it is their mean delay."""
    return _queue_integral(buffer, bdp) / _delivered(buffer, bdp)


def queue_seen_quantile(probability: ArrayLike, buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Quantile of Q at the packets' arrivals, in packets; there W^2 is uniform."""
    squared = _halved(buffer, bdp) ** 2 + 2.0 * as_array(probability) * _delivered(buffer, bdp)
    return np.maximum(np.sqrt(squared) - as_array(bdp), 0.0)


def _halved(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Window just after the halving, Wmax / 2."""
    return (as_array(bdp) + as_array(buffer)) / 2.0


def _lowest_busy(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Smallest window of the cycle at which the link is busy."""
    return np.maximum(_halved(buffer, bdp), as_array(bdp))


def _delivered(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Packets of a cycle for a growth of one: 3/8 Wmax^2."""
    return 1.5 * _halved(buffer, bdp) ** 2


def _cycle(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """C times the period for a growth of one: packets that a full link would carry."""
    product, lowest = as_array(bdp), _halved(buffer, bdp)
    idle = np.maximum(product - lowest, 0.0)
    return _delivered(buffer, bdp) + idle**2 / 2.0


def _queue_integral(buffer: ArrayLike, bdp: ArrayLike) -> Array:
    """Integral of (W - 2 Tp C) W dW over the busy part of a cycle."""
    low, product = _lowest_busy(buffer, bdp), as_array(bdp)
    high = product + as_array(buffer)
    return (high**3 - low**3) / 3.0 - product * (high**2 - low**2) / 2.0
