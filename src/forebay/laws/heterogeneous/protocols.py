"""The protocols: growth functions of paper D's Table II, and of today's protocols.

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
"""

from __future__ import annotations

import math

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.heterogeneous.growth import Growth
from forebay.laws.heterogeneous.rfc9438 import CUBIC

_BETA = 0.5
_REACH = 16.0  # window at which window^(3/4) / 8 is one packet


def fourth_root(values: Array) -> Array:
    """Return the fourth root; w^(1/4) of CTCP grows linearly, by 1/32 in a round trip."""
    return np.sqrt(np.sqrt(values))


def _change(w_max: Array) -> Array:
    """Window at which the scalable growth begins, within [beta w_max, w_max]."""
    return np.minimum(np.maximum(_BETA * w_max, _REACH), w_max)


def _round_trips(w_max: Array) -> tuple[Array, Array]:
    """Round trips with Reno's growth, then with the scalable growth."""
    change = _change(w_max)
    return change - _BETA * w_max, 32.0 * (fourth_root(w_max) - fourth_root(change))


def _epoch(w_max: Array, rtt: Array) -> Array:
    first, second = _round_trips(w_max)
    return (first + second) * rtt


def _window(t: Array, w_max: Array, rtt: Array) -> Array:
    rounds, (first, _) = t / rtt, _round_trips(w_max)
    later = fourth_root(_change(w_max)) + np.maximum(rounds - first, 0.0) / 32.0
    return np.where(rounds < first, _BETA * w_max + rounds, later**4)


def _moments(w_max: Array, rtt: Array) -> tuple[Array, Array]:
    low, change = _BETA * w_max, _change(w_max)
    early, late = fourth_root(change), fourth_root(w_max)
    first, second = _round_trips(w_max)
    total = (change**2 - low**2) / 2.0 + 32.0 * (late**5 - early**5) / 5.0
    squares = (change**3 - low**3) / 3.0 + 32.0 * (late**9 - early**9) / 9.0
    scale = (first + second) * w_max + 0.0 * rtt
    return total / scale, squares / (scale * w_max)


COMPOUND = Growth(
    "compound",
    "Yang et al. 2013, Table II (CTCP), and Reno's growth below 16 packets",
    _BETA,
    rule=_window,
    duration=_epoch,
    moments=_moments,
)


_CUBIC_C = 0.4
_SCALABLE_GAIN = 0.01


def _linear(beta: float, name: str, source: str) -> Growth:
    return Growth(
        name,
        source,
        beta,
        rule=lambda t, w, r: beta * w + t / r,
        duration=lambda w, r: (1.0 - beta) * w * r,
    )


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


RENO = _linear(0.5, "reno", "Yang et al. 2013, Table II")
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

PROTOCOLS: dict[str, Growth] = {
    each.name: each
    for each in (
        RENO, BIC, CUBIC_BETA_0_8, CUBIC_BETA_0_7, CTCP, CUBIC, COMPOUND, SCALABLE,
    )
}  # fmt: skip
"""Every protocol with a growth function; the first five are paper D's."""

PAPER_D = ("reno", "bic", "cubic_beta_0_8", "cubic_beta_0_7", "ctcp")

OF_PAPER_D_ALONE = ("cubic_beta_0_8", "cubic_beta_0_7", "ctcp")
"""Growth functions that the laws take only by these names, not for a congestion control."""

EPOCH_AS_PRINTED = {
    "reno": RENO.epoch,
    "bic": BIC.epoch,
    "cubic_beta_0_8": lambda w, r: np.cbrt(w * 0.8 / _CUBIC_C),
    "cubic_beta_0_7": lambda w, r: np.cbrt(w * 0.7 / _CUBIC_C),
    "ctcp": lambda w, r: 5.1 * fourth_root(w) * r,
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
