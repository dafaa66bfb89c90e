"""The number of flows by a loss rate: inverted response functions of congestion controls.

A flow that loses one packet in each cycle and has the mean window w sends w/RTT. With X packets per
second on the link there are n = X RTT / w flows. w as a function of the loss rate follows from the
cycle between two losses: `laws.sawtooth` for Reno and `laws.heterogeneous.rfc9438` for CUBIC.
"""

from __future__ import annotations

from collections.abc import Callable

from forebay import catalogue
from forebay.errors import argument
from forebay.measure.errors import MeasureError

CONTROLS = tuple(each.name for each in catalogue.CONTROLS.values() if each.population)
"""Congestion controls with a law of this kind."""
DELAYED = 0.5
"""Growth of a Reno window if the receiver acknowledges every second packet; else it is 1."""
SMALLEST = 2.0
"""With smaller mean windows flows time out, and response functions fail (paper A, section 5)."""
_LARGEST = 1e9
"""In packets: TCP's largest window, 2^30 B (RFC 7323, section 2.3), in packets of one byte."""


def mean_windows(control: str, loss: float, rtt_s: float) -> list[float]:
    """Return the mean windows in packets for a loss rate, one for each variant of the law.

    Parameters
    ----------
    control
        One of `CONTROLS`.
    loss
        Drops over arrivals, above 0.
    rtt_s
        Mean RTT, including queueing.
    """
    if control in _WINDOWS:
        return _WINDOWS[control](loss, rtt_s)
    known = " or ".join(CONTROLS)
    wrong = (
        f"{argument('congestion_control')}: losses do not give the number of flows with {control}"
    )
    raise MeasureError(f"{wrong}; write {known}")


def _reno(loss: float, growth: float) -> float:
    from forebay.laws.sawtooth import loss_rate

    # Without a queue the mean window is 3/4 of the largest, for any n.
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


_LAWS: dict[str, Callable[[float, float], list[float]]] = {
    "reno": lambda loss, _: [_reno(loss, growth) for growth in (1.0, DELAYED)],
    "cubic": lambda loss, rtt_s: [_cubic(loss, rtt_s)],
}
_WINDOWS = catalogue.registered(catalogue.CONTROLS, lambda each: each.population, _LAWS, __name__)


def _inverted(rate: Callable[[float], float], loss: float) -> float:
    """Return the largest window with the loss rate ``loss``; the rate decreases with it."""
    from scipy.optimize import brentq

    if rate(1.0) <= loss:
        return 1.0
    if rate(_LARGEST) >= loss:
        return _LARGEST
    return float(brentq(lambda window: rate(window) - loss, 1.0, _LARGEST, rtol=1e-9))
