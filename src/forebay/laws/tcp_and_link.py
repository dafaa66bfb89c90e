"""Mean TCP window and queue of one link in balance (Hisamatsu 2007, "paper C", slides 9 to 11).

TCP (slide 9), with d the loss rate and d_to the share of losses found by timeout:

    (1 - d) / w = d (1 - d_to) 2 w / 3 + d d_to 4 w / 3,  so  w^2 = 3 (1 - d) / (2 d (1 + d_to)).

Link (slide 10): the queue rests where n w / (delay + q / C) = C, and drops what exceeds the buffer,
d = erfc((b - q) / (sqrt(2) sigma)) / 2. The slide prints 1 - erf(.)/2, which is never below one
half with the usual erf. It leaves d_to and sigma open: d_to is 0 here unless given, and sigma must
be given: the answer hangs on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays
from forebay.laws.arrays import Array, as_array

_STEPS = 60
_NEAR = 1e-7  # of what the drops vary over: such a step was the last, the next goes by its square


@dataclass(frozen=True, slots=True)
class Balance:
    """A link at rest; arrays of the broadcast shape. NaN where more than half would be dropped."""

    window: Array
    """Mean window of a flow, packets."""
    queue: Array
    """Mean queue, packets."""
    loss_rate: Array
    rtt: Array
    """Seconds, queueing included."""
    throughput: Array
    """Of a flow, packets a second."""
    utilization: Array


def window(loss_rate: ArrayLike, timeouts: ArrayLike = 0.0) -> Array:
    """Mean window at rest for a loss rate (slide 9, w(k+1) = w(k)), packets."""
    lost = as_array(loss_rate)
    return np.sqrt(1.5 * (1.0 - lost) / (lost * (1.0 + as_array(timeouts))))


def loss_rate_of_window(window: ArrayLike, timeouts: ArrayLike = 0.0) -> Array:
    """Loss rate that keeps the mean window where it is: inverse of `window`."""
    return 1.0 / (1.0 + as_array(window) ** 2 * (1.0 + as_array(timeouts)) / 1.5)


def loss_rate_of_queue(queue: ArrayLike, buffer: ArrayLike, sigma: ArrayLike) -> Array:
    """Loss rate of a queue of that mean in a buffer of that size (slide 10, corrected)."""
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
    """Window, queue and loss rate at which `n` flows and their link are at rest (slide 11).

    Parameters
    ----------
    capacity : packets a second. delay : two-way propagation delay, seconds. buffer : packets.
    sigma : standard deviation of the queue, packets.
    timeouts : d_to, share of the losses found by timeout.

    Raises ValueError for a sigma that is not above 0.

    Drops of the link rise with q and those that TCP takes fall, so there is one crossing. Where
    the link would drop too much even at q = 0, the queue stays empty, the windows follow from
    the drops, and the utilization is below one.
    """
    c, tau, b, flows, lost_late, spread = np.broadcast_arrays(
        *(as_array(each) for each in (capacity, delay, buffer, n, timeouts, sigma))
    )
    if not np.all(spread > 0.0):
        raise ValueError("sigma: the queue must vary; write a number of packets above 0")
    bdp, queue = c * tau, np.zeros(c.shape)
    at_rest = loss_rate_of_queue(0.0, b, spread) < loss_rate_of_window(bdp / flows, lost_late)
    queue[at_rest] = _crossing(*(each[at_rest] for each in (bdp, b, flows, lost_late, spread)))
    dropped = loss_rate_of_queue(queue, b, spread)
    windows = np.minimum(window(dropped, lost_late), (bdp + queue) / flows)
    rtt = tau + queue / c
    modelled = loss_rate_of_window((bdp + b) / flows, lost_late) <= 0.5
    results = [np.where(modelled, x, np.nan)[()] for x in (windows, queue, dropped, rtt)]
    sent = results[0] / results[3]
    return Balance(results[0], results[1], results[2], results[3], sent, sent * flows / c)


def _crossing(bdp: Array, buffer: Array, n: Array, timeouts: Array, sigma: Array) -> Array:
    """Queue at which the link drops what TCP takes; all of shape (k,), with less dropped at 0.

    Newton's method on the log of the ratio of both drops. It starts where the link would drop what
    TCP takes at a full buffer, which is too low and near; from there on the log is nearly always
    concave, so that every step stays below the crossing. One that leaves what is known to
    hold the crossing is halved instead.
    """
    rare = loss_rate_of_window((bdp + buffer) / n, timeouts)
    queue = np.clip(buffer + sigma * arrays.quantile(rare), 0.0, buffer)
    low, high, left = np.zeros_like(buffer), buffer.copy(), np.arange(buffer.size)
    for _ in range(_STEPS):
        at = queue[left]
        apart, slope = _ratio(at, *(each[left] for each in (bdp, buffer, n, timeouts, sigma)))
        low[left] = np.where(apart < 0.0, at, low[left])
        high[left] = np.where(apart < 0.0, high[left], at)
        found = at - apart / slope
        inside = (found >= low[left]) & (found <= high[left])
        queue[left] = np.where(inside, found, (low[left] + high[left]) / 2.0)
        scale = np.minimum(sigma[left], bdp[left] + at)
        left = left[np.abs(queue[left] - at) > _NEAR * scale]
        if not left.size:
            break
    return queue


def _ratio(
    queue: Array, bdp: Array, buffer: Array, n: Array, timeouts: Array, sigma: Array
) -> tuple[Array, Array]:
    """Log of the link's drops over those that TCP takes, and its slope."""
    dropped = loss_rate_of_queue(queue, buffer, sigma)
    taken = loss_rate_of_window((bdp + queue) / n, timeouts)
    bell = np.exp(-(((buffer - queue) / sigma) ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * sigma)
    return np.log(dropped / taken), bell / dropped + 2.0 * (1.0 - taken) / (bdp + queue)
