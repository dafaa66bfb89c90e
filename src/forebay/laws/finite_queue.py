"""The queue of Poisson bursts in a finite buffer: the exact loss rate, not only a bound.

In an unlimited buffer the number in the system obeys L(t + 1) = max(L(t) - 1, 0) + A
(`forebay.laws.exact_bursts`). With a buffer of B packets it is truncated at K = B + 1, which
includes the packet on the wire. Each step down is by one, so upward and downward crossings of each
level below K balance in the same equation as without the limit. The probabilities up to K are
therefore those of the unlimited queue, truncated and normalized. They exist for any load.

The utilization is 1 - p_0, and the rest of the arrivals is lost.

TCP sends lost packets again, so arrivals exceed the offered load. `with_repeats` finds the arrival
rate rho' at which the link carries all of the offered load rho.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.bursts import Bursts
from forebay.laws.exact_bursts import arrivals_in_a_packet_time

_HUGE = 1e150
_MOST = 4.0
"""Arrivals over capacity above which TCP flows certainly reduce their rate."""
_STEPS = 40
_NEAR = 1e-6
_RARE = 1e-18


@dataclass(frozen=True, slots=True, eq=False)
class FiniteQueue:
    """Stationary distribution in a finite buffer; ``in_system[j]`` is P(L = j), shape (K + 1,).

    ``arriving`` is the load of all arrivals, including packets that are sent again.
    """

    in_system: Array
    arriving: float

    @property
    def utilization(self) -> float:
        """Share of the time in which the wire is busy."""
        return min(max(1.0 - float(self.in_system[0]), 0.0), 1.0)

    @property
    def loss_rate(self) -> float:
        """Drops over arrivals."""
        return min(max(1.0 - self.utilization / self.arriving, 0.0), 1.0)

    @property
    def waiting(self) -> Array:
        """P(Q = j), where Q is the packets waiting, without the one on the wire, shape (K,)."""
        return np.concatenate(([self.in_system[0] + self.in_system[1]], self.in_system[2:]))


def finite_queue(load: float, bursts: Bursts, buffer: int) -> FiniteQueue:
    """Queue at any `load` > 0 in a buffer of `buffer` >= 1 packets.

    Computing time is proportional to the buffer times a few largest bursts.
    """
    rate, last = load / bursts.mean, buffer + 1
    reach = min(last, _bursts_at_once(rate) * int(bursts.sizes[-1]))
    arrivals = arrivals_in_a_packet_time(rate, bursts, reach)
    above = np.maximum(1.0 - np.cumsum(arrivals), 0.0)  # P(A > j), j = 0 .. reach
    return FiniteQueue(_climb(last, above, float(arrivals[0])), load)


def with_repeats(load: float, bursts: Bursts, buffer: int) -> FiniteQueue | None:
    """Queue at which the whole offered load, `load` < 1, is finally carried.

    None if more than `_MOST` times the capacity would have to arrive: flows then reduce their rate
    and are no longer bursts. The carried load increases with arrivals, so the solution is unique.
    It is found by false position, with half the weight for an end that stays (Illinois).
    """
    found = finite_queue(load, bursts, buffer)
    if found.loss_rate < _NEAR:
        return found
    high = finite_queue(_MOST, bursts, buffer)
    if high.utilization < load:
        return None
    ends = [(load, found.utilization - load), (_MOST, high.utilization - load)]
    for _ in range(_STEPS):
        (low, short), (top, over) = ends
        middle = low - short * (top - low) / (over - short)
        found = finite_queue(middle, bursts, buffer)
        apart = found.utilization - load
        if abs(apart) <= _NEAR * load:
            break
        ends = (
            [(middle, apart), (top, over / 2.0)]
            if apart < 0
            else [(low, short / 2.0), (middle, apart)]
        )
    return found


def _bursts_at_once(rate: float) -> int:
    """Number of bursts in one packet time that is practically never exceeded."""
    count, term = 1, rate * math.exp(-rate)
    while count < rate or term > _RARE:
        count += 1
        term *= rate / count
    return count


def _climb(last: int, above: Array, none: float) -> Array:
    """States 0 .. `last` by the balance of each level, as in `exact_bursts`."""
    states = np.zeros(last + 1)
    states[0] = 1.0
    falling, width = np.ascontiguousarray(above[::-1]), above.size
    for j in range(last):
        low = max(1, j + 2 - width)
        inner = float(np.dot(states[low : j + 1], falling[width - 2 - j + low : width - 1]))
        first = states[0] * above[j] if j < width else 0.0
        states[j + 1] = (first + inner) / none
        if states[j + 1] > _HUGE:
            states[: j + 2] /= states[j + 1]
    return np.asarray(states / math.fsum(states))
