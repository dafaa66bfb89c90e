"""B = RTT C / sqrt(n): many desynchronized flows (paper A, abstract and §3.2)."""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law


def buffer(bdp: ArrayLike, n: ArrayLike) -> Array:
    """Buffer for `n` long flows, in the unit of the bandwidth-delay product `bdp`."""
    return as_array(bdp) / np.sqrt(as_array(n))


LAW = Law(
    name="appenzeller-2004/sqrt-n",
    source="Appenzeller et al. 2004, §3.2",
    packets=lambda asked: float(buffer(asked.bdp_packets, asked.n_flows)),
    utilization=lambda _: None,  # eq. 6 (`utilization`) gives it
    checks=assumptions.DESYNCHRONIZED,
)
