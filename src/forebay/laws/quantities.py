"""A scenario in the papers' symbols: packets, packets per second, packets per round trip."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Tcp


def capacity(scenario: Scenario) -> float:
    """C, packets per second."""
    return float(scenario.link.capacity) / (8.0 * scenario.packet)


def growth(scenario: Scenario) -> float:
    """Packets by which a window grows in a round trip (appendix A), mean over the flows."""
    return sum(t.flows * growth_of(t) for t in scenario.persistent) / scenario.n_flows


def growth_of(traffic: Tcp) -> float:
    """One packet a round trip; half where ACKs are delayed and the sender counts ACKs.

    ns-2 counts ACKs. Linux counts the packets that an ACK covers, so it grows by one either way.
    """
    return 0.5 if traffic.sender == "ns2" and traffic.delayed_ack else 1.0


def average_window(scenario: Scenario) -> float:
    """Window of one flow, packets: (2 Tp C + B) / n (paper A, eq. 1, §5.1.1)."""
    return (scenario.bdp_packets + scenario.buffer_packets) / scenario.n_flows


def path_window(scenario: Scenario) -> float:
    """Window of one flow that the path alone holds, packets: 2 Tp C / n, whatever the buffer."""
    return scenario.bdp_packets / scenario.n_flows


def finite(packets: object) -> float | None:
    """A buffer as a plain float; None where no finite buffer reaches the goal."""
    value = float(packets)  # type: ignore[arg-type]
    return value if math.isfinite(value) else None
