"""Growth of a window between two losses, and the protocols: paper D's Table II, and today's.

`Growth` goes from beta w_max to w_max in one epoch (Yang, Zhang, Xu 2013, "paper D", §IV.A, eq. 4
and 5). Where its mean and deviation are not in closed form, both integrals use Gauss-Legendre
quadrature with eight nodes. It is exact for polynomials up to degree 15, which includes the square
of every growth function of Table II, and exact to rounding for Scalable's exponential.

Time is in seconds and R is the round-trip time. Errors of the paper:

* CUBIC's epoch is printed with beta, but w(0) = beta w_max needs 1 - beta. `EPOCH_AS_PRINTED` has
  the printed epochs. Table III follows from the correct ones.
* CTCP's t / 32 needs t in round trips, or the growth would not be that of its source.
* BIC's growth function covers only its first round trip, 0.8 to 0.9 w_max, as printed.

Today's Compound TCP grows by window^(3/4) / 8 packets in a round trip, at least by Reno's one. It
is that of paper D's Table II (its t / 32 is the integral of that rate). The window is the sum of
Reno's window and a delay window, so it never grows by less than Reno's, which is more below 16
packets; this follows from those two facts. This module does not model delay, so the delay window
never shrinks. In reality, with a standing queue, a flow falls back to Reno.

CUBIC of RFC 9438 is the larger of the cubic function and of Reno's estimate (§4.2, §4.3). In steady
state each loss occurs at the same window, so fast convergence (§4.7) has no effect. With K the time
of the cubic until w_max (§4.2), u = t / K and v = (w_max - w) / ((1 - beta) w_max), the cubic is
v = (1 - u)^3 and the estimate is v = 1 - s u. The estimate is larger if s > 3 - 3 u + u^2, which
falls from 3 at u = 0 to 1 at u = 1: never for s <= 1, always for s >= 3, and otherwise from some
time until the end of the epoch.
"""

import math
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


_BETA_OF_RENO = 0.5
_REACH = 16.0  # window at which window^(3/4) / 8 is one packet


def fourth_root(values: Array) -> Array:
    """Return the fourth root; w^(1/4) of CTCP grows linearly, by 1/32 in a round trip."""
    return np.sqrt(np.sqrt(values))


def _change(w_max: Array) -> Array:
    """Window at which the scalable growth begins, within [beta w_max, w_max]."""
    return np.minimum(np.maximum(_BETA_OF_RENO * w_max, _REACH), w_max)


def _round_trips(w_max: Array) -> tuple[Array, Array]:
    """Round trips with Reno's growth, then with the scalable growth."""
    change = _change(w_max)
    return change - _BETA_OF_RENO * w_max, 32.0 * (fourth_root(w_max) - fourth_root(change))


def _compound_window(t: Array, w_max: Array, rtt: Array) -> Array:
    rounds, (first, _) = t / rtt, _round_trips(w_max)
    later = fourth_root(_change(w_max)) + np.maximum(rounds - first, 0.0) / 32.0
    return np.where(rounds < first, _BETA_OF_RENO * w_max + rounds, later**4)


def _compound_moments(w_max: Array, rtt: Array) -> tuple[Array, Array]:
    low, change = _BETA_OF_RENO * w_max, _change(w_max)
    early, late = fourth_root(change), fourth_root(w_max)
    first, second = _round_trips(w_max)
    total = (change**2 - low**2) / 2.0 + 32.0 * (late**5 - early**5) / 5.0
    squares = (change**3 - low**3) / 3.0 + 32.0 * (late**9 - early**9) / 9.0
    scale = (first + second) * w_max + 0.0 * rtt
    return total / scale, squares / (scale * w_max)


COMPOUND = Growth(
    "compound",
    "Yang et al. 2013, Table II (CTCP), and Reno's growth below 16 packets",
    _BETA_OF_RENO,
    rule=_compound_window,
    duration=lambda w_max, rtt: sum(_round_trips(w_max)) * rtt,
    moments=_compound_moments,
)


_CUBIC_C = 0.4
_SCALABLE_GAIN = 0.01


def _cubic_window(t: Array, w: Array, beta: float) -> Array:
    to_go = t - _cubic_epoch(w, beta)
    return _CUBIC_C * to_go * to_go * to_go + w  # faster than ** 3


def _cubic_epoch(w: Array, beta: float) -> Array:
    return np.cbrt(w * (1.0 - beta) / _CUBIC_C)


def _cubic(beta: float, name: str, source: str) -> Growth:
    return Growth(
        name,
        source,
        beta,
        rule=lambda t, w, r: _cubic_window(t, w, beta),
        duration=lambda w, r: _cubic_epoch(w, beta) + 0.0 * r,
    )


