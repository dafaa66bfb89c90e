"""Draws of classes that send datagrams whatever becomes of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import OnOff, OpenLoop, Replay, Udp
from forebay.workload.part import OwnPackets, Part
from forebay.workload.renewal import exponential_gaps, until
from forebay.workload.spread import PS_PER_S, picoseconds
from forebay.workload.streams import blocks, uniforms

_Ints = NDArray[np.int64]


def starts(group: OpenLoop, index: int, seed: int) -> _Ints:
    """Start of each flow."""
    return picoseconds(group.start, uniforms(seed, "start", index, group.flows))


def part(start_ps: _Ints, packets: OwnPackets) -> Part:
    """Flows that own packets and run no TCP."""
    zeros = np.zeros(len(start_ps), dtype=np.int64)
    return Part(start_ps, zeros, zeros, zeros.astype(np.int32), packets=packets)


def udp(group: Udp, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Datagrams at a constant rate from each flow's start on, or a Poisson process after it."""
    start = starts(group, index, seed)
    gap_s = 8 * group.packet / group.flow_rate(link_rate)
    if group.arrivals == "constant":
        return part(start, _constant(group, start, gap_s * PS_PER_S, end_ps))

    def gaps() -> Iterator[tuple[_Ints, ...]]:
        for u in blocks(seed, "gap", index, group.flows):
            yield (exponential_gaps(u, gap_s, end_ps),)

    at, (gap,) = until(end_ps, start, gaps())
    at = at + gap  # a datagram ends its gap
    sent = at < end_ps
    return part(start, _alike(sent.sum(axis=1), at[sent], group.packet))


def onoff(group: OnOff, index: int, seed: int, end_ps: int) -> Part:
    """Datagrams spaced evenly over a flow's on times, off times left out, from a random phase."""
    start = starts(group, index, seed)

    def periods() -> Iterator[tuple[_Ints, ...]]:
        on, off = (blocks(seed, name, index, group.flows) for name in ("on", "off"))
        for u, v in zip(on, off, strict=False):
            sending, silent = picoseconds(group.on, u), picoseconds(group.off, v)
            yield np.maximum(sending + silent, 1), sending

    at, (_, sending) = until(end_ps, start, periods())
    sending = np.clip(end_ps - at, 0, sending)
    gap = 8 * group.packet / group.peak_rate * PS_PER_S
    phase = uniforms(seed, "phase", index, group.flows)[:, None]
    return part(start, _alike(*_spaced(at, sending, gap, phase), group.packet))


def replay(group: Replay, index: int, seed: int, end_ps: int) -> Part:
    """The listed packets after each flow's start."""
    start = starts(group, index, seed)
    at = [begin + group.file.at_ps for begin in start]
    sent = [times < end_ps for times in at]
    return part(
        start,
        OwnPackets(
            np.array([mask.sum() for mask in sent], dtype=np.int64),
            np.concatenate([times[mask] for times, mask in zip(at, sent, strict=True)]),
            np.concatenate([group.file.bytes[mask] for mask in sent]),
        ),
    )


def _constant(group: Udp, start: _Ints, gap: float, end_ps: int) -> OwnPackets:
    counts = np.maximum(np.ceil((end_ps - start) / gap), 0).astype(np.int64)
    at = np.repeat(start, counts) + np.floor(within(counts) * gap).astype(np.int64)
    return _alike(counts, at, group.packet)


def _spaced(
    begins: _Ints, sending: _Ints, gap: float, phase: NDArray[np.float64]
) -> tuple[_Ints, _Ints]:
    """Return packets of each flow, and their times: every ``gap`` of the time spent sending."""
    after = np.cumsum(sending, axis=1)
    before = after - sending
    upto = np.maximum(np.ceil(after / gap - phase), 0).astype(np.int64)
    first = np.concatenate([np.zeros_like(upto[:, :1]), upto[:, :-1]], axis=1)
    counts = (upto - first).ravel()
    number = np.repeat(first.ravel(), counts) + within(counts)
    flow = np.repeat(np.arange(len(begins)), (upto - first).sum(axis=1))
    spent = np.floor((number + phase[flow, 0]) * gap).astype(np.int64)
    return (upto - first).sum(axis=1), np.repeat((begins - before).ravel(), counts) + spent


def _alike(counts: _Ints, at: _Ints, packet: int) -> OwnPackets:
    return OwnPackets(counts, at, np.full(len(at), packet, dtype=np.int32))


def within(counts: _Ints) -> _Ints:
    """Return 0, 1, … for each count in turn: the place of each entry among its own."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)
