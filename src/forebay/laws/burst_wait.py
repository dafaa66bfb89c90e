"""What one packet of a burst waits for: the queue it meets and its own burst ahead of it.

A burst meets the number in the system at any moment, for Poisson arrivals see time averages;
its k-th packet then has k - 1 of its own in front. All are packet times; exact for the mean,
and to one packet time for the distribution, as the packet on the wire is partly sent.
"""

from __future__ import annotations

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.bursts import Bursts
from forebay.laws.exact_bursts import ExactQueue


def ahead(queue: ExactQueue, bursts: Bursts) -> Array:
    """P(a packet finds j others ahead of it, the one on the wire included), shape (k,).

    A packet is in place i of its burst with probability P(X >= i) / E[X].
    """
    places = np.arange(1, int(bursts.sizes[-1]) + 1)
    reached = bursts.probabilities @ (bursts.sizes[:, None] >= places)
    return np.convolve(queue.in_system, reached / bursts.mean)


def waits(queue: ExactQueue, bursts: Bursts, probability: float, buffer: int) -> float:
    """Wait that this share of the packets does not exceed, packet times; full buffer at most."""
    below = np.cumsum(ahead(queue, bursts))
    found = int(np.searchsorted(below, min(probability, below[-1]), side="left"))
    return float(min(found, buffer))


def mean_wait(queue: ExactQueue, bursts: Bursts, load: float, buffer: int) -> float:
    """Mean wait, packet times, nobody waiting for more than a full buffer.

    Half of the packet on the wire is left on average. Without a limit it is E[Q] / rho.
    """
    share = ahead(queue, bursts)
    met = np.minimum(np.arange(share.size), buffer)
    return float(np.dot(met, share) - load / 2.0)
