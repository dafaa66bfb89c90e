"""Mean queue under bursts: M/G/1 with bursts as jobs, packets served one by one (paper A, §4).

`load` is rho, offered packets over those the link can carry, below one (ValueError otherwise);
results in packets.
For single packets (M/D/1) use `bursts.SINGLE_PACKETS`.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from forebay.laws.arrays import Array
from forebay.laws.bursts import Bursts, stable


def workload(load: ArrayLike, bursts: Bursts, *, as_printed: bool = False) -> Array:
    """Mean unfinished work U = rho E[X^2] / (2 (1 - rho) E[X]), in packet times.

    The paper's E[N] lacks the E[X]; `as_printed` omits it too.
    """
    rho = stable(load)
    scale = 1.0 if as_printed else bursts.mean
    return rho / (2.0 * (1.0 - rho)) * bursts.moment(2) / scale


def mean_waiting(load: ArrayLike, bursts: Bursts, *, as_printed: bool = False) -> Array:
    """Mean number of packets waiting, U - rho/2.

    On average half of the packet on the wire is unsent; U includes this half, the queue does not.
    The paper subtracts half a burst, U - rho E[X] / 2; `as_printed` does so too.
    """
    half = (bursts.mean if as_printed else 1.0) / 2.0
    return workload(load, bursts) - stable(load) * half


def mean_in_system(load: ArrayLike, bursts: Bursts) -> Array:
    """Mean number of packets waiting or on the wire, U + rho/2."""
    return workload(load, bursts) + stable(load) / 2.0
