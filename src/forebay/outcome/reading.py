"""Raw readings of one replication from an engine, and their invariants.

Every engine that measures fills these; only `outcome.metrics` computes metrics from them, so that
two engines cannot differ by definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.invariants import Violation

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
        whole = self.capacity_bps * self.window_s
        possible = whole if self.possible_bits is None else float(self.possible_bits.sum())
        return self.capacity_bps + (possible - whole + self.burst_bits) / self.window_s


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
    retransmissions : segments sent again; None if the engine does not measure it.
    controllers : by congestion control; empty if there is only one.
    long_flows : None if it has other flows than long ones.
    active : flows of which a data packet was accepted, dropped or delivered in the window; None if
        the engine does not measure it.
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
    long_flows: LongFlows | None = None
    active: int | None = None


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


INVARIANTS: dict[str, str] = {
    "counted": "no count, time or amount is negative or not finite",
    "packets-conserved": "what arrived at a queue was dropped, was sent, or waits: in every batch",
    "each-wait-counted": "as many waiting times as packets were accepted, their sum what they are",
    "time-adds-up": "the times at all queue lengths make up each batch",
    "queue-area": "the integral of the queue is that of the times at its lengths",
    "queue-within-limit": "the queue is never longer than the buffer lets it",
    "wire-within-time": "a wire is busy for no longer than a batch lasts",
    "classes-within-link": "the classes behind a link have no more of its wire than was in use",
    "flows-make-class": "the goodput of a class is that of its flows",
    "drops-make-classes": "the links' drops and losses are the classes', where only their data "
    "crosses links; no fewer, where handshakes cross them too",
    "passed-was-accepted": "no more packets pass a last link than its queue accepted",
}
"""Names and statements of all invariants of a Reading."""

_ROUNDING = 1e-9
"""Relative tolerance: sums of many floats in another order differ by less."""
_TICK_S = 2e-12
"""Batches end at whole picoseconds; for windows of milliseconds this exceeds _ROUNDING."""


def violations_of_readings(readings: Iterable[Reading]) -> Iterator[Violation]:
    """Yield what `violations_of_reading` returns for each."""
    return (each for reading in readings for each in violations_of_reading(reading))


def violations_of_reading(reading: Reading) -> list[Violation]:
    """Return every invariant that one replication's readings violate; empty for valid ones."""
    links = ((f"links.{name}", link) for name, link in reading.links.items())
    classes = ((f"classes.{kind.name}", kind) for kind in reading.classes)
    return [
        *(each for where, link in links for each in _of_link(where, link)),
        *(each for where, kind in classes for each in _of_class(where, kind)),
        *_of_all(reading),
    ]


def _of_link(where: str, link: LinkReading) -> Iterator[Violation]:
    yield from _counted(
        where, link, "bits", "arrivals", "drops", "accepted", "sent", "held", "delay_sum_s",
        "queue_packet_s", "queue_s", "lost",
    )  # fmt: skip
    unexplained = link.arrivals - link.drops - link.sent - np.diff(link.held)
    if unexplained.any():
        yield Violation("packets-conserved", where, f"{unexplained.tolist()} packets are nowhere")
    yield from _waits(where, link)
    length_s = link.window_s / link.bits.size
    if not _near(link.queue_s.sum(axis=1), length_s, _TICK_S).all():
        yield Violation("time-adds-up", where, f"{link.queue_s.sum(axis=1)} of {length_s} s")
    yield from _queue(where, link)
    most = np.array(link.capacity_bps * (length_s * (1 + _ROUNDING) + _TICK_S))
    if link.possible_bits is not None:
        # Each packet's time at the mean rate is rounded to a picosecond.
        ticks = link.capacity_bps * (link.sent + 2) * _TICK_S
        most = link.possible_bits * (1 + _ROUNDING) + ticks
    if (link.bits > most).any():
        seen = f"{link.bits.max()} of {link.capacity_bps * length_s} bit"
        yield Violation("wire-within-time", where, seen)


