"""The draw: turns a scenario and a seed into flows. All randomness of the traffic is drawn here.

Classes that run TCP are drawn in this file; those without it in `open_loop`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from forebay.catalogue import KINDS, IncompleteRecord, is_ours
from forebay.scenario import CONGESTION_CONTROLS, Duration, Scenario, ScenarioError, Traffic
from forebay.scenario.source import Schedule, Standing, Stopping, Switched
from forebay.scenario.tcp import Fetching, Long, Requests, Session, Short, Tcp
from forebay.scenario.transfers import Transfers, TransferTable
from forebay.words import Fact
from forebay.workload import model, streams
from forebay.workload.model import OwnFiles, OwnPackets, OwnPeriods, Part, Workload
from forebay.workload.open_loop import starts
from forebay.workload.streams import PS_PER_S, Block, Steps, picoseconds, uniforms, until


def control_names(groups: Sequence[Traffic] | Sequence[Tcp]) -> tuple[str, ...]:
    """Return the simulator's congestion controls, and those from outside that the groups have."""
    named = [group.control_names for group in groups if isinstance(group, Tcp)]
    outside = {name for names in named for name in names if not is_ours(name)}
    return (*CONGESTION_CONTROLS, *sorted(outside))


def numbered_together(groups: Sequence[Traffic], parts: Sequence[Part]) -> NDArray[np.int32]:
    """Return the control of each flow; a class numbers those from outside that it has itself."""
    place = {name: number for number, name in enumerate(control_names(groups))}
    drawn = []
    for group, part in zip(groups, parts, strict=True):
        own = np.array([place[name] for name in control_names([group])], dtype=np.int32)
        drawn.append(own[part.congestion_control])
    return np.concatenate(drawn)


_Ints = NDArray[np.int64]
Joined = TypeVar("Joined", model.Packets, model.Sessions)


def draw(scenario: Scenario, seed: int) -> Workload:
    """Return the flows of one replication.

    The same seed gives the same flows for any buffer, goals or measured window. A class's draws do
    not depend on the other classes, nor one field's on another's. A longer run adds flows, packets
    and files and changes none, except the scale of video, whose mean over the run is fixed.

    Parameters
    ----------
    seed : 0 to 2**64 - 1; ValueError otherwise.
    """
    groups = scenario.traffic
    parts = [_draw_class(scenario, group, index, seed) for index, group in enumerate(groups)]
    _check_begun(scenario, parts, seed)
    counts = [len(part) for part in parts]
    sizes = np.array([group.packet for group in groups], dtype=np.int32)
    rates = np.array([group.access(scenario.link.capacity) for group in groups], dtype=np.float64)
    backwards = np.array([group.direction == "reverse" for group in groups])
    endless = all(part.stop_ps is None for part in parts)
    return Workload(
        traffic_class=np.repeat(np.arange(len(parts), dtype=np.int32), counts),
        congestion_control=numbered_together(groups, parts),
        rtt_ps=np.concatenate([part.rtt_ps for part in parts]),
        start_ps=np.concatenate([part.start_ps for part in parts]),
        segments=np.concatenate([part.segments for part in parts]),
        packet_bytes=np.repeat(sizes, counts),
        access_bps=np.repeat(rates, counts),
        access_group=_access_groups(groups, counts),
        reverse=np.repeat(backwards, counts),
        congestion_controls=control_names(groups),
        tie_break_seed=streams.word(seed, "tie-break"),
        stop_ps=None if endless else np.concatenate([part.stops for part in parts]),
        packets=_joined(model.Packets, parts, [part.packets for part in parts]),
        sessions=_joined(model.Sessions, parts, [part.files for part in parts]),
        requests=_requests(parts),
        periods=_periods(parts),
    )


def _check_begun(scenario: Scenario, parts: Sequence[Part], seed: int) -> None:
    """Refuse a run in which no flow starts: nothing would be measured."""
    end = Duration(scenario.measure.warmup + scenario.measure.duration)
    known = all(isinstance(group, Standing) for group in scenario.traffic)
    if known and min(int(part.start_ps.min()) for part in parts) >= round(end * PS_PER_S):
        raise ScenarioError("contradiction.no-flow-starts", field="traffic", end=end, seed=seed)


def _draw_class(scenario: Scenario, group: Traffic, index: int, seed: int) -> Part:
    rate = scenario.link.capacity
    end = round((scenario.measure.warmup + scenario.measure.duration) * PS_PER_S)
    part = _draw_of(group.kind)(group, index, seed, rate, end)
    if isinstance(group, Stopping) and group.stop is not None:
        part = _stopped(part, picoseconds(group.stop, uniforms(seed, "stop", index, len(part))))
    if isinstance(group, Switched) and group.schedule is not None:
        part = switched(part, group.schedule, index, seed, end)
    return part


