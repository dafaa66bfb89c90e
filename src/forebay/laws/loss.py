"""Loss rate from the mean window, 0.76 / w^2 (Morris 2000, in paper A, §5.1.1).

By `sawtooth.loss_rate` the constant is 3/2 if a window grows by a packet in a round trip, and 3/4
if delayed ACKs halve the growth. So 0.76 is for senders that count delayed ACKs.
"""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law
from forebay.scenario import Scenario

_CONSTANT = 0.76


def window(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Window of one of `n` flows, packets: (2 Tp C + B) / n (eq. 1 at a full queue, as §5.1.1)."""
    return (as_array(bdp) + as_array(buffer)) / as_array(n)


def loss_rate(window: ArrayLike) -> Array:
    """Drops over arrivals for a mean `window` in packets; not valid below about 2."""
    return _CONSTANT / as_array(window) ** 2


def buffer_for(target: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Smallest buffer, in packets, with a loss rate of at most `target`; zero if none is needed."""
    needed = as_array(n) * np.sqrt(_CONSTANT / as_array(target)) - as_array(bdp)
    return np.maximum(needed, 0.0)


def _packets(scenario: Scenario) -> float | None:
    target = scenario.goals.loss_rate
    return float(buffer_for(target, scenario.bdp_packets, scenario.n_flows)) if target else None


LAW = Law(
    name="appenzeller-2004/loss",
    source="Morris 2000, in Appenzeller et al. 2004, §5.1.1 and eq. 1",
    packets=_packets,
    utilization=lambda _: None,  # it covers only loss
    checks=(*assumptions.DESYNCHRONIZED, assumptions.half_growth),
)
