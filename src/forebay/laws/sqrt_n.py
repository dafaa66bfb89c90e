"""B = RTT C / sqrt(n): many desynchronized flows (paper A, abstract and §3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def buffer(bdp: ArrayLike, n: ArrayLike) -> Array:
    """Buffer for `n` long flows, in the unit of the bandwidth-delay product `bdp`."""
    return as_array(bdp) / np.sqrt(as_array(n))


def _packets(scenario: Scenario) -> float:
    return float(buffer(scenario.bdp_packets, scenario.n_flows))


def _utilization(scenario: Scenario) -> None:
    """The rule gives only a buffer; eq. 6 (`utilization`) gives its utilization."""
    return None


LAW = Law(
    name="appenzeller-2004/sqrt-n",
    source="Appenzeller et al. 2004, §3.2",
    packets=_packets,
    utilization=_utilization,
    checks=assumptions.DESYNCHRONIZED,
)
