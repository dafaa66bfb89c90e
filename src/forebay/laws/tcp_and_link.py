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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import normal
from forebay.laws.arrays import Array, as_array

_HALVINGS = 45  # of the buffer: some 13 digits


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
    return (1.0 - normal.erf(apart)) / 2.0


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

    Drops of the link rise with q and those that TCP takes fall, so there is one crossing, found
    by bisection. Where the link would drop too much even at q = 0, the queue stays empty,
    the windows follow from the drops, and the utilization is below one.
    """
    c, tau, b, flows, lost_late, spread = np.broadcast_arrays(
        *(as_array(each) for each in (capacity, delay, buffer, n, timeouts, sigma))
    )
    queue = _crossing(lambda q: loss_rate_of_queue(q, b, spread), c * tau, b, flows, lost_late)
    dropped = loss_rate_of_queue(queue, b, spread)
    windows = np.minimum(window(dropped, lost_late), (c * tau + queue) / flows)
    rtt = tau + queue / c
    modelled = loss_rate_of_window((c * tau + b) / flows, lost_late) <= 0.5
    kept = [np.where(modelled, x, np.nan)[()] for x in (windows, queue, dropped, rtt)]
    sent = kept[0] / kept[3]
    return Balance(kept[0], kept[1], kept[2], kept[3], sent, sent * flows / c)


def _crossing(
    drops: Callable[[Array], Array], bdp: Array, buffer: Array, n: Array, timeouts: Array
) -> Array:
    """Queue at which the link drops what TCP takes; zero where it would drop more even there."""
    low, high = np.zeros(buffer.shape), np.array(buffer)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        above = drops(middle) > loss_rate_of_window((bdp + middle) / n, timeouts)
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    at_rest = drops(np.zeros(buffer.shape)) < loss_rate_of_window(bdp / n, timeouts)
    return np.where(at_rest, high, 0.0)
