"""Raw readings of one replication from an engine.

Every engine that measures fills these; only `outcome.metrics` computes metrics from them, so that
two engines cannot differ by definition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
    """One link in steps of about a mean round trip, with ``m`` equal steps in a batch.

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
        Packets that the queue decided to send (at their arrival, or for some disciplines when the
        wire is free), and packets whose transmission began.
    held : shape (b + 1,)
        Packets before the wire, including a transmit ring's, at the start of the window and at
        the end of each batch.
    most_packets : int
        Maximum number of waiting packets; above ``buffer_packets`` if a limit in bytes admits
        more packets that are smaller than the mean.
    longest_s : float
        The longest waiting time of an accepted packet.
    class_delays : list of Histogram
        ``delay`` by class; empty if classes are not distinguished.
    queue_packet_s : shape (b,)
        Time integral of the packets waiting (without the one on the wire), packet-seconds.
    queue_s : shape (b, k)
        Seconds during which the number of waiting packets was in bin j, which is
        [j * queue_step, (j + 1) * queue_step).
    delay : Histogram
        Waiting times in seconds of the accepted packets, over the whole window.
    delay_sum_s : shape (b,)
        Sum of the waiting times of the accepted packets, seconds.
    round_trips : RoundTrips or None
        None if no goal has a probability.
    marks : shape (b,) or None
        Packets that the queue marked (CE, RFC 3168); None if the engine does not measure it.
    lost : shape (b,) or None
        Packets that the link itself lost, before its queue, where they are no arrivals, or on its
        wire, where they count as accepted and sent; None if the link loses none by itself.
    possible_bits : shape (b,) or None
        Bits that a link whose rate varies could send; None if ``capacity_bps`` is constant.
    burst_bits : float
        Bits that may leave at once beyond ``capacity_bps``: a shaper's bucket.
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
    lost: IntArray | None = None
    possible_bits: FloatArray | None = None
    burst_bits: float = 0.0

    @property
    def most_bps(self) -> float:
        """Maximum rate over the window, bit/s."""
        if self.possible_bits is None:
            return self.capacity_bps + self.burst_bits / self.window_s
        return (float(self.possible_bits.sum()) + self.burst_bits) / self.window_s


@dataclass(frozen=True, slots=True)
class ControllerReading:
    """The flows of one congestion control in a class that mixes several.

    ``flows`` is their number over the whole run; ``flow_goodput_bits`` is as in `ClassReading`,
    ``drops`` and ``passed`` too, over the whole window.
    """

    flows: int
    flow_goodput_bits: FloatArray
    drops: int
    passed: int


@dataclass(frozen=True, slots=True)
class Slowdowns:
    """Transfers that began in the window or lasted through it; shape (n,).

    Attributes
    ----------
    size_bytes : in whole packets on the link.
    slowdown : completion time over that of the empty path; of an unfinished one its time so far.
    unfinished : 1 for one that had not ended with the window, else 0.
    """

    size_bytes: FloatArray
    slowdown: FloatArray
    unfinished: IntArray


@dataclass(frozen=True, slots=True)
class LongFlows:
    """What drives the long flows of a class, and what may hold them back.

    Attributes
    ----------
    loss_based, model_based
        Whether some of them have a control that reduces its window at a loss, and one that follows
        a model of the path.
    most_bps : rate of their access links together.
    window_bits : the most that they may have in flight; infinite if not limited.
    early : whether the window begins before their models of the path have settled.
    """

    loss_based: bool
    model_based: bool
    most_bps: float
    window_bits: float
    early: bool = False


@dataclass(frozen=True, slots=True)
class ClassReading:
    """One traffic class over the same ``b`` batches; shapes are (b,) unless given.

    Attributes
    ----------
    link : name of the last link that its data crosses.
    throughput_bits : bits on that link's wire, including headers.
    goodput_bits : in-order bits at the receiver, each once, also in whole packets.
    drops, passed : data packets with a decision: dropped at a queue or lost by a link, or accepted
        by the last queue and not lost. Every data packet is counted once in one of the two.
    sent : data packets sent.
    flow_goodput_bits : shape (n,): of the active flows, and of those that had to send for the
        whole window and sent nothing.
    rtt, fct_s, unfinished_s : None if the class has none. ``fct_s`` are the completion times
        of transfers that began and ended in the window, ``unfinished_s`` the times so far of
        those that had not ended at its end, whenever they began.
    timeouts, retransmissions : of senders, and segments sent again; None if not measured.
    controllers : by congestion control; empty if there is only one.
    long_flows : None if it has other flows than long ones.
    active : flows of which a data packet was accepted, dropped or delivered in the window; None if
        the engine does not measure it.
    requests_s, unfinished_requests_s : the same as ``fct_s`` and ``unfinished_s`` of requests that
        several flows answer; None if the class has none.
    slowdowns : None if the engine kept no records, or no transfer ends.
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
    timeouts: IntArray | None
    flow_goodput_bits: FloatArray
    rtt: Histogram | None
    fct_s: FloatArray | None
    unfinished_s: FloatArray | None
    retransmissions: IntArray | None = None
    controllers: dict[str, ControllerReading] = field(default_factory=dict)
    long_flows: LongFlows | None = None
    active: int | None = None
    slowdowns: Slowdowns | None = None
    requests_s: FloatArray | None = None
    unfinished_requests_s: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """All readings of one replication.

    ``links_tell_all`` is whether the links carry only the classes' data, and the classes cross no
    other link: drops of the links are then those of the classes. With ``handshakes`` packets
    without data (SYN, FIN, the handshake's ACK) cross the links too, and may be dropped there.
    """

    seed: int
    links: dict[str, LinkReading]
    classes: list[ClassReading]
    packets: int
    cpu_s: float
    links_tell_all: bool = False
    handshakes: bool = False


TICK_S = 2e-12
"""Of each time in whole picoseconds: it is rounded, and so is its rest where a batch ends."""
_ROUNDING = 1e-9
"""Relative tolerance: sums of many floats in another order differ by less."""


def rounding_bits(link: LinkReading) -> FloatArray:
    """Return the bits of each batch that rounding may add, where the rate varies.

    Bits are times on the wire at the mean rate, and the time of each packet is rounded to whole
    picoseconds: for each packet sent, and for two that cross a batch's ends. Packets of one size
    are all rounded alike, so the differences add up.
    """
    assert link.possible_bits is not None, "the rate varies"
    ticks = link.capacity_bps * (link.sent + 2) * TICK_S
    return np.asarray(link.possible_bits * _ROUNDING + ticks)


def used_bits(link: LinkReading) -> FloatArray:
    """Return the bits of each batch; what exceeds the possible ones by more than rounding stays."""
    if link.possible_bits is None:
        return link.bits
    over = (link.bits > link.possible_bits) & (
        link.bits <= link.possible_bits + rounding_bits(link)
    )
    return np.where(over, link.possible_bits, link.bits)


def of_used_bits(reading: Reading) -> Sequence[ClassReading]:
    """Return the classes with their parts of the `used_bits` of their last links."""
    return [_of_link(kind, reading.links.get(kind.link)) for kind in reading.classes]


def _of_link(kind: ClassReading, link: LinkReading | None) -> ClassReading:
    if link is None or link.possible_bits is None:
        return kind
    share = np.divide(used_bits(link), link.bits, out=np.ones(link.bits.shape), where=link.bits > 0)
    return replace(kind, throughput_bits=kind.throughput_bits * share)
