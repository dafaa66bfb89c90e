"""The other goals if a delay bound allows a smaller buffer than they need (paper D, §VII.B).

Delay lambda on a link of capacity C allows a buffer of C lambda. Arguments broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array
from forebay.laws.heterogeneous.constraints import probability, z_score


def share_kept(allowed: ArrayLike, needed: ArrayLike, bdp: ArrayLike) -> Array:
    """gamma = (BDP + allowed) / (BDP + needed), at most 1 (above eq. 16)."""
    product = as_array(bdp)
    return np.minimum((product + as_array(allowed)) / (product + as_array(needed)), 1.0)


def z_kept(
    gamma: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """z with the share `gamma` of BDP + B (inequality 18).

    An upper bound, although Figure 7's caption calls it a lower one. Zero without a buffer.
    """
    kept = as_array(gamma)
    z = z_score(tau, as_printed=as_printed)
    return z / kept - (1.0 / kept - 1.0) * np.sqrt(as_array(n)) / as_array(a)


def probability_kept(
    gamma: ArrayLike, a: ArrayLike, n: ArrayLike, tau: ArrayLike, *, as_printed: bool = False
) -> Array:
    """q: the probability of a full link, reduced from `tau` by `gamma` (below inequality 18)."""
    return probability(z_kept(gamma, a, n, tau, as_printed=as_printed), as_printed=as_printed)


def reduction_at_zero_delay(tau: ArrayLike, *, as_printed: bool = False) -> Array:
    """tau - q without a buffer; q is then one half for any tau.

    The paper uses q = 0.75 for z = 0, a reduction of 0.24 from 0.99; P(W >= BDP) at z = 0 is 0.5.
    """
    return as_array(tau) - probability(0.0, as_printed=as_printed)


def drop_rate_added(allowed: ArrayLike, needed: ArrayLike, bdp: ArrayLike) -> Array:
    """Smallest increase of the drop rate by a buffer of `allowed` only (inequality 19)."""
    missing = np.maximum(as_array(needed) - as_array(allowed), 0.0)
    return missing / (as_array(bdp) + as_array(needed))
