"""Buffer for a full link if only a share of the flows loses packets at each overflow.

The idea is from Dhamdhere, Jiang, Dovrolis 2005 (BSCL). The paper was not available, so the formula
is derived here; BSCL's bounds on loss and delay are not included. At an overflow the windows sum to
BDP + B. A share q of the flows halves its windows, the others add a packet each, and the link stays
busy if the sum is then at least BDP:

    (BDP + B) (1 - q/2) + (1 - q) n >= BDP,  so  B >= (q BDP - 2 (1 - q) n) / (2 - q).

q = 1 is the rule of thumb. Arguments broadcast.
"""

import numpy as np
from numpy.typing import ArrayLike

from forebay.laws.arrays import Array, as_array


def buffer_for_full_link(bdp: ArrayLike, n: ArrayLike, share_cut: ArrayLike) -> Array:
    """Smallest buffer in packets, at least zero; `bdp` in packets, `share_cut` is q."""
    cut = as_array(share_cut)
    needed = (cut * as_array(bdp) - 2.0 * (1.0 - cut) * as_array(n)) / (2.0 - cut)
    return np.maximum(needed, 0.0)


def harmonic_rtt(rtts: ArrayLike, axis: int = -1) -> Array:
    """Effective RTT of flows with unequal RTTs that halve together, in the given unit.

    With equal windows, rates are proportional to 1 / (RTT + B/C) before the decrease and to half of
    1 / RTT after it. The former is concave in 1 / RTT, so a buffer of C times the harmonic mean
    always suffices (Jensen), and is exact for equal RTTs.
    """
    return 1.0 / as_array(np.mean(1.0 / as_array(rtts), axis=axis))
