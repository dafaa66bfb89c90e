"""Response functions: the window of a connection as a function of loss rate and RTT.

A response takes the log of the loss rate, the RTT in seconds and the constants of the connection,
and returns the log of the window in packets, reduced by timeouts. Logs represent losses as small as
1e-300, and Newton's method converges better in them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from forebay.catalogue import CONTROLS, registered
from forebay.topology.graph import Floats
from forebay.topology.problem import Kind

Response = Callable[[Floats, Floats, Kind], Floats]

_CUBIC_C, _CUBIC_BETA = 0.4, 0.7  # RFC 9438, section 5 and 4.6
_SCALABLE_GAIN, _SCALABLE_BETA = 0.01, 0.875


def reno(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Window of RFC 5348, section 3.1, with b = 1: 1 / sqrt(2 p / 3) without timeouts."""
    return _with_timeouts(0.5 * (math.log(1.5) - log_loss), log_loss, rtt, kind)


def cubic(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """The larger of Reno's window and RFC 9438's average, section 5 (figure 6 there).

    Its Reno-friendly region has Reno's average by construction (section 4.3). Timeouts as in
    `reno`.
    """
    return _cubic(_CUBIC_BETA, log_loss, rtt, kind)


def cubic_beta_0_8(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Like `cubic`, but a loss reduces the window to 0.8 of it (Yang et al. 2013, CUBIC')."""
    return _cubic(0.8, log_loss, rtt, kind)


def scalable(log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Kelly 2003, as in Linux's tcp_scalable: +0.01 for each ACKed packet, times 7/8 at a loss.

    An epoch from 7/8 w to w takes ln(8/7) / 0.01 round trips and 12.5 w packets, one of which is
    lost. So w = 0.08 / p, and the mean window is w (1/8) / ln(8/7). Below 100 packets a window
    grows by one packet in a round trip; its mean is then sqrt((1 + b) / (2 (1 - b) p)), b = 7/8.
    """
    left = _SCALABLE_BETA
    mean = (1.0 - left) / -math.log(left)
    own = math.log(mean * _SCALABLE_GAIN / (1.0 - left)) - log_loss
    linear = 0.5 * (math.log((1.0 + left) / (2.0 * (1.0 - left))) - log_loss)
    return _with_timeouts(np.maximum(own, linear), log_loss, rtt, kind)


def _cubic(left: float, log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    constant = 0.25 * math.log(_CUBIC_C * (3.0 + left) / (4.0 * (1.0 - left)))
    own = constant + 0.75 * (np.log(rtt) - log_loss)
    friendly = 0.5 * (math.log(1.5) - log_loss)
    return _with_timeouts(np.maximum(own, friendly), log_loss, rtt, kind)


def hisamatsu(log_loss: Floats, timeouts: str) -> Floats:
    """Steady state of slide 9: w^2 (1 + d_to) = 3 (1 - d) / (2 d), d_to = min(1, 3 / w) or 0.

    min(1, 3 / w) is from Padhye et al. 1998; the slide names the probability without a formula.
    """
    log_square = math.log(1.5) - log_loss + np.log1p(-np.exp(np.minimum(log_loss, -1e-12)))
    if timeouts == "none":
        return 0.5 * log_square
    # w^2 + 3 w = K for w >= 3 (K >= 18), else 2 w^2 = K
    some = np.exp(np.minimum(log_square, 300.0))
    root = np.sqrt(2.25 + some)
    above = np.where(log_square < 300.0, np.log(some / (root + 1.5)), 0.5 * log_square)
    return np.where(log_square < math.log(18.0), 0.5 * (log_square - math.log(2.0)), above)


def hisamatsu_step(
    window: Floats, loss: Floats | float, round_trips: Floats | float, timeouts: str
) -> Floats:
    """Slide 9: the window after ``round_trips`` round trips, with d_to as in `hisamatsu`.

    w(k+1) = w(k) + D / r {(1 - d) - d (1 - d_to) w 2 w / 3 - d d_to w 4 w / 3}. One factor w of the
    decrease is w(k+1), which keeps windows above 0 with any D. The steady state is the same.
    """
    by_timeout = 0.0 if timeouts == "none" else np.minimum(1.0, 3.0 / window)
    decrease = loss * (1.0 + by_timeout) * window * (2.0 / 3.0)
    grown = window + round_trips * (1.0 - loss)
    return np.asarray(grown / (1.0 + round_trips * decrease))


def _with_timeouts(log_window: Floats, log_loss: Floats, rtt: Floats, kind: Kind) -> Floats:
    """Reduce the window by RFC 5348's second term: t_RTO 3 sqrt(3 p / 8) p (1 + 32 p^2), in RTTs.

    t_RTO is the RTT plus the minimum RTO, as in Linux when the RTT hardly varies. SACK detects most
    losses, and lost retransmissions too. With SACK a timeout is therefore assumed to need the same
    packet lost three times: p^2 of the loss events (in the simulator, 12 of 2,400 at p = 6 %).
    """
    loss = np.exp(log_loss)
    share = loss * loss if kind.sack else np.minimum(1.0, 3.0 * np.sqrt(0.375 * loss))
    late = (rtt + kind.least_rto_s) / rtt * share * loss * (1.0 + 32.0 * loss * loss)
    with_late = log_window - np.log1p(late * np.exp(np.minimum(log_window, 600.0)))
    return np.asarray(np.minimum(with_late, math.log(kind.max_window)))


_FUNCTIONS: dict[str, Response] = {
    "reno": reno,
    "cubic": cubic,
    "cubic-beta-0.8": cubic_beta_0_8,
    "cubic-beta-0.7": cubic,
    "scalable": scalable,
}
"""By the names of response functions in the catalogue."""

RESPONSES = registered(CONTROLS, lambda each: each.response, _FUNCTIONS, __name__)
"""Congestion controls with a known response to loss. Without marks DCTCP and Prague halve at a loss
(RFC 8257, section 3.5). A standing queue reduces Compound's delay window to zero."""

MARKED = tuple(each.name for each in CONTROLS.values() if each.answers_marks == "in proportion")
"""Congestion controls that respond to marks; no response function to marks is implemented."""


def spread(control: str) -> float:
    """Standard deviation over mean of a linear sawtooth: (1 - b) / (sqrt(3) (1 + b))."""
    left = CONTROLS[control].kept_after_loss
    assert left is not None  # all with a response function have one: a test
    return (1.0 - left) / (math.sqrt(3.0) * (1.0 + left))
