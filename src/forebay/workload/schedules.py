"""Draws when flows are switched on and off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forebay.scenario.schedule import Schedule
from forebay.workload.model import (
    NEVER,
    FlowColumns,
    OwnPackets,
    OwnPeriods,
    Part,
    check_drawn,
)
from forebay.workload.streams import (
    PS_PER_S,
    Block,
    Steps,
    picoseconds,
    until,
)

_Ints = NDArray[np.int64]


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
