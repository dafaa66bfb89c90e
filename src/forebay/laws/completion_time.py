"""Buffer that increases the completion time of short flows by 12.5 % (paper A, §5.1.2, Figure 12).

The paper's curve is the buffer with P(Q > B) = 0.025. The paper compares it with simulations in
which the average flow completion time (AFCT) is 12.5 % higher than with an unlimited buffer. It
gives only this pair, and no rule for other increases; nor does this module.
"""

from numpy.typing import ArrayLike

from forebay.laws import effective_bandwidth
from forebay.laws.arrays import Array, as_array
from forebay.laws.bursts import Bursts
from forebay.laws.effective_bandwidth import Order

AFCT_INCREASE = 0.125
DROP_PROBABILITY = 0.025
LOAD = 0.8
"""Load in Figure 12."""


def increase(drop_probability: ArrayLike) -> Array:
    """Increase of the AFCT, interpolated linearly between no loss and the paper's pair.

    The paper gives only whether it is above or below `AFCT_INCREASE`; the interpolation is ours.
    """
    return as_array(drop_probability) * (AFCT_INCREASE / DROP_PROBABILITY)


def buffer(load: ArrayLike, bursts: Bursts, order: Order = Order.SECOND) -> Array:
    """Buffer in packets for an AFCT at most 12.5 % above that of an unlimited buffer."""
    return effective_bandwidth.buffer_for(DROP_PROBABILITY, load, bursts, order)
