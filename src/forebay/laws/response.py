"""Loss rate at which flows fill a link, by the response functions of their congestion controls.

Every flow loses one packet in each epoch, in which it sends N packets. N is the integral of its
growth function (Yang, Zhang, Xu 2013, Table II; RFC 9438 for CUBIC) over the epoch and its RTT; the
loss rate is 1 / (1 + N). For Reno N is 3/8 w_max^2, so w^2 = 3/2 (1 - p) / p. This is the balance
of Hisamatsu 2007, slide 9, and for small p the response function of RFC 5348, section 3.1, without
timeouts. Timeouts add the second term of that section, T0 min(1, 3 sqrt(3 p / 8)) p (1 + 32 p^2)
seconds for each packet (Padhye et al. 1998, eq. 30, which has the min).

All flows at a drop-tail queue have the same loss rate, whatever their RTT. So flows with shorter
RTTs send more, and the sum of the rates depends on the mean of 1 / RTT, not of the RTT.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from forebay import catalogue
from forebay.catalogue import registered
from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.protocols import PROTOCOLS, friendly_growth
from forebay.laws.law import Law
from forebay.laws.quantities import path_window
from forebay.scenario import Scenario
from forebay.words import Fact

LEAST, MOST = 1e-9, 0.99
"""Range of loss rates in which the balance is searched."""

BAND = (0.5, 3.3)
"""Simulated over predicted loss rate: 157 of 160 random links were in this band.

It is not derived. The links have ten or more flows, a drop-tail queue, 5 to 100 Mbit/s, 3 to 220 ms
and windows of at least 1.5 packets (`benches/loss_band.py`). The ends come from 108 other links.
One packet in each epoch is the minimum: an overflow drops several packets of some flows.
"""

LEAST_WINDOW = 1.5
"""Smallest window of the flows on these links, in packets."""

_LOSSES = np.geomspace(LEAST, MOST, 400)
_WINDOWS = np.geomspace(1.0, 1e8, 300)


@dataclass(frozen=True, slots=True)
class _Control:
    """A growth function, and the minimum growth of the window in packets for each round trip."""

    growth: str
    least: float = 0.0


_RESPONSES = {
    "reno": _Control("reno"),
    "cubic": _Control("cubic"),
    "cubic-beta-0.8": _Control("cubic_beta_0_8", friendly_growth(0.8)),
    "cubic-beta-0.7": _Control("cubic_beta_0_7", friendly_growth(0.7)),
    "scalable": _Control("scalable", 1.0),  # Reno's growth below 100 packets
}
"""By the names of response functions in the catalogue."""

CONTROLS = registered(catalogue.CONTROLS, lambda control: control.response, _RESPONSES, __name__)
"""By the name of a congestion control. The others are model-based, or have no growth function
of a whole epoch (BIC's printed one covers one round trip)."""


@dataclass(frozen=True, slots=True)
class Flows:
    """Equal flows: their number, control, RTT with queueing and timeout, both in seconds.

    ``growth`` is 1/2 if the sender counts delayed ACKs, so that its window grows half as fast;
    ``most`` is the receiver's window in packets.
    """

    count: float
    control: str
    rtt: float
    timeout: float
    growth: float = 1.0
    most: float = math.inf


def window(loss_rate: ArrayLike, control: str, rtt: float, growth: float = 1.0) -> Array:
    """Mean window in packets at a loss rate, without timeouts."""
    losses, means = _curve(control, rtt, growth)
    log_loss = np.log(as_array(loss_rate))
    return np.exp(np.interp(log_loss, losses, means))


def rate(loss_rate: ArrayLike, flows: Flows) -> Array:
    """Packets per second of one flow at a loss rate, with timeouts."""
    p = as_array(loss_rate)
    late = flows.timeout * np.minimum(1.0, 3.0 * np.sqrt(3.0 * p / 8.0)) * p * (1.0 + 32.0 * p**2)
    held = np.minimum(window(p, flows.control, flows.rtt, flows.growth), flows.most)
    return as_array(1.0 / (flows.rtt / held + late))


def loss_rate(flows: Sequence[Flows], packets_per_second: float) -> float | None:
    """Loss rate at which `flows` together send this rate; None if there is none in the range."""
    total = np.zeros_like(_LOSSES)
    for flow in flows:
        total += flow.count * rate(_LOSSES, flow)
    if not total[-1] <= packets_per_second <= total[0]:
        return None
    return float(np.exp(np.interp(-np.log(packets_per_second), -np.log(total), np.log(_LOSSES))))


def wide_windows(scenario: Scenario) -> Fact | None:
    """Windows are in the range for which the band was measured."""
    window = path_window(scenario)
    if window >= LEAST_WINDOW:
        return None
    return Fact("broken.wide-windows", window=window, least=LEAST_WINDOW)


LAW = Law(
    name="padhye-1998/response",
    source="Padhye et al. 1998 and RFC 5348, section 3.1 (timeouts); Yang et al. 2013, Table II, "
    f"and RFC 9438 (growth); found {BAND[0]:g} to {BAND[1]:g} times as high by simulation",
    packets=lambda _: None,
    utilization=lambda _: None,
    checks=(wide_windows,),
)
"""The source of a loss rate. It gives no buffer, so no table of laws lists it."""


@lru_cache(maxsize=256)
def _curve(control: str, rtt: float, growth: float) -> tuple[Array, Array]:
    """Logarithms of loss rates, ascending, and of their mean windows."""
    known = CONTROLS[control]
    law = PROTOCOLS[known.growth]
    mean, rounds = law.mean(_WINDOWS, rtt), law.epoch(_WINDOWS, rtt) / rtt
    if known.least:
        rounds = np.minimum(rounds, (1.0 - law.beta) * _WINDOWS / known.least)
    return -np.log1p(mean * rounds / growth)[::-1], np.log(mean)[::-1]
