"""CUBIC of RFC 9438: the larger of the cubic function and of Reno's estimate (§4.2, §4.3).

In steady state each loss occurs at the same window, so fast convergence (§4.7) has no effect. With
K the time of the cubic until w_max (§4.2), u = t / K and v = (w_max - w) / ((1 - beta) w_max), the
cubic is v = (1 - u)^3 and the estimate is v = 1 - s u. The estimate is larger if
s > 3 - 3 u + u^2, which falls from 3 at u = 0 to 1 at u = 1: never for s <= 1, always for s >= 3,
and otherwise from some time until the end of the epoch.
"""

from __future__ import annotations

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.heterogeneous.growth import Growth

_BETA, _C = 0.7, 0.4  # §4.6, §5


_ALPHA = 3.0 * (1.0 - _BETA) / (1.0 + _BETA)  # §4.3: Reno's mean window at this beta


def _time_to_return(w_max: Array) -> Array:
    return np.cbrt(w_max * (1.0 - _BETA) / _C)


def _steepness(w_max: Array, rtt: Array) -> Array:
    """s: slope of Reno's estimate."""
    return _ALPHA * _time_to_return(w_max) / (rtt * (1.0 - _BETA) * w_max)


def _epoch(w_max: Array, rtt: Array) -> Array:
    return _time_to_return(w_max) / np.maximum(_steepness(w_max, rtt), 1.0)


def _window(t: Array, w_max: Array, rtt: Array) -> Array:
    cubic = _C * (t - _time_to_return(w_max)) ** 3 + w_max
    return np.maximum(cubic, _BETA * w_max + _ALPHA * t / rtt)


def _moments(w_max: Array, rtt: Array) -> tuple[Array, Array]:
    """Means of w / w_max and of its square: the cubic up to the crossing, then the line."""
    steep = np.maximum(_steepness(w_max, rtt), 1.0)
    left = 1.0 - (3.0 - np.sqrt(4.0 * np.minimum(steep, 3.0) - 3.0)) / 2.0  # 1 - u at the crossing
    below = np.minimum(1.0 - steep * (1.0 - left), 1.0)  # v of the line there
    mean = steep * ((1.0 - left**4) / 4.0 + below**2 / (2.0 * steep))
    square = steep * ((1.0 - left**7) / 7.0 + below**3 / (3.0 * steep))
    lost = 1.0 - _BETA
    return 1.0 - lost * mean, 1.0 - 2.0 * lost * mean + lost**2 * square


CUBIC = Growth(
    "cubic",
    "RFC 9438, §4.2, §4.3, §4.6 (beta 0.7, C 0.4); between losses at equal windows",
    _BETA,
    rule=_window,
    duration=_epoch,
    moments=_moments,
)
