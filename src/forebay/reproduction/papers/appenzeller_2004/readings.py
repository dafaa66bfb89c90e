"""Variants of a scenario for what the paper leaves open about its simulated hosts.

Section 5.1 names ns-2 and TCP Reno, but neither the ACK policy of receivers nor the range of RTTs
in one simulation. The first variant is the scenario itself.

* An ACK for each packet: appendix A, "Upon receiving a packet, the receiver sends back an ACK".
* ACKs delayed by 40 ms: Linux's minimum; by 100 ms: the default of ns-2's Agent/TCPSink/DelAck.
* RTTs with a half-width of 75 % of their mean: with a mean of 100 ms from 25 ms on, the smallest
  delay that section 5.1 names.
"""

from __future__ import annotations

WIDE = 0.75
_DELAYED = "traffic.0.delayed_ack=true"


def readings(mean_rtt_ms: float) -> dict[str, list[str]]:
    """Return the overrides of each variant of a scenario with this mean RTT, by name."""
    low, high = ((1 + side * WIDE) * mean_rtt_ms for side in (-1, 1))
    return {
        "as chosen": [],
        "ACKs delayed, 40 ms": [_DELAYED],
        "ACKs delayed, 100 ms": [_DELAYED, "traffic.0.delayed_ack_timeout=100 ms"],
        f"RTTs {low:g}–{high:g} ms": [f"traffic.0.rtt={{uniform=['{low:g} ms', '{high:g} ms']}}"],
    }
