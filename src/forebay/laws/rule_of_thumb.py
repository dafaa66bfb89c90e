"""B = RTT C: the buffer with which one flow, or synchronized flows, keep a link busy.

Villamizar and Song 1994, as derived in paper A (Appenzeller, Keslassy, McKeown 2004), §§1.2, 2.
"""

from numpy.typing import ArrayLike

from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law


def buffer(rate: ArrayLike, rtt: ArrayLike) -> Array:
    """B = RTT C, in the unit of `rate` times the unit of `rtt` (bit/s and s give bits)."""
    return as_array(rate) * as_array(rtt)


LAW = Law(
    name="villamizar-song/rule-of-thumb",
    source="Villamizar and Song 1994; Appenzeller et al. 2004, §§1.2 and 2",
    packets=lambda asked: asked.bdp_packets,
    # 1 at and above the rule's buffer; the rule gives nothing below it.
    utilization=lambda asked: 1.0 if asked.buffer_packets >= asked.bdp_packets else None,
    checks=(*assumptions.TCP_SAWTOOTHS, assumptions.synchronized_flows, assumptions.long_enough),
)
