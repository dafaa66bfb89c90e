"""The draw: a scenario and a seed become flows. All randomness of the traffic is here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import (
    CONGESTION_CONTROLS,
    Long,
    OnOff,
    Replay,
    Scenario,
    Session,
    Short,
    Standing,
    Traffic,
    Udp,
    Video,
)
from forebay.workload import open_loop, tcp
from forebay.workload.model import OwnFiles, OwnPackets, Packets, Part, Sessions, Workload
from forebay.workload.spread import PS_PER_S
from forebay.workload.streams import word


def draw(scenario: Scenario, seed: int) -> Workload:
    """Return the flows of one replication.

    The same seed gives the same flows whatever the buffer, the goals or what is measured; a
    class's draws do not depend on the other classes, nor one field's on another's. A longer run
    adds flows, packets and files and changes none (but the scale of video, whose mean over the
    run is kept).

    Parameters
    ----------
    seed
        0 to 2**64 - 1; outside, ValueError.
    """
    groups = scenario.traffic
    parts = [_draw_class(scenario, group, index, seed) for index, group in enumerate(groups)]
    counts = [len(part) for part in parts]
    sizes = np.array([group.packet for group in groups], dtype=np.int32)
    rates = np.array([group.access(scenario.link.capacity) for group in groups], dtype=np.float64)
    backwards = np.array([group.direction == "reverse" for group in groups])

    return Workload(
        traffic_class=np.repeat(np.arange(len(parts), dtype=np.int32), counts),
        congestion_control=np.concatenate([part.congestion_control for part in parts]),
        rtt_ps=np.concatenate([part.rtt_ps for part in parts]),
        start_ps=np.concatenate([part.start_ps for part in parts]),
        segments=np.concatenate([part.segments for part in parts]),
        packet_bytes=np.repeat(sizes, counts),
        access_bps=np.repeat(rates, counts),
        access_group=_access_groups(groups, counts),
        reverse=np.repeat(backwards, counts),
        congestion_controls=CONGESTION_CONTROLS,
        tie_break_seed=word(seed, "tie-break"),
        packets=_packets(parts),
        sessions=_sessions(parts),
    )


def _draw_class(scenario: Scenario, group: Traffic, index: int, seed: int) -> Part:
    rate = scenario.link.capacity
    end = round((scenario.measure.warmup + scenario.measure.duration) * PS_PER_S)
    match group:
        case Long():
            return tcp.long(group, index, seed)
        case Short():
            return tcp.short(group, index, seed, rate, end)
        case Session():
            return tcp.session(group, index, seed, rate, end)
        case Udp():
            return open_loop.udp(group, index, seed, rate, end)
        case OnOff():
            return open_loop.onoff(group, index, seed, end)
        case Replay():
            return open_loop.replay(group, index, seed, end)
        case Video():
            from forebay.workload.video import video

            return video(group, index, seed, rate, end)


def _access_groups(groups: Sequence[Traffic], counts: Sequence[int]) -> NDArray[np.int32]:
    """Number the access links; short flows have one each."""
    numbered, first = [], 0
    for group, count in zip(groups, counts, strict=True):
        sharing = group.access_sharing if isinstance(group, Standing) else 1
        numbered.append(first + np.arange(count) // sharing)
        first += -(-count // sharing)
    return np.concatenate(numbered).astype(np.int32)


def _packets(parts: Sequence[Part]) -> Packets | None:
    owned = [part.packets for part in parts]
    if not any(owned):
        return None
    none = np.zeros(0, dtype=np.int64)
    full = [own or OwnPackets(none, none, none.astype(np.int32)) for own in owned]
    return Packets(
        offsets=_offsets(parts, owned),
        at_ps=np.concatenate([own.at_ps for own in full]),
        bytes=np.concatenate([own.bytes for own in full]),
    )


def _sessions(parts: Sequence[Part]) -> Sessions | None:
    owned = [part.files for part in parts]
    if not any(owned):
        return None
    none = np.zeros(0, dtype=np.int64)
    full = [own or OwnFiles(none, none, none) for own in owned]
    return Sessions(
        offsets=_offsets(parts, owned),
        segments=np.concatenate([own.segments for own in full]),
        think_ps=np.concatenate([own.think_ps for own in full]),
    )


def _offsets(
    parts: Sequence[Part], owned: Sequence[OwnPackets | OwnFiles | None]
) -> NDArray[np.int64]:
    """Return where each flow's own begin, over all flows; a flow without any has none."""
    counts = [
        np.zeros(len(part), dtype=np.int64) if own is None else own.counts
        for part, own in zip(parts, owned, strict=True)
    ]
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate(counts))])
