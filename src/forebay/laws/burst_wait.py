"""Waiting time of a packet: the queue that its burst finds, and the packets before it in the burst.

A burst finds the number in the system at a random time, because Poisson arrivals see time averages.
Its k-th packet then has k - 1 packets of the burst before it. A packet on the wire has a uniform
part left: the mean includes this exactly, and the quantiles neglect its dependence on the queue.
All times are packet times.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.bursts import Bursts


class Queue(Protocol):
    """A stationary queue with a limited or unlimited buffer."""

    @property
    def in_system(self) -> Array:
        """P(L = j) of the packets waiting or on the wire."""
        ...


def _ahead(queue: Queue, bursts: Bursts) -> tuple[Array, Array]:
    """P(j whole packets are ahead) with an idle wire, and with a busy one; shapes (k,), (m,).

    A packet has place i in its burst with probability P(X >= i) / E[X].
    """
    places = np.arange(1, int(bursts.sizes[-1]) + 1)
    place = bursts.probabilities @ (bursts.sizes[:, None] >= places) / bursts.mean
    return queue.in_system[0] * place, np.convolve(queue.in_system[1:], place)


def quantile(queue: Queue, bursts: Bursts, probability: float, buffer: int) -> float:
    """Wait that this share of the packets does not exceed; at most a full buffer."""
    idle, busy = _ahead(queue, bursts)
    steps = np.zeros((busy.size, 2))  # a step at j, then the uniform part from j to j + 1
    steps[: idle.size, 0], steps[:, 1] = idle, busy
    below = np.cumsum(steps.ravel())
    share = min(probability, float(below[-1]))
    at = int(np.searchsorted(below, share, side="left"))
    whole, spread = divmod(at, 2)
    part = (share - below[at - 1]) / busy[whole] if spread else 0.0
    return float(min(whole + part, buffer))


def mean(queue: Queue, bursts: Bursts, buffer: int) -> float:
    """Mean wait, each at most a full buffer; with an unlimited buffer E[Q] / rho."""
    idle, busy = _ahead(queue, bursts)
    met = np.minimum(np.arange(idle.size), buffer) @ idle
    return float(met + np.minimum(np.arange(busy.size) + 0.5, buffer) @ busy)
