"""Utilization with many desynchronized flows, and its inverse (paper A, §3.2, eq. 6).

    Util >= erf( 3 sqrt(3) / (2 sqrt(2)) * B sqrt(n) / (2 Tp C + B) )

a lower bound: all time in which the queue of `desynchronized` is outside [0, B] counts as lost.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import arrays, assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law
from forebay.laws.quantities import finite
from forebay.scenario import Scenario

_FACTOR = 3.0 * math.sqrt(3.0) / (2.0 * math.sqrt(2.0))

TABLE_FLOWS = 10_000
TABLE_MULTIPLES = (1.0, 1.5, 2.0)
_TABLE_PRINTED = (0.9899, 0.9999988, 0.9999997)


def utilization(buffer: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Lower bound on the utilization, a fraction; `buffer` and `bdp` in the same unit (eq. 6)."""
    size = as_array(buffer)
    return arrays.erf(_FACTOR * np.sqrt(as_array(n)) * size / (as_array(bdp) + size))


def buffer_for(target: ArrayLike, bdp: ArrayLike, n: ArrayLike) -> Array:
    """Smallest buffer for which eq. 6 gives `target`, in the unit of `bdp`.

    With y = erfinv(target) / (factor sqrt(n)) it is y BDP / (1 - y), because B occurs on both
    sides. Infinite if y >= 1: the deviation grows with the buffer, so eq. 6 never gives more than
    erf(factor sqrt(n)).
    """
    share = arrays.erfinv(target) / (_FACTOR * np.sqrt(as_array(n)))
    with np.errstate(divide="ignore", invalid="ignore"):
        size = as_array(bdp) * share / (1.0 - share)
    return np.where(share < 1.0, size, np.where(np.isnan(share), np.nan, np.inf))[()]


def table(*, as_printed: bool = False) -> dict[float, float]:
    """The table below eq. 6: utilization by multiple of BDP / sqrt(n), for 10,000 flows.

    `as_printed` gives the paper's figures; the one at 1.5 differs from eq. 6.
    """
    if as_printed:
        return dict(zip(TABLE_MULTIPLES, _TABLE_PRINTED, strict=True))
    sizes = as_array(TABLE_MULTIPLES) / math.sqrt(TABLE_FLOWS)
    values = utilization(sizes, 1.0, TABLE_FLOWS)
    return dict(zip(TABLE_MULTIPLES, values.tolist(), strict=True))


def _packets(scenario: Scenario) -> float | None:
    target = scenario.goals.utilization
    if target is None:
        return None
    return finite(buffer_for(target, scenario.bdp_packets, scenario.n_flows))


def _utilization(scenario: Scenario) -> float:
    size, bdp = scenario.buffer_packets, scenario.bdp_packets
    return float(utilization(size, bdp, scenario.n_flows))


LAW = Law(
    name="appenzeller-2004/utilization",
    source="Appenzeller et al. 2004, §3.2, eq. 6 (a lower bound)",
    packets=_packets,
    utilization=_utilization,
    checks=assumptions.DESYNCHRONIZED,
)