def _waits(where: str, link: LinkReading) -> Iterator[Violation]:
    counts, edges = link.delay.counts, link.delay.edges
    accepted = float(link.accepted.sum())
    if float(counts.sum()) != accepted:
        yield Violation("each-wait-counted", where, f"{counts.sum()} waits of {accepted} packets")
    low, high = float(np.dot(counts, edges[:-1])), float(np.dot(counts, edges[1:]))
    total = float(link.delay_sum_s.sum())
    if not low * (1 - _ROUNDING) <= total <= high * (1 + _ROUNDING):
        yield Violation("each-wait-counted", where, f"{total} s is not in [{low}, {high}]")
    last = np.flatnonzero(counts)
    if last.size and not edges[last[-1]] <= link.longest_s <= edges[last[-1] + 1]:
        yield Violation("each-wait-counted", where, f"the longest is {link.longest_s} s")


def _queue(where: str, link: LinkReading) -> Iterator[Violation]:
    lowest = np.arange(link.queue_s.shape[1]) * link.queue_step
    spent = np.flatnonzero(link.queue_s.sum(axis=0))
    if spent.size and lowest[spent[-1]] > link.most_packets:
        seen = f"{lowest[spent[-1]]} of {link.most_packets} packets"
        yield Violation("queue-within-limit", where, seen)
    least = link.queue_s @ lowest
    most = least + link.queue_s.sum(axis=1) * (link.queue_step - 1)
    slack = _ROUNDING * (most + link.window_s)
    if ((link.queue_packet_s < least - slack) | (link.queue_packet_s > most + slack)).any():
        yield Violation("queue-area", where, f"{link.queue_packet_s} is not in [{least}, {most}]")


def _of_class(where: str, kind: ClassReading) -> Iterator[Violation]:
    yield from _counted(
        where, kind, "throughput_bits", "goodput_bits", "drops", "passed", "sent", "timeouts",
        "flow_goodput_bits", "fct_s", "unfinished_s", "retransmissions",
    )  # fmt: skip
    flows, whole = kind.flow_goodput_bits.sum(), kind.goodput_bits.sum()
    if not _near(np.array([flows]), float(whole)).all():
        yield Violation("flows-make-class", where, f"{flows} of {whole} bit")


def _of_all(reading: Reading) -> Iterator[Violation]:
    for name, link in reading.links.items():
        own = [kind for kind in reading.classes if kind.link == name]
        bits, used = sum(float(k.throughput_bits.sum()) for k in own), float(link.bits.sum())
        if bits > used * (1 + _ROUNDING) + link.burst_bits:
            yield Violation("classes-within-link", f"links.{name}", f"{bits} of {used} bit")
        passed, accepted = sum(int(k.passed.sum()) for k in own), int(link.accepted.sum())
        if reading.links_tell_all and passed > accepted:
            seen = f"{passed} of {accepted} packets"
            yield Violation("passed-was-accepted", f"links.{name}", seen)
    if reading.links_tell_all:
        lost = sum(_gone(link) for link in reading.links.values())
        of_classes = sum(int(kind.drops.sum()) for kind in reading.classes)
        if lost < of_classes or (lost > of_classes and not reading.handshakes):
            yield Violation("drops-make-classes", "classes", f"{of_classes} of {lost} packets")


def _gone(link: LinkReading) -> int:
    """Return the packets that its queue dropped, or the link lost."""
    return int(link.drops.sum()) + (0 if link.lost is None else int(link.lost.sum()))


def _counted(where: str, of: LinkReading | ClassReading, *names: str) -> Iterator[Violation]:
    for name in names:
        values = getattr(of, name)
        if values is not None and not (np.isfinite(values) & (values >= 0)).all():
            yield Violation("counted", f"{where}.{name}", f"holds {np.min(values)}")


def _near(values: FloatArray, whole: float, apart: float = 0.0) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values - whole) <= _ROUNDING * abs(whole) + apart)
