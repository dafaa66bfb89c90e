"""Raw readings of one replication, as an engine hands them over.

Every engine that measures fills these; `outcome.metrics` alone turns them into
metrics, so that two engines cannot differ by definition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Weights over bins; ``edges`` has one entry more than ``counts``."""

    edges: FloatArray
    counts: FloatArray


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """One link in steps of about a mean round trip; ``m`` equal ones to a batch.

    ``bits``, ``arrivals`` and ``drops``, shape (b, m), are those of `LinkReading`.
    """

    bits: FloatArray
    arrivals: IntArray
    drops: IntArray


@dataclass(frozen=True, slots=True)
class LinkReading:
    """One link over a window cut into ``b`` equal batches.

    Attributes
    ----------
    capacity_bps, window_s
        Capacity in bit/s and length of the whole window in seconds.
    bits, arrivals, drops : shape (b,)
        Bits sent on the link; packets that arrived at, and were dropped by, its queue.
    queue_packet_s : shape (b,)
        Time integral of the packets waiting (without the one on the wire), packet-seconds.
    queue_s : shape (b, k)
        Seconds during which the count of waiting packets lay in bin j, that is in
        [j * queue_step, (j + 1) * queue_step).
    delay : Histogram
        Waiting times in seconds of the packets that were accepted, whole window.
    delay_sum_s : shape (b,)
        Sum of the waiting times of the accepted packets, seconds.
    round_trips : RoundTrips or None
        None where no goal asks for a probability.
    marks : shape (b,) or None
        Packets that the queue marked (CE, RFC 3168); None where the engine cannot tell.
    """

    capacity_bps: float
    window_s: float
    buffer_packets: int
    bdp_packets: float
    bits: FloatArray
    arrivals: IntArray
    drops: IntArray
    queue_packet_s: FloatArray
    queue_s: FloatArray
    queue_step: int
    delay: Histogram
    delay_sum_s: FloatArray
    round_trips: RoundTrips | None = None
    marks: IntArray | None = None


@dataclass(frozen=True, slots=True)
class ClassReading:
    """One traffic class over the same ``b`` batches.

    ``throughput_bits`` counts bits that left the bottleneck, headers included;
    ``goodput_bits`` counts in-order bits at the receiver, each once, on the same
    footing (whole packets). Shapes (b,) but for ``flow_goodput_bits`` (flows,).
    ``rtt`` and ``fct_s`` are None where the class has none, ``retransmissions`` (segments sent
    again, shape (b,)) where the engine cannot tell.
    """

    kind: str
    flows: int
    throughput_bits: FloatArray
    goodput_bits: FloatArray
    arrivals: IntArray
    drops: IntArray
    timeouts: IntArray
    flow_goodput_bits: FloatArray
    rtt: Histogram | None
    fct_s: FloatArray | None
    retransmissions: IntArray | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one replication read."""

    seed: int
    links: dict[str, LinkReading]
    classes: list[ClassReading]
    packets: int
    cpu_s: float
