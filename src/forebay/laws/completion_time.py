"""Buffer that lengthens short flows by an eighth at most (paper A, §5.1.2 and Figure 12).

The paper's curve is the buffer with P(Q > B) = 0.025, held against simulations in which the
average flow completion time (AFCT) rises by 12.5 % over an endless buffer. It gives that one
pair, and no rule to go from another increase to another probability; neither does this.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from forebay.laws import effective_bandwidth
from forebay.laws.arrays import Array, as_array
from forebay.laws.bursts import Bursts
from forebay.laws.effective_bandwidth import Order

AFCT_INCREASE = 0.125
DROP_PROBABILITY = 0.025

LOAD = 0.8
"""Of Figure 12, which holds the one against the other."""


def increase(drop_probability: ArrayLike) -> Array:
    """Increase of the AFCT by a straight line through nothing lost and the paper's pair.

    What the paper gives is which side of `AFCT_INCREASE` it lies on; the line is ours.
    """
    return as_array(drop_probability) * (AFCT_INCREASE / DROP_PROBABILITY)


def buffer(load: ArrayLike, bursts: Bursts, order: Order = Order.SECOND) -> Array:
    """Buffer in packets for an AFCT at most 12.5 % above that of an endless buffer."""
    return effective_bandwidth.buffer_for(DROP_PROBABILITY, load, bursts, order)
