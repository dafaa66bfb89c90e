"""Draw of requests: workers in groups, with an answer each to every request of their group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import Requests, Transfers
from forebay.scenario.schedule import Schedule
from forebay.scenario.transfers import TransferTable
from forebay.workload.drawing import apportioned, control_names, one_by_one, rtts
from forebay.workload.model import (
    NEVER,
    FlowColumns,
    OwnFiles,
    OwnPackets,
    OwnPeriods,
    OwnRequests,
    Part,
    check_drawn,
)
from forebay.workload.open_loop import starts
from forebay.workload.streams import (
    PS_PER_S,
    Block,
    Steps,
    blocks,
    picoseconds,
    poisson_arrivals,
    uniforms,
    until,
    whole_packets,
)

_Ints = NDArray[np.int64]
_AT_ONCE = 1 << 17


def requests(group: Requests, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw workers, each with more answers than it can send before the end."""
    asked, rtt = starts(group, index, seed), rtts(group, index, seed, group.flows)
    first = np.arange(0, group.flows, group.together)
    workers = np.diff(np.append(first, group.flows))
    thinks = _thinks(group, index, seed, asked[first], np.maximum.reduceat(rtt, first), end_ps)
    counts = np.repeat([len(each) for each in thinks], workers)
    check_drawn(int(counts.sum()))

    def own(name: str, values: Callable[[NDArray[np.float64]], _Ints]) -> list[_Ints]:
        """Return for each group an array of shape (workers, requests)."""
        return [
            values(_columns(seed, name, index, np.arange(begin, begin + n), len(each)))
            for begin, n, each in zip(first.tolist(), workers.tolist(), thinks, strict=True)
        ]

    segments = own("file", lambda u: whole_packets(group.response, group.packet, u))
    service = own("service", lambda u: picoseconds(group.service_time, u))
    begins = np.concatenate([each[:, 0] for each in service])
    files = OwnFiles(
        counts,
        np.concatenate([each.ravel() for each in segments]),
        np.concatenate([_next(each).ravel() for each in service]),
    )
    return Part(
        start_ps=asked + (rtt - rtt // 2) + begins,
        rtt_ps=rtt,
        segments=np.zeros(group.flows, dtype=np.int64),
        congestion_control=apportioned(group, index, seed),
        files=files,
        requests=OwnRequests(workers, asked[first], [each[:-1] for each in thinks]),
    )


def _next(service: _Ints) -> _Ints:
    """Return for each answer the service time of the one after it; 0 after the last."""
    return np.concatenate([service[:, 1:], np.zeros((len(service), 1), np.int64)], axis=1)


def _thinks(
    group: Requests, index: int, seed: int, asked: _Ints, rtt: _Ints, end_ps: int
) -> list[_Ints]:
    """Return for each group the pause after each request that can be asked before the end."""

    def cycles(block: Block) -> tuple[_Ints, ...]:
        think = picoseconds(group.think, block.uniforms(seed, "think", index))
        return think + rtt[block.flows][:, None], think  # the least time from request to request

    found: list[list[_Ints]] = [[] for _ in asked]
    for walk in until(end_ps, asked, group.requests_in(end_ps / PS_PER_S), cycles):
        for place, steps in enumerate(walk):
            wanted = steps.begins < end_ps
            wanted[:, 0] |= place == 0
            for row, flow in enumerate(steps.flows.tolist()):
                found[flow].append(steps.parts[1][row][wanted[row]])
    return [np.concatenate(pieces) for pieces in found]


def _columns(seed: int, name: str, index: int, flows: _Ints, count: int) -> NDArray[np.float64]:
    """Return the first numbers of some flows' streams, shape (flows, count)."""
    pieces, drawn = [], 0
    for block in blocks(flows, _AT_ONCE):
        pieces.append(block.uniforms(seed, name, index))
        drawn += len(block.columns)
        if drawn >= count:
            break
    return np.concatenate(pieces, axis=1)[:, :count]


__all__ = ["requests"]


def transfers(group: Transfers, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Return a table's transfers, each row an entry, or those that arrive in [0, end)."""
    table = group.table
    if table is not None:
        start, sizes = table.start_ps, table.size_bytes
    else:
        start = poisson_arrivals(
            seed, "arrival", index, group.arrivals_per_second(link_rate), end_ps
        )
        sizes = _sizes(group, uniforms(seed, "length", index, len(start)))
    n = len(start)
    drawn = rtts(group, index, seed, n)
    rtt = drawn if table is None or table.rtt_ps is None else table.rtt_ps
    control = one_by_one(group, uniforms(seed, "congestion-control", index, n))
    return Part(
        start_ps=start,
        rtt_ps=rtt,
        segments=-(-sizes // group.payload),
        congestion_control=control if table is None else _controls(group, table, control),
    )


def _sizes(group: Transfers, u: NDArray[np.float64]) -> _Ints:
    """Return bytes by the inverse of the distribution function."""
    assert group.size is not None, "transfers without a table are drawn"
    sizes, shares = map(np.array, zip(*group.size.points, strict=True))
    drawn = np.ceil(np.interp(u, shares, sizes))
    whole: _Ints = np.maximum(drawn, 1.0).astype(np.int64)
    return whole


def _controls(
    group: Transfers, table: TransferTable, default: NDArray[np.int32]
) -> NDArray[np.int32]:
    names = table.texts.get("congestion_control", ())
    if not any(names):
        return default
    place = {name: number for number, name in enumerate(control_names([group]))}
    own = np.array([place.get(name, -1) for name in names], dtype=np.int32)
    return np.where(own < 0, default, own)


def switched(part: Part, schedule: Schedule, index: int, seed: int, end_ps: int) -> Part:
    """Return a part whose flows send in their on-times alone, from their start to their stop."""
    if schedule.times is not None:
        owner, on, off = _given(part, schedule, end_ps)
    else:
        owner, on, off = _drawn(part, schedule, index, seed, end_ps)
    stop = np.full(len(part), NEVER) if part.stop_ps is None else part.stop_ps
    on, off = np.maximum(on, part.start_ps[owner]), np.minimum(off, stop[owner])
    kept = (on < off) & (on < end_ps)
    owner, on, off = owner[kept], on[kept], off[kept]
    periods = OwnPeriods(np.bincount(owner, minlength=len(part)), on, off)
    if part.packets is None:
        return replace(part, periods=periods, stop_ps=None)
    return replace(part, packets=_within(part.packets, periods))


def _given(part: Part, schedule: Schedule, end_ps: int) -> tuple[_Ints, _Ints, _Ints]:
    """Return the given times for each flow: the flow, on and off."""
    times = np.rint(np.array(schedule.times, dtype=float) * PS_PER_S).astype(np.int64)
    period = end_ps if schedule.period is None else round(float(schedule.period) * PS_PER_S)
    cycles = 1 if schedule.period is None else end_ps // period + 1
    all_times = (times[None] + period * np.arange(cycles)[:, None, None]).reshape(-1, 2)
    all_times = all_times[all_times[:, 0] < end_ps]
    check_drawn(len(part) * len(all_times))
    owner = np.repeat(np.arange(len(part)), len(all_times))
    return owner, np.tile(all_times[:, 0], len(part)), np.tile(all_times[:, 1], len(part))


def _drawn(
    part: Part, schedule: Schedule, index: int, seed: int, end_ps: int
) -> tuple[_Ints, _Ints, _Ints]:
    """Draw on and off in turn from the start of each flow: the flow, on and off."""
    law_on, law_off = schedule.on, schedule.off
    assert law_on is not None and law_off is not None, "without times"

    def cycles(block: Block) -> tuple[_Ints, ...]:
        on = picoseconds(law_on, block.uniforms(seed, "on", index))
        return on + picoseconds(law_off, block.uniforms(seed, "off", index)), on

    columns = FlowColumns(len(part))
    for walk in until(end_ps, part.start_ps, schedule.periods_in(end_ps / PS_PER_S), cycles):
        columns.add_group(_begun(walk, end_ps))
    on, off = (np.asarray(column, dtype=np.int64) for column in columns.joined())
    return np.repeat(np.arange(len(part)), columns.counts), on, off


def _begun(walk: Iterator[Steps], end_ps: int) -> Iterator[tuple[_Ints, tuple[_Ints, _Ints]]]:
    """Yield the on-times that begin before the end."""
    for steps in walk:
        wanted = steps.begins < end_ps
        begins = steps.begins[wanted]
        yield np.repeat(steps.flows, wanted.sum(axis=1)), (begins, begins + steps.parts[1][wanted])


def _within(packets: OwnPackets, periods: OwnPeriods) -> OwnPackets:
    """Return the packets that are sent in an on-time."""
    ends, lasts = np.cumsum(packets.counts), np.cumsum(periods.counts)
    kept = np.zeros(len(packets.at_ps), dtype=bool)
    for flow in range(len(packets.counts)):
        own = slice(ends[flow] - packets.counts[flow], ends[flow])
        on, off = (
            each[lasts[flow] - periods.counts[flow] : lasts[flow]]
            for each in (periods.on_ps, periods.off_ps)
        )
        at = packets.at_ps[own]
        kept[own] = np.searchsorted(on, at, side="right") > np.searchsorted(off, at, side="right")
    flows = np.repeat(np.arange(len(packets.counts)), packets.counts)
    counts = np.bincount(flows[kept], minlength=len(packets.counts))
    return OwnPackets(counts, packets.at_ps[kept], packets.bytes[kept])
