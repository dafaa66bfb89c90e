"""Number of flows by their length in packets, from a scenario's distribution."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from forebay.laws.arrays import Array, as_array
from forebay.scenario.cut_laws import lognormal_sigma, lognormal_tail, pareto_tail
from forebay.scenario.distribution_shapes import lower_end

if TYPE_CHECKING:
    from forebay.scenario import FlowLength
    from forebay.scenario.distribution_shapes import PacketLaw

LONGEST = 20_000
"""In packets. Longer flows count as flows of this length; they have left slow start."""
_MASS = 1e-13


@lru_cache(maxsize=64)
def flow_lengths(length: FlowLength, packet_bytes: int) -> tuple[Array, Array]:
    """Lengths in packets, ascending, and the probability of each; both of shape (k,).

    Lengths are rounded as in the draw: to the nearest number, at least one.
    """
    if length.kind == "fixed":
        return as_array([length.mean_packets(packet_bytes)]), as_array([1.0])
    law = length.in_packets(packet_bytes)
    above = _geometric(law) if law.kind == "geometric" else _rounded(law)
    return np.arange(1.0, above.size + 1), -np.diff(np.append(above, 0.0))


def _geometric(law: PacketLaw) -> Array:
    """P(length >= j), j = 1, 2, ...: each packet is the last with the same probability."""
    stays = 1.0 - 1.0 / law.mean
    last = min(LONGEST, math.ceil(math.log(_MASS) / math.log(stays)) + 1)
    return as_array(stays ** np.arange(last))


def _rounded(law: PacketLaw) -> Array:
    """P(max(1, round X) >= j), j = 1, 2, ..., which is P(X > j - 1/2) from j = 2 on."""
    low = lower_end(law.kind, law.mean, law.shape, law.deviation, law.high)
    last = min(LONGEST, max(1, math.floor(law.high + 0.5)))
    at = [j - 0.5 for j in range(2, last + 1)]
    if law.kind == "pareto":
        tail = [pareto_tail(x, law.shape, low, law.high) for x in at]
    else:
        sigma = lognormal_sigma(law.mean, law.deviation)
        tail = [lognormal_tail(x, low, sigma, law.high) for x in at]
    return as_array([1.0, *tail])
