"""What the paper leaves open about its simulated hosts, as named readings of a scenario.

Section 5.1 names ns-2 and TCP Reno, but neither when receivers acknowledge nor how far the round
trips of one simulation lie apart. The first reading is each scenario's own.

* An ACK for each packet: appendix A, "Upon receiving a packet, the receiver sends back an ACK".
* ACKs delayed by 40 ms: Linux's least; by 100 ms: the default of ns-2's Agent/TCPSink/DelAck.
* Round trips over a half-width of 75 % of their mean: with a mean of 100 ms from 25 ms on, the
  least delay that section 5.1 names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

CHOSEN = "as chosen"
_DELAYED = "traffic.0.delayed_ack=true"
WIDE = 0.75


def readings(mean_rtt_ms: float) -> dict[str, list[str]]:
    """Return the overrides of each reading of a scenario with such round trips, by its name."""
    low, high = ((1 + side * WIDE) * mean_rtt_ms for side in (-1, 1))
    return {
        CHOSEN: [],
        "ACKs delayed, 40 ms": [_DELAYED],
        "ACKs delayed, 100 ms": [_DELAYED, "traffic.0.delayed_ack_timeout=100 ms"],
        f"RTTs {low:g}–{high:g} ms": [f"traffic.0.rtt={{uniform=['{low:g} ms', '{high:g} ms']}}"],
    }


def under_each(
    mean_rtt_ms: float,
    chosen: Mapping[str, float],
    numbers: Callable[[Iterable[str]], Mapping[str, float]],
) -> dict[str, Mapping[str, float]]:
    """Return an artefact's numbers under each reading; those of the chosen one are known."""
    others = {name: sets for name, sets in readings(mean_rtt_ms).items() if name != CHOSEN}
    return {CHOSEN: chosen, **{name: numbers(sets) for name, sets in others.items()}}