def _stopped(part: Part, stop_ps: _Ints) -> Part:
    """Return a part whose flows stop: TCP at those times, datagrams are left out from then on."""
    if part.packets is None:
        return replace(part, stop_ps=stop_ps)
    own, flows = part.packets, np.repeat(np.arange(len(part)), part.packets.counts)
    return replace(part, packets=own.only(own.at_ps < stop_ps[flows]))


def _periods(parts: Sequence[Part]) -> model.Periods | None:
    if all(part.periods is None for part in parts):
        return None
    # A flow without a schedule has one on-time, from its start to its stop.
    full = [
        part.periods or OwnPeriods(np.ones(len(part), dtype=np.int64), part.start_ps, part.stops)
        for part in parts
    ]
    counts = np.concatenate([own.counts for own in full])
    owner = np.repeat(np.arange(len(counts)), counts)
    return model.Periods(
        owner=owner,
        number=np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner],
        on_ps=np.concatenate([own.on_ps for own in full]),
        off_ps=np.concatenate([own.off_ps for own in full]),
    )


Draw = Callable[[Any, int, int, float, int], Part]
"""Draws a class: the class, its index, the seed, the link's rate in bit/s, the run's end in ps."""


def _draw_of(kind: str) -> Draw:
    """Return the function that the kind's record names; its module is imported at first use."""
    module, _, name = KINDS[kind].drawn_by.partition(".")
    try:
        function: Draw = getattr(import_module(f"forebay.workload.{module}"), name)
    except (ModuleNotFoundError, AttributeError):
        why = Fact("record.names-nothing", named=f"{module}.{name}", where="forebay.workload")
        raise IncompleteRecord("kind", kind, why) from None
    return function


def _access_groups(groups: Sequence[Traffic], counts: Sequence[int]) -> NDArray[np.int32]:
    """Number the access links; each short flow has its own."""
    numbered, first = [], 0
    for group, count in zip(groups, counts, strict=True):
        sharing = group.access_sharing if isinstance(group, Standing) else 1
        numbered.append(first + np.arange(count) // sharing)
        first += -(-count // sharing)
    return np.concatenate(numbered).astype(np.int32)


def _joined(
    kind: type[Joined], parts: Sequence[Part], owned: Sequence[OwnPackets | OwnFiles | None]
) -> Joined | None:
    """Return the packets or files of all flows; None if no class has any."""
    some = [own for own in owned if own is not None]
    if not some:
        return None
    counts = [
        np.zeros(len(part), dtype=np.int64) if own is None else own.counts
        for part, own in zip(parts, owned, strict=True)
    ]
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(counts))])
    _, *names = (field.name for field in fields(kind))
    return kind(offsets, *(np.concatenate([getattr(own, name) for own in some]) for name in names))


def _requests(parts: Sequence[Part]) -> model.RequestGroups | None:
    if all(part.requests is None for part in parts):
        return None
    before = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    first, end, asked, think = [], [], [], []
    for part, flows in zip(parts, before.tolist(), strict=False):
        if part.requests is not None:
            ends = flows + np.cumsum(part.requests.workers)
            first.append(ends - part.requests.workers)
            end.append(ends)
            asked.append(part.requests.asked_ps)
            think += part.requests.think_ps
    return model.RequestGroups(
        np.concatenate(first), np.concatenate(end), np.concatenate(asked), tuple(think)
    )


def long(group: Long, index: int, seed: int, _link_rate: float, _end_ps: int) -> Part:
    """Draw flows of unlimited length."""
    start, rtt = starts(group, index, seed), rtts(group, index, seed, group.flows)
    endless = np.zeros(group.flows, dtype=np.int64)
    return Part(start, rtt, endless, apportioned(group, index, seed))


