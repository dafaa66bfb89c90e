"""Flows that are switched on and off: each on-time is a connection of its own in the simulator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from forebay.workload.model import Packets, Periods, Sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forebay.engines.replication.raw import RawFlowRecords, RawReadings
    from forebay.workload import Workload

_Ints = NDArray[np.int64]
_OF_FLOWS = ("flow_bytes", "flow_drops", "flow_passed")


def connections(workload: Workload) -> Workload:
    """Return a workload with one entry for each on-time, and for each flow that has no schedule."""
    periods = workload.periods
    if periods is None:
        return workload
    owner = periods.owner
    return replace(
        workload,
        traffic_class=workload.traffic_class[owner],
        congestion_control=workload.congestion_control[owner],
        rtt_ps=workload.rtt_ps[owner],
        start_ps=periods.on_ps,
        segments=workload.segments[owner],
        packet_bytes=workload.packet_bytes[owner],
        access_bps=workload.access_bps[owner],
        access_group=_own_or_shared(workload.access_group, owner),
        reverse=workload.reverse[owner],
        stop_ps=periods.off_ps,
        packets=_packets(workload.packets, owner),
        sessions=_sessions(workload.sessions, owner),
        periods=None,
    )


def _own_or_shared(group: NDArray[np.int32], owner: _Ints) -> NDArray[np.int32]:
    """Return the access links: shared ones as they are, else one for each connection."""
    shared = np.bincount(group)[group[owner]] > 1
    apart = np.where(shared, 0, np.arange(len(owner)))
    keys = group[owner].astype(np.int64) * (len(owner) + 1) + apart
    return np.unique(keys, return_inverse=True)[1].astype(np.int32)


def _packets(own: Packets | None, owner: _Ints) -> Packets | None:
    return None if own is None else replace(own, offsets=_offsets(own.offsets, owner))


def _sessions(own: Sessions | None, owner: _Ints) -> Sessions | None:
    return None if own is None else replace(own, offsets=_offsets(own.offsets, owner))


def _offsets(offsets: _Ints, owner: _Ints) -> _Ints:
    """Return the offsets by connection: flows with packets or files have one each."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.diff(offsets)[owner])])


def by_flow(raw: RawReadings, workload: Workload) -> RawReadings:
    """Return the readings of connections as those of their flows."""
    periods = workload.periods
    if periods is None:
        return raw
    arrays: dict[str, Any] = dict(raw)
    changed: dict[str, Any] = {
        name: _sums(arrays[name], periods, len(workload)) for name in _OF_FLOWS
    }
    records = raw.get("flow_records")
    if records is not None:
        changed["flow_records"] = _OfFlows(records, periods)
    return cast("RawReadings", arrays | changed)


def _sums(values: _Ints, periods: Periods, flows: int) -> _Ints:
    sums = np.zeros(flows, dtype=values.dtype)
    np.add.at(sums, periods.owner, values)
    return sums


@dataclass(frozen=True, slots=True)
class _OfFlows:
    """Records whose flows are those of the workload, and the connections their transfers."""

    records: RawFlowRecords
    periods: Periods

    def __len__(self) -> int:
        return len(self.records)

    def columns(
        self, first: int = 0, end: int | None = None, names: Sequence[str] | None = None
    ) -> dict[str, NDArray[Any]]:
        names = None if names is None else ("flow", *names)
        raw = dict(self.records.columns(first, end, names))
        rows = raw["flow"]
        if "transfer" in raw:
            raw["transfer"] = raw["transfer"] + self.periods.number[rows]
        raw["flow"] = self.periods.owner[rows]
        return raw
