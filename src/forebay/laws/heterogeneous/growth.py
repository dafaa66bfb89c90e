"""How a window grows from beta w_max to w_max in one epoch, and its mean and spread.

Yang, Zhang, Xu 2013 ("paper D"), §IV.A, eq. 4 and 5. Both integrals are taken by Gauss-Legendre
quadrature with eight nodes on each smooth piece: exact for polynomials up to degree 15, which
covers the square of every polynomial growth function here, and exact to rounding for the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_PLACES, _SHARES = (_NODES + 1.0) / 2.0, _WEIGHTS / 2.0  # on [0, 1]


@dataclass(frozen=True, slots=True)
class Growth:
    """Congestion window of one flow between two decreases, as a function of time.

    Attributes
    ----------
    name : the protocol's.
    source : paper or standard, and place.
    beta : share of w_max that is left after a decrease.
    rule : (t in s, w_max in packets, rtt in s) to the window in packets.
    duration : (w_max, rtt) to the length T of an epoch in seconds.
    knee : (w_max, rtt) to the time in [0, T] at which one formula gives way to another.
    scale_free : whether mean / w_max and spread / mean are the same for every w_max and rtt.
    """

    name: str
    source: str
    beta: float
    rule: Callable[[Array, Array, Array], Array]
    duration: Callable[[Array, Array], Array]
    knee: Callable[[Array, Array], Array] | None = None
    scale_free: bool = True

    def window(self, t: ArrayLike, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Window in packets, `t` seconds into an epoch (Table II, column 2)."""
        return self.rule(as_array(t), as_array(w_max), as_array(rtt))

    def epoch(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Seconds from one decrease to the next (Table II, column 4)."""
        return self.duration(as_array(w_max), as_array(rtt))

    def mean(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Mean window in packets (eq. 4)."""
        times, shares = self._nodes(w_max, rtt)
        windows = self.rule(times, _last(w_max), _last(rtt))
        return as_array(np.sum(shares * windows, axis=-1))[()]

    def deviation(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Standard deviation of the window over time, packets (eq. 5)."""
        times, shares = self._nodes(w_max, rtt)
        apart = self.rule(times, _last(w_max), _last(rtt)) - _last(self.mean(w_max, rtt))
        return np.sqrt(as_array(np.sum(shares * apart**2, axis=-1)))

    def characteristic_value(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """a: standard deviation over mean (§IV.A, below Table III)."""
        return self.deviation(w_max, rtt) / self.mean(w_max, rtt)

    def _nodes(self, w_max: ArrayLike, rtt: ArrayLike) -> tuple[Array, Array]:
        """Times to look at, along a new last axis, and what share of the epoch each stands for."""
        end = _last(self.epoch(w_max, rtt))
        if self.knee is None:
            return end * _PLACES, _SHARES
        middle = _last(self.knee(as_array(w_max), as_array(rtt)))
        times = [middle * _PLACES, middle + (end - middle) * _PLACES]
        part = middle / end
        return np.concatenate(times, axis=-1), np.concatenate(
            [part * _SHARES, (1.0 - part) * _SHARES], axis=-1
        )


def _last(values: ArrayLike) -> Array:
    return as_array(values)[..., np.newaxis]
