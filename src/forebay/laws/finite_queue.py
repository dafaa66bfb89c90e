"""The queue of Poisson bursts, M^[X]/D/1, without and with a limit: exact, not only a bound.

In an unlimited buffer the number in the system obeys L(t + 1) = max(L(t) - 1, 0) + A (below). With
a buffer of B packets it is truncated at K = B + 1, which includes the packet on the wire. Each step
down is by one, so upward and downward crossings of each level below K balance in the same equation
as without the limit. The probabilities up to K are therefore those of the unlimited queue,
truncated and normalized. They exist for any load.

The utilization is 1 - p_0, and the rest of the arrivals is lost.

TCP sends lost packets again, so arrivals exceed the offered load. `with_repeats` finds the arrival
rate rho' at which the link carries all of the offered load rho.

Paper A approximates the unlimited queue (§4, App. C). One packet time from now, the packet on the
wire has left and no other packet has. So the numbers in the system at any time and one packet time
later obey

    L(t + 1) = max(L(t) - 1, 0) + A,    A the packets that arrive in between,

with A compound Poisson (Crommelin's argument for M/D/c, which is valid for bursts too). In the
steady state upward and downward crossings of any level balance, and each step down is by one:

    a_0 p_{j+1} = p_0 P(A > j) + sum_{i=1..j} p_i P(A > j + 1 - i),    p_0 = 1 - rho.

Only positive terms are added, so the tail is precise in all digits.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array
from forebay.laws.bursts import Bursts
from forebay.laws.effective_bandwidth import kappa

MASS = 1e-12
"""Largest probability beyond the last entry, by default."""


@dataclass(frozen=True, slots=True, eq=False)
class _Stationary:
    """Stationary distribution of one queue; ``in_system[j]`` is P(L = j), shape (k,)."""

    in_system: Array

    @property
    def waiting(self) -> Array:
        """P(Q = j), where Q is the packets waiting, without the one on the wire, shape (k - 1,)."""
        return np.concatenate(([self.in_system[0] + self.in_system[1]], self.in_system[2:]))


@dataclass(frozen=True, slots=True, eq=False)
class ExactQueue(_Stationary):
    """An unlimited queue; ``mass`` is the largest probability beyond the last entry."""

    mass: float

    @property
    def mean_waiting(self) -> float:
        """E[Q], packets."""
        return float(np.dot(np.arange(self.waiting.size), self.waiting))

    def tail(self, buffer: ArrayLike) -> Array:
        """P(Q >= buffer), to within `mass`."""
        above = self._above()
        level = np.clip(np.ceil(as_array(buffer)), 0, above.size - 1).astype(np.int64)
        return above[level]

    def buffer_for(self, probability: ArrayLike) -> Array:
        """Smallest whole buffer, in packets, that the queue reaches with at most `probability`.

        Raises ValueError for a probability below `mass`, the resolution of this distribution.
        """
        if np.any(as_array(probability) < self.mass):
            hint = "call exact_queue with a smaller mass"
            raise ValueError(f"probability below {self.mass:g}: {hint}")
        reached = np.searchsorted(-self._above(), -as_array(probability), side="left")
        return as_array(reached)[()]

    def _above(self) -> Array:
        """P(Q >= j), j = 0, 1, ..., and a zero at the end."""
        return np.append(np.cumsum(self.waiting[::-1])[::-1], 0.0)


def exact_queue(load: float, bursts: Bursts, mass: float = MASS) -> ExactQueue:
    """Distribution at `load` rho; ValueError unless 0 < rho < 1.

    Computing time is proportional to the tail's length times about twenty largest bursts.
    """
    exponent = float(kappa(load, bursts))
    last = math.ceil(math.log(1.0 / mass) / exponent) + 2  # exp(-kappa b) bounds the rest
    rate = load / bursts.mean
    # The tail weights arrivals by exp(kappa A). This changes their Poisson number of mean `rate` to
    # one of mean rate E[exp(kappa X)] = rate + kappa.
    many = _bursts_at_once(rate + exponent, 1e-20)
    reach = min(last + int(bursts.sizes[-1]), many * int(bursts.sizes[-1]))
    arrivals = arrivals_in_a_packet_time(rate, bursts, reach)
    above = np.cumsum(arrivals[::-1])[::-1][1:]  # P(A > j)
    states = np.zeros(last + 1)
    states[0] = 1.0 - load
    _climb(states, above, arrivals[0])
    return ExactQueue(states, mass)


def _climb(states: Array, above: Array, none: float) -> None:
    """Fill `states` from its first entry upward by the balance of each level, up to a factor."""
    falling, width = np.ascontiguousarray(above[::-1]), above.size
    for j in range(states.size - 1):
        low = max(1, j + 2 - width)
        inner = np.dot(states[low : j + 1], falling[width - 2 - j + low : width - 1])
        first = states[0] * above[j] if j < width else 0.0
        states[j + 1] = (first + inner) / none
        if states[j + 1] > _HUGE:
            states[: j + 2] /= states[j + 1]


def _bursts_at_once(mean: float, rare: float) -> int:
    """Number of bursts in one packet time, Poisson, whose probability is at most `rare`."""
    count, term = 1, mean * math.exp(-mean)
    while count < mean or term > rare:
        count += 1
        term *= mean / count
    return count


def arrivals_in_a_packet_time(rate: float, bursts: Bursts, last: int) -> Array:
    """P(A = j), j = 0 .. `last`, for Poisson bursts of `rate` a packet time (Panjer)."""
    probabilities = np.zeros(last + 1)
    probabilities[0] = math.exp(-rate)
    shares = rate * bursts.sizes * bursts.probabilities
    for j in range(1, last + 1):
        fits = int(np.searchsorted(bursts.sizes, j, side="right"))
        probabilities[j] = np.dot(shares[:fits], probabilities[j - bursts.sizes[:fits]]) / j
    return probabilities


_HUGE = 1e150
_MOST = 4.0  # arrivals over capacity above which TCP flows certainly reduce their rate
_STEPS = 40
_NEAR = 1e-6
_RARE = 1e-18


@dataclass(frozen=True, slots=True, eq=False)
class FiniteQueue(_Stationary):
    """A queue in a finite buffer, shape (K + 1,).

    ``arriving`` is the load of all arrivals, including packets that are sent again.
    """

    arriving: float

    @property
    def utilization(self) -> float:
        """Share of the time in which the wire is busy."""
        return min(max(1.0 - float(self.in_system[0]), 0.0), 1.0)

    @property
    def loss_rate(self) -> float:
        """Drops over arrivals."""
        return min(max(1.0 - self.utilization / self.arriving, 0.0), 1.0)


def finite_queue(load: float, bursts: Bursts, buffer: int) -> FiniteQueue:
    """Queue at any `load` > 0 in a buffer of `buffer` >= 1 packets.

    Computing time is proportional to the buffer times a few largest bursts.
    """
    rate, last = load / bursts.mean, buffer + 1
    reach = min(last, _bursts_at_once(rate, _RARE) * int(bursts.sizes[-1]))
    arrivals = arrivals_in_a_packet_time(rate, bursts, reach)
    above = np.maximum(1.0 - np.cumsum(arrivals), 0.0)  # P(A > j), j = 0 .. reach
    states = np.zeros(last + 1)
    states[0] = 1.0
    _climb(states, above, float(arrivals[0]))
    return FiniteQueue(np.asarray(states / math.fsum(states)), load)


def with_repeats(load: float, bursts: Bursts, buffer: int) -> FiniteQueue | None:
    """Queue at which the whole offered load, `load` < 1, is finally carried.

    None if more than `_MOST` times the capacity would have to arrive: flows then reduce their rate
    and are no longer bursts. The carried load increases with arrivals, so the solution is unique.
    It is found by false position, with half the weight for an end that stays (Illinois).
    """
    queue = finite_queue(load, bursts, buffer)
    if queue.loss_rate < _NEAR:
        return queue
    high = finite_queue(_MOST, bursts, buffer)
    if high.utilization < load:
        return None
    ends = [(load, queue.utilization - load), (_MOST, high.utilization - load)]
    for _ in range(_STEPS):
        (low, short), (top, over) = ends
        middle = low - short * (top - low) / (over - short)
        queue = finite_queue(middle, bursts, buffer)
        apart = queue.utilization - load
        if abs(apart) <= _NEAR * load:
            break
        ends = [(low, short / 2.0), (middle, apart)]
        if apart < 0:
            ends = [(middle, apart), (top, over / 2.0)]
    return queue
