"""What a connection sends for a loss rate and a round trip: the laws' response functions.

A response takes the log of the loss rate, the round trip, and what is fixed, and returns the log of
the window in packets, timeouts counted in. Logs keep losses of 1e-300 apart from none, and make the
solver's steps good ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from forebay.network.graph import Floats
from forebay.network.problem import Kind

Response = Callable[[Floats, Floats, Kind], Floats]

_CUBIC_C, _CUBIC_BETA = 0.4, 0.7  # RFC 9438, section 5 and 4.6
_LOG_CUBIC = 0.25 * math.log(_CUBIC_C * (3.0 + _CUBIC_BETA) / (4.0 * (1.0 - _CUBIC_BETA)))
_SCALABLE_GAIN = 0.01


def reno(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """R over RFC 5348, section 3.1, with b = 1: sqrt(2 p / 3) is the window's inverse."""
    return _with_timeouts(0.5 * (math.log(1.5) - log_loss), log_loss, rtt, kind)


def cubic(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """The larger of Reno's window and RFC 9438's average, section 5 (figure 6 there).

    Its Reno-friendly region has Reno's average by construction (section 4.3). Timeouts as `reno`.
    """
    own = _LOG_CUBIC + 0.75 * (np.log(rtt) - log_loss)
    friendly = 0.5 * (math.log(1.5) - log_loss)
    return _with_timeouts(np.maximum(own, friendly), log_loss, rtt, kind)


def hisamatsu(log_loss: Floats, timeouts: str) -> Floats:
    """Slide 9 at rest: w^2 (1 + d_to) = 3 (1 - d) / (2 d), with d_to = min(1, 3 / w) or 0.

    min(1, 3 / w) is Padhye et al. 1998's; the slide names the probability and gives no formula.
    """
    log_square = math.log(1.5) - log_loss + np.log1p(-np.exp(np.minimum(log_loss, -1e-12)))
    if timeouts == "none":
        return 0.5 * log_square
    # w^2 + 3 w = K from w = 3 (K = 18) on; below it, 2 w^2 = K
    some = np.exp(np.minimum(log_square, 300.0))
    root = np.sqrt(2.25 + some)
    above = np.where(log_square < 300.0, np.log(some / (root + 1.5)), 0.5 * log_square)
    return np.where(log_square < math.log(18.0), 0.5 * (log_square - math.log(2.0)), above)


def _with_timeouts(log_window: Floats, log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Add RFC 5348's second term: t_RTO 3 sqrt(3 p / 8) p (1 + 32 p^2), in round trips.

    t_RTO is a round trip and the least timeout, as Linux has it when round trips hardly vary.
    Senders with SACK find most losses by it, and lost retransmissions too: a timeout needs the same
    packet lost three times here (p^2 of the loss events; in the simulator, 12 of 2,400 at p = 6 %).
    """
    loss = np.exp(log_loss)
    share = loss * loss if kind.sack else np.minimum(1.0, 3.0 * np.sqrt(0.375 * loss))
    late = (rtt + kind.least_rto_s) / rtt * share * loss * (1.0 + 32.0 * loss * loss)
    with_late = log_window - np.log1p(late * np.exp(np.minimum(log_window, 600.0)))
    return np.asarray(np.minimum(with_late, math.log(kind.max_window)))


RESPONSES: dict[str, Response] = {"reno": reno, "cubic": cubic}
"""Congestion controls whose answer to loss is known here."""

SPREADS = {"reno": 0.5, "cubic": _CUBIC_BETA}
"""Share of the window that is left after a loss: what its spread follows from."""


def spread(control: str) -> float:
    """Standard deviation over mean of a linear sawtooth: (1 - b) / (sqrt(3) (1 + b))."""
    left = SPREADS[control]
    return (1.0 - left) / (math.sqrt(3.0) * (1.0 + left))