def short(group: Short, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw the flows that arrive in [0, end); a longer run adds flows and changes none."""
    rate = group.arrivals_per_second(link_rate)
    start = streams.poisson_arrivals(seed, "arrival", index, rate, end_ps)
    n = len(start)
    lengths = uniforms(seed, "length", index, n)
    segments = streams.whole_packets(group.length, group.packet, lengths)
    control = one_by_one(group, uniforms(seed, "congestion-control", index, n))
    return Part(start, rtts(group, index, seed, n), segments, control)


def session(group: Session, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw users, each with more files than it can transfer before the end."""
    start = starts(group, index, seed)
    rtt = rtts(group, index, seed, group.flows)
    packet_ps = 8 * group.packet / group.access(link_rate) * PS_PER_S

    def cycles(block: Block) -> tuple[_Ints, ...]:
        """Return the least time from file to file, the file's packets and the think time."""
        segments = streams.whole_packets(
            group.file, group.packet, block.uniforms(seed, "file", index)
        )
        think = picoseconds(group.think, block.uniforms(seed, "think", index))
        # A file takes at least an RTT plus its transmission time on the access link.
        sending = np.minimum(segments * packet_ps, 2.0**60).astype(np.int64)
        return think + np.minimum(sending, 2**60) + rtt[block.flows][:, None], segments, think

    columns = model.FlowColumns(len(start))
    for walk in until(end_ps, start, group.files_in(end_ps / PS_PER_S), cycles):
        columns.add_group(_files(walk, end_ps))
    segments, think = (np.asarray(column, dtype=np.int64) for column in columns.joined())
    files = OwnFiles(columns.counts, segments, think)
    zeros = np.zeros(group.flows, dtype=np.int64)
    return Part(start, rtt, zeros, apportioned(group, index, seed), files=files)


def _files(walk: Iterator[Steps], end_ps: int) -> Iterator[tuple[_Ints, tuple[_Ints, _Ints]]]:
    """Yield each user's first file, and the others that can begin before the end."""
    for place, steps in enumerate(walk):
        wanted = steps.begins < end_ps
        wanted[:, 0] |= place == 0
        _, segments, think = steps.parts
        yield np.repeat(steps.flows, wanted.sum(axis=1)), (segments[wanted], think[wanted])


_ANSWERS_AT_ONCE = 1 << 17


def requests(group: Requests, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Draw workers, each with more answers than it can send before the end."""
    asked, rtt = starts(group, index, seed), rtts(group, index, seed, group.flows)
    first = np.arange(0, group.flows, group.together)
    workers = np.diff(np.append(first, group.flows))
    thinks = _thinks(group, index, seed, asked[first], np.maximum.reduceat(rtt, first), end_ps)
    counts = np.repeat([len(think) for think in thinks], workers)
    model.check_drawn(int(counts.sum()))

    def own(name: str, values: Callable[[NDArray[np.float64]], _Ints]) -> list[_Ints]:
        """Return for each group an array of shape (workers, requests)."""
        return [
            values(_columns(seed, name, index, np.arange(begin, begin + n), len(think)))
            for begin, n, think in zip(first.tolist(), workers.tolist(), thinks, strict=True)
        ]

    segments = own("file", lambda u: streams.whole_packets(group.response, group.packet, u))
    service = own("service", lambda u: picoseconds(group.service_time, u))
    begins = np.concatenate([times[:, 0] for times in service])
    files = OwnFiles(
        counts,
        np.concatenate([segment.ravel() for segment in segments]),
        # For each answer the service time of the one after it; 0 after the last.
        np.concatenate([np.pad(times[:, 1:], ((0, 0), (0, 1))).ravel() for times in service]),
    )
    return Part(
        start_ps=asked + (rtt - rtt // 2) + begins,
        rtt_ps=rtt,
        segments=np.zeros(group.flows, dtype=np.int64),
        congestion_control=apportioned(group, index, seed),
        files=files,
        requests=model.OwnRequests(workers, asked[first], [think[:-1] for think in thinks]),
    )


def _thinks(
    group: Requests, index: int, seed: int, asked: _Ints, rtt: _Ints, end_ps: int
) -> list[_Ints]:
    """Return for each group the pause after each request that can be asked before the end."""

    def cycles(block: Block) -> tuple[_Ints, ...]:
        think = picoseconds(group.think, block.uniforms(seed, "think", index))
        return think + rtt[block.flows][:, None], think  # the least time from request to request

    pauses: list[list[_Ints]] = [[] for _ in asked]
    for walk in until(end_ps, asked, group.files_in(end_ps / PS_PER_S), cycles):
        for place, steps in enumerate(walk):
            wanted = steps.begins < end_ps
            wanted[:, 0] |= place == 0
            for row, flow in enumerate(steps.flows.tolist()):
                pauses[flow].append(steps.parts[1][row][wanted[row]])
    return [np.concatenate(pieces) for pieces in pauses]


def _columns(seed: int, name: str, index: int, flows: _Ints, count: int) -> NDArray[np.float64]:
    """Return the first numbers of some flows' streams, shape (flows, count)."""
    pieces, drawn = [], 0
    for block in streams.blocks(flows, _ANSWERS_AT_ONCE):
        pieces.append(block.uniforms(seed, name, index))
        drawn += len(block.columns)
        if drawn >= count:
            break
    return np.concatenate(pieces, axis=1)[:, :count]


def rtts(group: Tcp, index: int, seed: int, n: int) -> _Ints:
    """Return the propagation delay of each flow."""
    return picoseconds(group.rtt, uniforms(seed, "rtt", index, n))


def apportioned(group: Long | Fetching, index: int, seed: int) -> NDArray[np.int32]:
    """Assign the congestion controls to a fixed number of flows by share, shuffled."""
    keys = uniforms(seed, "congestion-control", index, group.flows)
    return assign(apportion(group.flows, group.shares), control_names([group]), keys)


def one_by_one(group: Tcp, u: NDArray[np.float64]) -> NDArray[np.int32]:
    """Draw the congestion control of each flow by itself, because their number is random."""
    known = control_names([group])
    names = [name for name in known if name in group.shares]
    ends = np.cumsum([group.shares[name] for name in names])
    place = np.minimum(np.searchsorted(ends, u, side="right"), len(names) - 1)
    return np.array([known.index(name) for name in names], dtype=np.int32)[place]


def apportion(flows: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Return whole numbers that sum to ``flows``, by largest remainder (Hamilton).

    Each count is within one of ``flows * share``; ties are broken by name.
    """
    total = sum(shares.values())
    quotas = {name: flows * share / total for name, share in shares.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda name: (counts[name] - quotas[name], name))
    for name in by_remainder[: flows - sum(counts.values())]:
        counts[name] += 1
    return counts


def assign(
    counts: Mapping[str, int], names: tuple[str, ...], keys: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Return for each flow the index of its congestion control in ``names``.

    ``keys`` has one random number for each flow; the flows are shuffled by sorting on it.
    """
    used = [name for name in names if counts.get(name)]
    indices = [names.index(name) for name in used]
    in_order = np.repeat(np.array(indices, dtype=np.int32), [counts[name] for name in used])
    return in_order[np.argsort(keys, kind="stable")]


def switched(part: Part, schedule: Schedule, index: int, seed: int, end_ps: int) -> Part:
    """Return a part whose flows send in their on-times alone, from their start to their stop."""
    if schedule.times is not None:
        owner, on, off = _given(part, schedule, end_ps)
    else:
        owner, on, off = _drawn(part, schedule, index, seed, end_ps)
    on, off = np.maximum(on, part.start_ps[owner]), np.minimum(off, part.stops[owner])
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
    model.check_drawn(len(part) * len(all_times))
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

    columns = model.FlowColumns(len(part))
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
    ends, lasts = np.cumsum(packets.counts), np.cumsum(periods.counts)
    kept = np.zeros(len(packets.at_ps), dtype=bool)
    for flow in range(len(packets.counts)):
        own = slice(ends[flow] - packets.counts[flow], ends[flow])
        times = slice(lasts[flow] - periods.counts[flow], lasts[flow])
        on, off = periods.on_ps[times], periods.off_ps[times]
        at = packets.at_ps[own]
        kept[own] = np.searchsorted(on, at, side="right") > np.searchsorted(off, at, side="right")
    return packets.only(kept)


def transfers(group: Transfers, index: int, seed: int, link_rate: float, end_ps: int) -> Part:
    """Return a table's transfers, each row an entry, or those that arrive in [0, end)."""
    table = group.table
    if table is not None:
        start, sizes = table.start_ps, table.size_bytes
    else:
        rate = group.arrivals_per_second(link_rate)
        start = streams.poisson_arrivals(seed, "arrival", index, rate, end_ps)
        sizes = _sizes(group, uniforms(seed, "length", index, len(start)))
    n, given = len(start), None if table is None else table.rtt_ps
    rtt = rtts(group, index, seed, n) if given is None else given
    control = one_by_one(group, uniforms(seed, "congestion-control", index, n))
    if table is not None:
        control = _controls(group, table, control)
    return Part(start, rtt, -(-sizes // group.payload), control)


def _sizes(group: Transfers, u: NDArray[np.float64]) -> _Ints:
    """Return bytes by the inverse of the distribution function."""
    assert group.size is not None, "transfers without a table are drawn"
    sizes, shares = map(np.array, zip(*group.size.points, strict=True))
    drawn = np.ceil(np.interp(u, shares, sizes))
    return np.asarray(np.maximum(drawn, 1.0).astype(np.int64))


def _controls(
    group: Transfers, table: TransferTable, default: NDArray[np.int32]
) -> NDArray[np.int32]:
    names = table.texts.get("congestion_control", ())
    if not any(names):
        return default
    place = {name: number for number, name in enumerate(control_names([group]))}
    own = np.array([place.get(name, -1) for name in names], dtype=np.int32)
    return np.where(own < 0, default, own)
