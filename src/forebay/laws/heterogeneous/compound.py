"""Compound TCP: growth by window^(3/4) / 8 packets in a round trip, at least Reno's one packet.

The growth is that of paper D's Table II (its t / 32 is the integral of that rate). The window is
the sum of Reno's window and a delay window, so it never grows by less than Reno's, which is more
below 16 packets; this follows from those two facts. This module does not model delay, so the delay
window never shrinks. In reality, with a standing queue, a flow falls back to Reno.
"""

from __future__ import annotations

import numpy as np

from forebay.laws.arrays import Array
from forebay.laws.heterogeneous.growth import Growth

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
