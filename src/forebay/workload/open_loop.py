"""Draws of classes that send datagrams without congestion control."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import OnOff, Replay, Standing, Udp
from forebay.workload import streams
from forebay.workload.model import FlowColumns, OwnPackets, Part, check_drawn
from forebay.workload.streams import PS_PER_S, Block, Steps, picoseconds, uniforms, until

_Ints = NDArray[np.int64]

_AT_ONCE = 1 << 18
"""Packets whose times are computed at a time, because intermediate arrays are larger."""


def starts(group: Standing, index: int, seed: int) -> _Ints:
    """Return the start of each flow."""
    groups = -(-group.flows // group.together)
    each = picoseconds(group.start, uniforms(seed, "start", index, groups))
    return np.repeat(each, group.together)[: group.flows] if groups < group.flows else each


def part(start_ps: _Ints, packets: OwnPackets) -> Part:
    """Make the part of flows with packets and without TCP."""
    zeros = np.zeros(len(start_ps), dtype=np.int64)
    return Part(start_ps, zeros, zeros, zeros.astype(np.int32), packets=packets)


def udp(group: Udp, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw datagrams at a constant rate from each flow's start, or a Poisson process after it."""
    start = starts(group, index, seed)
    gap_s = 8 * group.packet / group.flow_rate(link_rate)
    if group.arrivals == "constant":
        return part(start, _constant(group, start, gap_s * PS_PER_S, end_ps))

    def gaps(block: Block) -> tuple[_Ints]:
        return (streams.exponential_gaps(block.uniforms(seed, "gap", index), gap_s, end_ps),)

    columns = FlowColumns(len(start))
    for walk in until(end_ps, start, end_ps / PS_PER_S / gap_s, gaps):
        columns.add_group(_ends(steps, end_ps) for steps in walk)
    return part(start, _alike(columns, group.packet))


def onoff(group: OnOff, index: int, seed: int, _link_rate: float, end_ps: int) -> Part:
    """Draw datagrams with equal gaps of on time, beginning at a random phase."""
    start = starts(group, index, seed)
    gap = 8 * group.packet / group.peak_rate * PS_PER_S
    phase = uniforms(seed, "phase", index, group.flows)

    def periods(block: Block) -> tuple[_Ints, ...]:
        on, off = (block.uniforms(seed, name, index) for name in ("on", "off"))
        sending, silent = picoseconds(group.on, on), picoseconds(group.off, off)
        return np.maximum(sending + silent, 1), sending

    columns = FlowColumns(len(start))
    for walk in until(end_ps, start, group.periods(end_ps / PS_PER_S), periods):
        columns.add_group(_spaced(walk, gap, phase, end_ps))
    return part(start, _alike(columns, group.packet))


def replay(group: Replay, index: int, seed: int, _link_rate: float, end_ps: int) -> Part:
    """Return the listed packets after each flow's start."""
    start = starts(group, index, seed)
    listed = group.file.at_ps
    counts = np.searchsorted(listed, end_ps - start)  # times are sorted
    at = np.concatenate([begin + listed[:n] for begin, n in zip(start, counts, strict=True)])
    sizes = np.concatenate([group.file.bytes[:n] for n in counts])
    return part(start, OwnPackets(counts, at, sizes))


def _ends(steps: Steps, end_ps: int) -> tuple[_Ints, tuple[_Ints]]:
    """Return the end of each gap, at which a datagram is sent."""
    at = steps.begins + steps.parts[0]
    sent = at < end_ps
    return np.repeat(steps.flows, sent.sum(axis=1)), (at[sent],)


def _constant(group: Udp, start: _Ints, gap: float, end_ps: int) -> OwnPackets:
    counts = np.maximum(np.ceil((end_ps - start) / gap), 0).astype(np.int64)
    check_drawn(int(counts.sum()))
    at = np.empty(int(counts.sum()), dtype=np.int64)
    for begin, flow, place in numbered(counts):
        at[begin : begin + len(place)] = start[flow] + np.floor(place * gap).astype(np.int64)
    return OwnPackets(counts, at, np.full(len(at), group.packet, dtype=np.int32))


def _spaced(
    walk: Iterator[Steps], gap: float, phase: NDArray[np.float64], end_ps: int
) -> Iterator[tuple[_Ints, tuple[_Ints]]]:
    """Yield packets of each flow and their times: one in every ``gap`` of on time."""
    spent: _Ints | int = 0
    numbered_to: _Ints | int = 0
    for steps in walk:
        begins, phases = steps.begins, phase[steps.flows]
        sending = np.clip(end_ps - begins, 0, steps.parts[1])
        after = np.cumsum(sending, axis=1) + np.reshape(spent, (-1, 1))
        before = after - sending
        upto = np.maximum(np.ceil(after / gap - phases[:, None]), 0).astype(np.int64)
        first = np.empty_like(upto)
        first[:, 0], first[:, 1:] = numbered_to, upto[:, :-1]
        spent, numbered_to = after[:, -1], upto[:, -1]
        counts = upto - first
        check_drawn(int(counts.sum()))
        row = np.repeat(np.arange(len(begins)), counts.sum(axis=1))
        counts = counts.ravel()
        number = np.repeat(first.ravel(), counts) + within(counts)
        at = np.floor((number + phases[row]) * gap).astype(np.int64)
        yield steps.flows[row], (np.repeat((begins - before).ravel(), counts) + at,)


def _alike(columns: FlowColumns, packet: int) -> OwnPackets:
    at = np.asarray(columns.joined()[0], dtype=np.int64)
    return OwnPackets(columns.counts, at, np.full(len(at), packet, dtype=np.int32))


def numbered(counts: _Ints) -> Iterator[tuple[int, _Ints, _Ints]]:
    """Yield pieces of all entries: first entry's number, each entry's owner, its index there."""
    ends = np.cumsum(counts)
    for begin in range(0, int(ends[-1]) if len(ends) else 0, _AT_ONCE):
        entries = np.arange(begin, min(begin + _AT_ONCE, int(ends[-1])))
        owner = np.searchsorted(ends, entries, side="right")
        yield begin, owner, entries - (ends - counts)[owner]


def within(counts: _Ints) -> _Ints:
    """Return 0, 1, … for each count in turn: the index of each entry among its owner's."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total) - np.repeat(ends - counts, counts)