RENO = Growth(
    "reno",
    "Yang et al. 2013, Table II",
    beta=0.5,
    rule=lambda t, w, r: 0.5 * w + t / r,
    duration=lambda w, r: (1.0 - 0.5) * w * r,
)
BIC = Growth(
    "bic",
    "Yang et al. 2013, Table II",
    beta=0.8,
    rule=lambda t, w, r: 0.8 * w + 0.1 * w * t / r,
    duration=lambda w, r: 1.0 * r + 0.0 * w,
)
CUBIC_BETA_0_8 = _cubic(0.8, "cubic_beta_0_8", "Yang et al. 2013, Table II: CUBIC'")
CUBIC_BETA_0_7 = _cubic(0.7, "cubic_beta_0_7", "Yang et al. 2013, Table II: CUBIC''")
CTCP = Growth(
    "ctcp",
    "Yang et al. 2013, Table II",
    beta=0.5,
    rule=lambda t, w, r: (t / (32.0 * r) + fourth_root(0.5 * w)) ** 4,
    duration=lambda w, r: 32.0 * r * (1.0 - 0.5**0.25) * fourth_root(w),
)

SCALABLE = Growth(
    "scalable",
    "Kelly 2003, by Linux's tcp_scalable: 0.01 for each packet acknowledged, 7/8 left at a loss",
    beta=0.875,
    rule=lambda t, w, r: 0.875 * w * np.exp(_SCALABLE_GAIN * t / r),
    duration=lambda w, r: math.log(1.0 / 0.875) / _SCALABLE_GAIN * r + 0.0 * w,
)

_BETA_OF_CUBIC = 0.7  # RFC 9438, §4.6; its C (§5) is Table II's


def friendly_growth(beta: float) -> float:
    """Growth at which a window with decrease `beta` has Reno's mean (RFC 9438, §4.3)."""
    return 3.0 * (1.0 - beta) / (1.0 + beta)


_ALPHA = friendly_growth(_BETA_OF_CUBIC)


def _steepness(w_max: Array, rtt: Array) -> Array:
    """s: slope of Reno's estimate."""
    return _ALPHA * _cubic_epoch(w_max, _BETA_OF_CUBIC) / (rtt * (1.0 - _BETA_OF_CUBIC) * w_max)


def _friendly_window(t: Array, w_max: Array, rtt: Array) -> Array:
    cubic = _CUBIC_C * (t - _cubic_epoch(w_max, _BETA_OF_CUBIC)) ** 3 + w_max
    return np.maximum(cubic, _BETA_OF_CUBIC * w_max + _ALPHA * t / rtt)


def _friendly_moments(w_max: Array, rtt: Array) -> tuple[Array, Array]:
    """Means of w / w_max and of its square: the cubic up to the crossing, then the line."""
    steep = np.maximum(_steepness(w_max, rtt), 1.0)
    left = 1.0 - (3.0 - np.sqrt(4.0 * np.minimum(steep, 3.0) - 3.0)) / 2.0  # 1 - u at the crossing
    below = np.minimum(1.0 - steep * (1.0 - left), 1.0)  # v of the line there
    mean = steep * ((1.0 - left**4) / 4.0 + below**2 / (2.0 * steep))
    square = steep * ((1.0 - left**7) / 7.0 + below**3 / (3.0 * steep))
    lost = 1.0 - _BETA_OF_CUBIC
    return 1.0 - lost * mean, 1.0 - 2.0 * lost * mean + lost**2 * square


CUBIC = Growth(
    "cubic",
    "RFC 9438, §4.2, §4.3, §4.6 (beta 0.7, C 0.4); between losses at equal windows",
    _BETA_OF_CUBIC,
    rule=_friendly_window,
    duration=lambda w_max, rtt: (
        _cubic_epoch(w_max, _BETA_OF_CUBIC) / np.maximum(_steepness(w_max, rtt), 1.0)
    ),
    moments=_friendly_moments,
)

PROTOCOLS: dict[str, Growth] = {
    protocol.name: protocol
    for protocol in (
        RENO, BIC, CUBIC_BETA_0_8, CUBIC_BETA_0_7, CTCP, CUBIC, COMPOUND, SCALABLE,
    )
}  # fmt: skip
"""Every protocol with a growth function; the first five are paper D's."""

PAPER_D = ("reno", "bic", "cubic_beta_0_8", "cubic_beta_0_7", "ctcp")

OF_PAPER_D_ALONE = ("cubic_beta_0_8", "cubic_beta_0_7", "ctcp")
"""Growth functions that the laws take only by these names, not for a congestion control."""

EPOCH_AS_PRINTED: dict[str, Callable[..., Array]] = {
    "reno": RENO.epoch,
    "bic": BIC.epoch,
    "cubic_beta_0_8": lambda w, r: np.cbrt(w * 0.8 / _CUBIC_C),
    "cubic_beta_0_7": lambda w, r: np.cbrt(w * 0.7 / _CUBIC_C),
    "ctcp": lambda w, r: 5.1 * w**0.25 * r,
}
"""Table II, column 4 as printed: (w_max, rtt) to seconds."""

TABLE_3_AS_PRINTED: dict[str, tuple[float, float]] = {
    "reno": (0.75, 1.0 / (3.0 * math.sqrt(3.0))),
    "bic": (0.85, 0.0241),
    "cubic_beta_0_8": (0.95, 0.06),
    "cubic_beta_0_7": (0.925, 0.09),
    "ctcp": (0.73, 0.19),
}
"""Table III as printed: mean over w_max, standard deviation over mean."""
