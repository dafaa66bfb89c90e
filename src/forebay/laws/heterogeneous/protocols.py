"""The protocols: growth functions of paper D's Table II, and of today's protocols.

Time is in seconds and R is the round-trip time. Errors of the paper:

* CUBIC's epoch is printed with beta, but w(0) = beta w_max needs 1 - beta. `EPOCH_AS_PRINTED` has
  the printed epochs. Table III follows from the correct ones.
* CTCP's t / 32 needs t in round trips, or the growth would not be that of its source.
* BIC's growth function covers only its first round trip, 0.8 to 0.9 w_max, as printed.
"""

from __future__ import annotations

import math

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.heterogeneous.compound import COMPOUND, fourth_root
from forebay.laws.heterogeneous.growth import Growth
from forebay.laws.heterogeneous.rfc9438 import CUBIC

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
