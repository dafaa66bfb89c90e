"""B = RTT C: the buffer with which one flow, or synchronized flows, keep a link busy.

Villamizar and Song 1994, as derived in paper A (Appenzeller, Keslassy, McKeown 2004), §§1.2, 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from forebay.laws import assumptions
from forebay.laws.arrays import Array, as_array
from forebay.laws.law import Law

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def buffer(rate: ArrayLike, rtt: ArrayLike) -> Array:
    """B = RTT C, in the unit of `rate` times the unit of `rtt` (bit/s and s give bits)."""
    return as_array(rate) * as_array(rtt)


def _packets(scenario: Scenario) -> float:
    return scenario.bdp_packets


def _utilization(scenario: Scenario) -> float | None:
    """1 at and above the rule's buffer; the rule gives nothing below it."""
    return 1.0 if scenario.buffer_packets >= scenario.bdp_packets else None


LAW = Law(
    name="villamizar-song/rule-of-thumb",
    source="Villamizar and Song 1994; Appenzeller et al. 2004, §§1.2 and 2",
    packets=_packets,
    utilization=_utilization,
    checks=(*assumptions.TCP_SAWTOOTHS, assumptions.synchronized_flows, assumptions.long_enough),
)
