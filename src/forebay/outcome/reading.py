"""Raw readings of one replication, as an engine hands them over.

Every engine that measures fills these; `outcome.metrics` alone turns them into
metrics, so that two engines cannot differ by definition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
    accepted, sent : shape (b,)
        Packets of which the queue decided that they are sent: as they arrived or, where the
        discipline chooses when the wire is free, then; and those whose transmission began.
    held : shape (b + 1,)
        Packets before the wire, a transmit ring's included, as the window begins and as each
        batch ends.
    most_packets : int
        The most packets that can wait; above ``buffer_packets`` where a limit in bytes holds
        packets smaller than the mean.
    longest_s : float
        The longest waiting time of a packet that was accepted.
    class_delays : list of Histogram
        ``delay`` by class; empty where they are not told apart.
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
    burst_bits : float
        What may leave in any time beyond ``capacity_bps``, bits: what a shaper's bucket lets pass.
    """

    capacity_bps: float
    window_s: float
    buffer_packets: int
    bdp_packets: float
    bits: FloatArray
    arrivals: IntArray
    drops: IntArray
    accepted: IntArray
    sent: IntArray
    held: IntArray
    most_packets: int
    queue_packet_s: FloatArray
    queue_s: FloatArray
    queue_step: int
    delay: Histogram
    delay_sum_s: FloatArray
    longest_s: float
    class_delays: list[Histogram]
    round_trips: RoundTrips | None = None
    marks: IntArray | None = None
    burst_bits: float = 0.0

    @property
    def most_bps(self) -> float:
        """The most that can leave in the window, bit/s."""
        return self.capacity_bps + self.burst_bits / self.window_s


@dataclass(frozen=True, slots=True)
class ControllerReading:
    """The flows of one congestion control in a class that mixes several.

    ``flow_goodput_bits`` has one entry a flow; ``drops`` and ``passed`` as in `ClassReading`, of
    the whole window.
    """

    flow_goodput_bits: FloatArray
    drops: int
    passed: int


@dataclass(frozen=True, slots=True)
class ClassReading:
    """One traffic class over the same ``b`` batches; shapes (b,) but where it says otherwise.

    Attributes
    ----------
    link : name of the last link that its data crosses.
    throughput_bits : bits on that link's wire, headers included.
    goodput_bits : in-order bits at the receiver, each once, on the same footing (whole packets).
    drops, passed : data packets whose way was decided: dropped at a queue, or let through by the
        last one. Every data packet is in one of the two, once.
    sent : data packets that senders let go.
    flow_goodput_bits : shape (flows,).
    rtt, fct_s, unfinished_s : None where the class has none. ``fct_s`` are the completion times
        of transfers that began and ended in the window, ``unfinished_s`` how long those had
        taken that had not ended with it, whenever they began.
    retransmissions : segments sent again; None where the engine cannot tell.
    controllers : by congestion control; empty where there is but one.
    """

    name: str
    kind: str
    flows: int
    link: str
    throughput_bits: FloatArray
    goodput_bits: FloatArray
    drops: IntArray
    passed: IntArray
    sent: IntArray
    timeouts: IntArray
    flow_goodput_bits: FloatArray
    rtt: Histogram | None
    fct_s: FloatArray | None
    unfinished_s: FloatArray | None
    retransmissions: IntArray | None = None
    controllers: dict[str, ControllerReading] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one replication read.

    ``links_tell_all`` says that classes' data alone crosses the links, and no other link: their
    drops are then the classes'.
    """

    seed: int
    links: dict[str, LinkReading]
    classes: list[ClassReading]
    packets: int
    cpu_s: float
    links_tell_all: bool = False
