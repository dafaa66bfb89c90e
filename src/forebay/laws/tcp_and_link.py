"""Steady state of a link: mean TCP window and queue (Hisamatsu 2007, "paper C", slides 9 to 11).

TCP (slide 9), with d the loss rate and d_to the share of losses found by timeout:

    (1 - d) / w = d (1 - d_to) 2 w / 3 + d d_to 4 w / 3,  so  w^2 = 3 (1 - d) / (2 d (1 + d_to)).

Link (slide 10): in steady state n w / (delay + q / C) = C, and the excess over the buffer is lost,
d = erfc((b - q) / (sqrt(2) sigma)) / 2. The slide prints 1 - erf(.)/2, which is never below one
half with the usual erf. It does not define d_to and sigma. d_to is 0 by default. sigma is a
required argument, because the result depends on it strongly.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays
from forebay.laws.arrays import Array, as_array

_STEPS = 60
_NEAR = 1e-7  # relative to the scale of the drops: convergence is quadratic, so this step suffices


@dataclass(frozen=True, slots=True)
class Balance:
    """A link in steady state; arrays of the broadcast shape, NaN for loss rates above one half."""

    window: Array
    """Mean window of a flow, packets."""
    queue: Array
    """Mean queue, packets."""
    loss_rate: Array
    rtt: Array
    """In seconds, including queueing."""
    throughput: Array
    """Of a flow, in packets per second."""
    utilization: Array


def window(loss_rate: ArrayLike, timeouts: ArrayLike = 0.0) -> Array:
    """Mean window in steady state for a loss rate (slide 9, w(k+1) = w(k)), in packets."""
    lost = as_array(loss_rate)
    return np.sqrt(1.5 * (1.0 - lost) / (lost * (1.0 + as_array(timeouts))))


def loss_rate_of_window(window: ArrayLike, timeouts: ArrayLike = 0.0) -> Array:
    """Loss rate at which the mean window is constant: the inverse of `window`."""
    return 1.0 / (1.0 + as_array(window) ** 2 * (1.0 + as_array(timeouts)) / 1.5)


def loss_rate_of_queue(queue: ArrayLike, buffer: ArrayLike, sigma: ArrayLike) -> Array:
    """Loss rate of a queue with this mean in this buffer (slide 10, corrected)."""
    apart = (as_array(buffer) - as_array(queue)) / (math.sqrt(2.0) * as_array(sigma))
    return arrays.erfc(apart) / 2.0


def balance(
    capacity: ArrayLike,
    delay: ArrayLike,
    buffer: ArrayLike,
    n: ArrayLike,
    *,
    sigma: ArrayLike,
    timeouts: ArrayLike = 0.0,
) -> Balance:
    """Steady state of `n` flows and their link: window, queue and loss rate (slide 11).

    Parameters
    ----------
    capacity : packets a second. delay : two-way propagation delay, seconds. buffer : packets.
    sigma : standard deviation of the queue, packets.
    timeouts : d_to, share of the losses found by timeout.

    Raises ValueError for a sigma that is not above 0.

    The link's loss rate increases with q and that of TCP decreases, so the solution is unique. If
    the link's loss rate is larger even at q = 0, the queue stays empty, the windows follow from the
    loss rate, and the utilization is below one.
    """
    c, tau, b, flows, lost_late, spread = np.broadcast_arrays(
        *(as_array(value) for value in (capacity, delay, buffer, n, timeouts, sigma))
    )
    if not np.all(spread > 0.0):
        raise ValueError("sigma: the queue must vary; write a number of packets above 0")
    bdp, queue = c * tau, np.zeros(c.shape)
    at_rest = loss_rate_of_queue(0.0, b, spread) < loss_rate_of_window(bdp / flows, lost_late)
    queue[at_rest] = _crossing(*(array[at_rest] for array in (bdp, b, flows, lost_late, spread)))
    dropped = loss_rate_of_queue(queue, b, spread)
    windows = np.minimum(window(dropped, lost_late), (bdp + queue) / flows)
    rtt = tau + queue / c
    modelled = loss_rate_of_window((bdp + b) / flows, lost_late) <= 0.5
    results = [np.where(modelled, x, np.nan)[()] for x in (windows, queue, dropped, rtt)]
    sent = results[0] / results[3]
    return Balance(results[0], results[1], results[2], results[3], sent, sent * flows / c)


def _crossing(bdp: Array, buffer: Array, n: Array, timeouts: Array, sigma: Array) -> Array:
    """Queue at which both loss rates agree; all of shape (k,); the link's must be smaller at 0.

    Newton's method on the log of the ratio of both. It starts at the queue whose loss rate is TCP's
    at a full buffer, which is slightly too low. From there the log is nearly always concave, so
    every step stays below the solution. A step out of the bracket is replaced by bisection.
    """
    rare = loss_rate_of_window((bdp + buffer) / n, timeouts)
    queue = np.clip(buffer + sigma * arrays.quantile(rare), 0.0, buffer)
    low, high, left = np.zeros_like(buffer), buffer.copy(), np.arange(buffer.size)
    for _ in range(_STEPS):
        at = queue[left]
        apart, slope = _ratio(at, *(array[left] for array in (bdp, buffer, n, timeouts, sigma)))
        low[left] = np.where(apart < 0.0, at, low[left])
        high[left] = np.where(apart < 0.0, high[left], at)
        point = at - apart / slope
        inside = (point >= low[left]) & (point <= high[left])
        queue[left] = np.where(inside, point, (low[left] + high[left]) / 2.0)
        scale = np.minimum(sigma[left], bdp[left] + at)
        left = left[np.abs(queue[left] - at) > _NEAR * scale]
        if not left.size:
            break
    return queue


def _ratio(
    queue: Array, bdp: Array, buffer: Array, n: Array, timeouts: Array, sigma: Array
) -> tuple[Array, Array]:
    """Log of the link's loss rate over TCP's, and its derivative."""
    dropped = loss_rate_of_queue(queue, buffer, sigma)
    taken = loss_rate_of_window((bdp + queue) / n, timeouts)
    bell = np.exp(-(((buffer - queue) / sigma) ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * sigma)
    return np.log(dropped / taken), bell / dropped + 2.0 * (1.0 - taken) / (bdp + queue)
