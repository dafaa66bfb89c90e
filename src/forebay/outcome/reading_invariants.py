"""What holds of the raw readings of every replication, whichever engine made them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.outcome.invariants import Violation
from forebay.outcome.reading import (
    TICK_S,
    ClassReading,
    FloatArray,
    LinkReading,
    Reading,
    rounding_bits,
)

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
_OF_LINKS = (
    "bits", "arrivals", "drops", "accepted", "sent", "held", "delay_sum_s", "queue_packet_s",
    "queue_s", "lost",
)  # fmt: skip
_OF_CLASSES = (
    "throughput_bits", "goodput_bits", "drops", "passed", "sent", "timeouts",
    "flow_goodput_bits", "fct_s", "unfinished_s", "retransmissions", "requests_s",
    "unfinished_requests_s",
)  # fmt: skip
"""What is counted: not negative, and finite."""


def violations_of_readings(readings: Iterable[Reading]) -> Iterator[Violation]:
    """Yield what `violations_of_reading` returns for each."""
    return (violation for reading in readings for violation in violations_of_reading(reading))


def violations_of_reading(reading: Reading) -> list[Violation]:
    """Return every invariant that one replication's readings violate; empty for valid ones."""
    links = [(f"links.{name}", link) for name, link in reading.links.items()]
    classes = [(f"classes.{kind.name}", kind) for kind in reading.classes]
    return [
        *_counted(links, classes),
        *(violation for where, link in links for violation in _of_link(where, link)),
        *(violation for where, kind in classes for violation in _of_class(where, kind)),
        *_of_all(reading),
    ]


def _of_link(where: str, link: LinkReading) -> Iterator[Violation]:
    unexplained = link.arrivals - link.drops - link.sent - np.diff(link.held)
    if unexplained.any():
        yield Violation("packets-conserved", where, f"{unexplained.tolist()} packets are nowhere")
    yield from _waits(where, link)
    length_s = link.window_s / link.bits.size
    if not _near(link.queue_s.sum(axis=1), length_s, TICK_S).all():
        yield Violation("time-adds-up", where, f"{link.queue_s.sum(axis=1)} of {length_s} s")
    yield from _queue(where, link)
    most = np.array(link.capacity_bps * (length_s * (1 + _ROUNDING) + TICK_S))
    if link.possible_bits is not None:
        most = link.possible_bits + rounding_bits(link)
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
        links = reading.links.values()
        lost = sum(int(link.drops.sum()) for link in links)
        lost += sum(int(link.lost.sum()) for link in links if link.lost is not None)
        of_classes = sum(int(kind.drops.sum()) for kind in reading.classes)
        if lost < of_classes or (lost > of_classes and not reading.handshakes):
            yield Violation("drops-make-classes", "classes", f"{of_classes} of {lost} packets")


def _counted(
    links: Sequence[tuple[str, LinkReading]], classes: Sequence[tuple[str, ClassReading]]
) -> Iterator[Violation]:
    """Check all counts at once, because most are right; one by one only if any is wrong."""
    parts: list[tuple[str, LinkReading | ClassReading, tuple[str, ...]]] = [
        *((where, link, _OF_LINKS) for where, link in links),
        *((where, kind, _OF_CLASSES) for where, kind in classes),
    ]
    read = [(where, name, getattr(of, name)) for where, of, names in parts for name in names]
    counts = [(where, name, values) for where, name, values in read if values is not None]
    if _is_counted(np.concatenate([values.ravel() for *_, values in counts])):
        return
    for where, name, values in counts:
        if not _is_counted(values):
            yield Violation("counted", f"{where}.{name}", f"holds {np.min(values)}")


def _is_counted(values: NDArray[Any]) -> bool:
    return not values.size or bool(0 <= values.min() <= values.max() < np.inf)


def _near(values: FloatArray, whole: float, apart: float = 0.0) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values - whole) <= _ROUNDING * abs(whole) + apart)
