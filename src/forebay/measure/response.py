"""How many flows a loss rate means: response functions of congestion controls, inverted.

A flow that loses one packet a cycle and whose mean window is w sends w/RTT; with X packets a second
on the link there are n = X RTT / w of them. The cycle between two losses, and so w as a function of
the loss rate, is `laws.sawtooth` for Reno (8/3 of a squared window a cycle, for a growth of one
packet a round trip) and `laws.heterogeneous.rfc9438` for CUBIC.
"""

from __future__ import annotations

from collections.abc import Callable

from forebay.errors import argument
from forebay.measure.errors import MeasureError

CONTROLS = ("reno", "cubic")
DELAYED = 0.5
"""Growth of a Reno window whose receiver acknowledges every second packet; 1 where each counts."""
SMALLEST = 2.0
"""Below this mean window flows time out, and no response function holds (paper A, section 5)."""
_LARGEST = 1e9
"""Packets: of one byte each no more fit TCP's largest window, 2^30 B (RFC 7323, section 2.3)."""


def mean_windows(control: str, loss: float, rtt_s: float) -> list[float]:
    """Return the mean windows in packets that a loss rate allows, one a reading of the law.

    Parameters
    ----------
    control
        One of `CONTROLS`.
    loss
        Drops over arrivals, above 0.
    rtt_s
        Mean round trip, queueing included.
    """
    if control == "reno":
        return [_reno(loss, growth) for growth in (1.0, DELAYED)]
    if control == "cubic":
        return [_cubic(loss, rtt_s)]
    known = " or ".join(CONTROLS)
    wrong = f"{argument('congestion_control')}: losses do not tell how many flows run {control}"
    raise MeasureError(f"{wrong}; write {known}")


def _reno(loss: float, growth: float) -> float:
    from forebay.laws.sawtooth import loss_rate

    # Without a queue the mean window is 3/4 of the largest, whatever their product with n.
    return _inverted(lambda largest: float(loss_rate(0.0, largest, 1.0, growth)), loss) * 0.75


def _cubic(loss: float, rtt_s: float) -> float:
    import numpy as np

    from forebay.laws.heterogeneous.rfc9438 import CUBIC

    rtt = np.asarray(rtt_s)

    def mean(largest: float) -> float:
        assert CUBIC.moments is not None  # its means are closed forms
        found, _ = CUBIC.moments(np.asarray(largest), rtt)
        return largest * float(found)

    def rate(largest: float) -> float:
        cycle_s = float(CUBIC.duration(np.asarray(largest), rtt))
        return rtt_s / (mean(largest) * cycle_s)

    return mean(_inverted(rate, loss))


def _inverted(rate: Callable[[float], float], loss: float) -> float:
    """Return the largest window whose loss rate is ``loss``; the rate falls in it."""
    from scipy.optimize import brentq

    if rate(1.0) <= loss:
        return 1.0
    if rate(_LARGEST) >= loss:
        return _LARGEST
    return float(brentq(lambda window: rate(window) - loss, 1.0, _LARGEST, rtol=1e-9))
