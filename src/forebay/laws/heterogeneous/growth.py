"""Growth of a window from beta w_max to w_max in one epoch, and its mean and deviation.

Yang, Zhang, Xu 2013 ("paper D"), §IV.A, eq. 4 and 5. Both integrals use Gauss-Legendre quadrature
with eight nodes. It is exact for polynomials up to degree 15, which includes the square of every
growth function of Table II, and exact to rounding for Scalable's exponential. Growth in two pieces
(`rfc9438`, `compound`) has its integrals in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array


@dataclass(frozen=True, slots=True)
class Growth:
    """Congestion window of one flow between two decreases, as a function of time.

    Attributes
    ----------
    name : name of the protocol.
    source : paper or standard, and place.
    beta : share of w_max that is left after a decrease.
    rule : function of (t in s, w_max in packets, rtt in s); the window in packets.
    duration : function of (w_max, rtt); the length T of an epoch in seconds.
    moments : function of (w_max, rtt); the means of w / w_max and of its square. None if they are
        the same for every w_max and rtt; they are then integrated from the rule.
    """

    name: str
    source: str
    beta: float
    rule: Callable[[Array, Array, Array], Array]
    duration: Callable[[Array, Array], Array]
    moments: Callable[[Array, Array], tuple[Array, Array]] | None = None

    @property
    def scale_free(self) -> bool:
        """Whether mean / w_max and deviation / mean are the same for every w_max and rtt."""
        return self.moments is None

    def window(self, t: ArrayLike, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Window in packets, `t` seconds into an epoch (Table II, column 2)."""
        return self.rule(as_array(t), as_array(w_max), as_array(rtt))

    def epoch(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Seconds from one decrease to the next (Table II, column 4)."""
        return self.duration(as_array(w_max), as_array(rtt))

    def mean(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Mean window in packets (eq. 4)."""
        return as_array(w_max) * self._shares(w_max, rtt)[0] + 0.0 * as_array(rtt)

    def deviation(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """Standard deviation of the window over time, packets (eq. 5)."""
        return as_array(w_max) * self._shares(w_max, rtt)[1] + 0.0 * as_array(rtt)

    def characteristic_value(self, w_max: ArrayLike = 1.0, rtt: ArrayLike = 1.0) -> Array:
        """a: standard deviation over mean (§IV.A, below Table III)."""
        mean, deviation = self._shares(w_max, rtt)
        return deviation / mean

    def _shares(self, w_max: ArrayLike, rtt: ArrayLike) -> tuple[Array, Array]:
        """Mean and deviation as shares of w_max; scalars where the growth is scale-free."""
        if self.moments is not None:
            mean, square = self.moments(as_array(w_max), as_array(rtt))
            return mean, np.sqrt(square - mean**2)
        places, weights = _quadrature()
        windows = self.window(self.epoch() * places)
        mean = as_array(np.sum(weights * windows))
        return mean, np.sqrt(as_array(np.sum(weights * (windows - mean) ** 2)))


@cache
def _quadrature() -> tuple[Array, Array]:
    """Nodes in [0, 1], and weights that sum to one. Computed once: its import takes 5 ms."""
    places, weights = np.polynomial.legendre.leggauss(8)
    return (places + 1.0) / 2.0, weights / 2.0
