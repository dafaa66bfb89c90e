"""What one packet of a burst waits for: the queue it meets and its own burst ahead of it.

A burst meets the number in the system at any moment, for Poisson arrivals see time averages;
its k-th packet then has k - 1 of its own in front. Of a packet on the wire any part may be left,
which makes the mean exact; its dependence on the queue behind it is left out of the quantiles.
All are packet times.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.bursts import Bursts


class Queue(Protocol):
    """A stationary queue, endless or not."""

    @property
    def in_system(self) -> Array:
        """P(L = j) of the packets waiting or on the wire."""
        ...


def _ahead(queue: Queue, bursts: Bursts) -> tuple[Array, Array]:
    """P(j whole packets are ahead) with the wire idle, and with it busy; shapes (k,), (m,).

    A packet is in place i of its burst with probability P(X >= i) / E[X].
    """
    places = np.arange(1, int(bursts.sizes[-1]) + 1)
    place = bursts.probabilities @ (bursts.sizes[:, None] >= places) / bursts.mean
    return queue.in_system[0] * place, np.convolve(queue.in_system[1:], place)


def quantile(queue: Queue, bursts: Bursts, probability: float, buffer: int) -> float:
    """Wait that this share of the packets does not exceed; a full buffer at most."""
    idle, busy = _ahead(queue, bursts)
    steps = np.zeros((busy.size, 2))  # a jump at j, then what is spread from j to j + 1
    steps[: idle.size, 0], steps[:, 1] = idle, busy
    below = np.cumsum(steps.ravel())
    share = min(probability, float(below[-1]))
    at = int(np.searchsorted(below, share, side="left"))
    whole, spread = divmod(at, 2)
    part = (share - below[at - 1]) / busy[whole] if spread else 0.0
    return float(min(whole + part, buffer))


def mean(queue: Queue, bursts: Bursts, buffer: int) -> float:
    """Mean wait, nobody waiting for more than a full buffer; without a limit E[Q] / rho."""
    idle, busy = _ahead(queue, bursts)
    met = np.minimum(np.arange(idle.size), buffer) @ idle
    return float(met + np.minimum(np.arange(busy.size) + 0.5, buffer) @ busy)
