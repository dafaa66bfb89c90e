"""Converts a scenario and a seed to the simulator's arguments.

Access links that several flows share become links with a queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.engines.replication import readings
from forebay.engines.replication.layout import Layout, LinkSpec, Route, lay_out
from forebay.engines.replication.transfer_routes import route_transfers
from forebay.engines.simulation.foreign_controls import Numbered, numbered
from forebay.files.columns import BLOCK_ROWS, Block, write_columns
from forebay.outcome.reading import IntArray
from forebay.scenario import BOTTLENECK, Duration, Scenario, ScenarioError, Tcp, Traffic, Transfers
from forebay.workload import Workload, draw
from forebay.workload.model import Packets, Periods, Sessions

DRAWS_SHARE = 1 / 16
READINGS_SHARE = 1 / 8
"""Largest shares of the memory limit for all workloads, and all readings, that are kept."""


class Draws:
    """The workloads of the latest traffic, link and time, by seed: a search draws each once.

    All take at most their share of the memory limit; what does not fit is drawn again.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._most, self.held_bytes = int(DRAWS_SHARE * limit_bytes), 0
        self._of: object = None
        self._known: dict[int, Workload] = {}

    def draw(self, scenario: Scenario, seed: int) -> Workload:
        """Return the workload, drawn now unless it is kept. Nobody may change its arrays."""
        of = (scenario.traffic, scenario.link.capacity, scenario.measure)
        if of != self._of:
            self._of, self.held_bytes = of, 0
            self._known.clear()
        known = self._known.get(seed)
        if known is None:
            known = draw(scenario, seed)
            if self.held_bytes + known.array_bytes <= self._most:
                self.held_bytes += known.array_bytes
                self._known[seed] = known
        return known


def make_run(
    scenario: Scenario,
    seed: int,
    watched: readings.Watched | None = None,
    layout: Layout | None = None,
    *,
    flow_records: bool = False,
    files: PacketFiles | None = None,
    workload: Workload | None = None,
) -> tuple[_core.Run, Workload, Layout]:
    """Draw the workload of `seed` unless it is given, and lay out the links, for the simulator.

    For a network, `layout` is given, and `scenario` is the one that `expand` returned.
    """
    workload = draw(scenario, seed) if workload is None else workload
    if watched is not None:
        watched.check(len(workload))
    layout = route_transfers(layout or lay_out(scenario), scenario, workload, seed)
    if layout.flows is not None:
        workload = replace(workload, rtt_ps=layout.flows.rtt_ps)
    rows = workload if workload.periods is None else connections(workload)
    access = give_access(layout, rows)
    # The capture behind an only link has handshakes, timestamps and ACKs; others are of the log.
    one_link = all(len(data) == 1 and not acks for data, acks in access.routes)
    capture = files is not None and files.capture is not None and one_link
    logs = files is not None and (files.table is not None or not capture)
    outside = numbered(rows.congestion_controls)
    run = _core.Run(
        links=access.links,
        routes=access.routes,
        memory_bytes=scenario.memory,
        profiles=[_profile(traffic) for traffic in scenario.traffic],
        flows=_flows(scenario, rows, access, outside),
        sources=_sources(rows),
        barriers=_barriers(workload),
        seed=workload.tie_break_seed,
        warmup_ps=readings.picoseconds(scenario.measure.warmup),
        window_ps=readings.picoseconds(scenario.measure.duration),
        batches=readings.n_parts(scenario),
        trace_step_ps=None if watched is None else readings.picoseconds(watched.step_s),
        trace_flows=() if watched is None else watched.flows,
        capture=capture,
        flow_records=flow_records or any(isinstance(t, Transfers) for t in scenario.traffic),
        logged_links=len(layout.links) if logs else 0,
        foreign=outside[1],
    )
    return run, workload.without_own(), layout


def _flows(
    scenario: Scenario, workload: Workload, access: Access, controls: Numbered
) -> _core.Flows:
    numbers, outside = controls
    alone = np.array([not isinstance(group, Tcp) for group in scenario.traffic])
    packets, sessions = workload.packets, workload.sessions
    return _core.Flows(
        traffic_class=workload.traffic_class,
        route=access.route,
        congestion_control=numbers[workload.congestion_control],
        rtt_ps=workload.rtt_ps,
        start_ps=workload.start_ps,
        segments=workload.segments,
        packet_bytes=workload.packet_bytes,
        access_bps=access.access_bps,
        open_loop=alone[workload.traffic_class],
        packet_offsets=None if packets is None else packets.offsets,
        file_offsets=None if sessions is None else sessions.offsets,
        stop_ps=workload.stop_ps,
        foreign=outside,
    )


def _sources(workload: Workload) -> _core.Sources | None:
    packets, sessions = workload.packets, workload.sessions
    if packets is None and sessions is None:
        return None
    none = np.zeros(0, dtype=np.int64)
    return _core.Sources(
        packet_at_ps=none if packets is None else packets.at_ps,
        packet_bytes=none.astype(np.int32) if packets is None else packets.bytes,
        file_segments=none if sessions is None else sessions.segments,
        file_think_ps=none if sessions is None else sessions.think_ps,
    )


def _barriers(workload: Workload) -> list[tuple[int, int, int, list[int]]]:
    """Return which rows wait for each other: the first, one past the last, start and pauses."""
    groups = workload.requests
    if groups is None:
        return []
    ends = [groups.first, groups.end]
    if workload.periods is not None:  # a row for each on-time of other flows
        ends = [np.searchsorted(workload.periods.owner, end) for end in ends]
    numbers = (ends[0].tolist(), ends[1].tolist(), groups.asked_ps.tolist())
    pauses = [times.tolist() for times in groups.think_ps]
    return list(zip(*numbers, pauses, strict=True))


def _profile(traffic: Traffic) -> _core.Profile:
    if not isinstance(traffic, Tcp):
        return _core.Profile("ns2")  # open loop: no TCP stack
    written = {name: getattr(traffic, name) for name in _core.SENDER_OPTIONS}
    options = {
        name: readings.picoseconds(value) if isinstance(value, Duration) else value
        for name, value in (written | {"offload": traffic.offloads}).items()
        if value is not None
    }
    return _core.Profile(traffic.sender, options)


_HOST_QUEUE = 1000
"""Packets that a host queues before its own access link: Linux's txqueuelen."""
_MOST_SHARED = 60_000
_AT_ONCE = 1e18
_INSTANT_BPS, _ENDLESS = 1e14, 1_000_000_000


@dataclass(frozen=True, slots=True)
class Access:
    """All links in the simulator's order, and the route of each flow.

    ``route`` is the index into ``routes``, and ``access_bps`` the rate of each flow's own link,
    practically unlimited behind a shared access link; both have shape (flows,).
    """

    links: list[_core.Link]
    routes: list[Route]
    route: NDArray[np.int32]
    access_bps: NDArray[np.float64]


def give_access(layout: Layout, workload: Workload) -> Access:
    """Append shared access links to the reported links; in a network, the hosts' links instead."""
    if layout.flows is not None:
        return Access(
            links=[_link(link) for link in (*layout.links, *layout.flows.hosts)],
            routes=list(layout.routes),
            route=layout.flows.route,
            access_bps=np.full(len(workload), _AT_ONCE),
        )
    access = Access(
        links=[_link(link) for link in layout.links],
        routes=list(layout.routes),
        route=workload.traffic_class.copy(),
        access_bps=workload.access_bps.copy(),
    )
    _share(access, workload)
    _order_arrivals(access, layout)
    return access


def _share(access: Access, workload: Workload) -> None:
    """Add a link with a queue for each access link that several flows share."""
    groups = workload.access_group
    if not len(groups) or groups[-1] + 1 == len(groups):
        return  # each flow has its own
    _, first, size = np.unique(workload.access_group, return_index=True, return_counts=True)
    if np.count_nonzero(size > 1) > _MOST_SHARED:
        field = "traffic.access_sharing"
        raise ScenarioError("out-of-range.shared-access", field=field, most=_MOST_SHARED)
    for flow, flows in zip(first[size > 1], size[size > 1], strict=True):
        rate = workload.access_bps[flow]
        access.links.append(_core.Link({"rate_bps": rate, "buffer_packets": _HOST_QUEUE}))
        forward, backward = access.routes[workload.traffic_class[flow]]
        access.routes.append(([len(access.links) - 1, *forward], backward))
        behind = slice(flow, flow + flows)  # groups lie one after the other
        access.route[behind] = len(access.routes) - 1
        access.access_bps[behind] = _AT_ONCE


def _order_arrivals(access: Access, layout: Layout) -> None:
    """Let packets that a route's last link reorders come to its receiver in the order of arrival.

    Behind such a link each has an event of its own: that of a further link, which holds up none.
    """
    behind: dict[int, int] = {}
    endless = {"rate_bps": _INSTANT_BPS, "buffer_packets": _ENDLESS}
    for number, (forward, backward) in enumerate(access.routes):
        last = forward[-1]
        jitter = layout.links[last].jitter
        if jitter is not None and jitter["reorders"]:
            if last not in behind:
                behind[last] = len(access.links)
                access.links.append(_core.Link(endless))
            access.routes[number] = ([*forward, behind[last]], backward)


def check_links(scenario: Scenario) -> None:
    """Refuse a buffer that is too small for its discipline. Raises ScenarioError."""
    for link in lay_out(scenario).links:
        _link(link)


def _link(link: LinkSpec) -> _core.Link:
    """Return a link of the simulator; some disciplines, such as red, refuse very small buffers."""
    try:
        return _core.Link(link.plan())
    except ValueError as error:
        refused = "out-of-range.too-small", "", link.buffer_packets, str(error)
    for part in reversed(link.classes):  # the first one is said
        try:
            _core.Link(replace(link, classes=[part], class_of=[]).plan())
        except ValueError as error:
            refused = "out-of-range.too-small-queue", part.name, part.buffer_packets, str(error)
    kind, name, packets, why = refused
    raise ScenarioError(kind, field="queue", name=name, packets=packets, link=link.name, error=why)


Own = TypeVar("Own", Packets, Sessions)
_OF_FLOWS = ("flow_bytes", "flow_drops", "flow_passed")
_OF_OWNER = ("traffic_class", "congestion_control", "rtt_ps", "segments", "packet_bytes",
             "access_bps", "reverse")  # fmt: skip


def connections(workload: Workload) -> Workload:
    """Return a workload with one entry for each on-time, and for each flow that has no schedule."""
    periods = workload.periods
    if periods is None:
        return workload
    owner, group = periods.owner, workload.access_group
    # Access links: shared ones as they are, else one for each connection.
    apart = np.where(np.bincount(group)[group[owner]] > 1, 0, np.arange(len(owner)))
    keys = group[owner].astype(np.int64) * (len(owner) + 1) + apart
    return replace(
        workload,
        **{name: getattr(workload, name)[owner] for name in _OF_OWNER},
        start_ps=periods.on_ps,
        access_group=np.unique(keys, return_inverse=True)[1].astype(np.int32),
        stop_ps=periods.off_ps,
        packets=_by_connection(workload.packets, owner),
        sessions=_by_connection(workload.sessions, owner),
        periods=None,
    )


def _by_connection(own: Own | None, owner: IntArray) -> Own | None:
    """Return packets or files by connection: flows with any have one each."""
    if own is None:
        return None
    ends = np.cumsum(np.diff(own.offsets)[owner])
    return replace(own, offsets=np.concatenate([np.zeros(1, dtype=np.int64), ends]))


def by_flow(raw: readings.RawReadings, workload: Workload) -> readings.RawReadings:
    """Return the readings of connections as those of their flows."""
    periods = workload.periods
    if periods is None:
        return raw
    arrays: dict[str, Any] = dict(raw)
    changed: dict[str, Any] = {}
    for name in _OF_FLOWS:
        changed[name] = np.zeros(len(workload), dtype=arrays[name].dtype)
        np.add.at(changed[name], periods.owner, arrays[name])
    records = raw.get("flow_records")
    if records is not None:
        changed["flow_records"] = _OfFlows(records, periods)
    return cast("readings.RawReadings", arrays | changed)


@dataclass(frozen=True, slots=True)
class _OfFlows:
    """Records whose flows are those of the workload, and the connections their transfers."""

    records: readings.RawFlowRecords
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


@dataclass(frozen=True, slots=True)
class PacketFiles:
    """Where the packets of the next replication are written; None where they are not.

    Attributes
    ----------
    capture : a pcapng file: behind a scenario's only link, or an interface for each link.
    table : a .csv or .parquet file, a row for everything that happens to a packet at a link.
    """

    capture: Path | None = None
    table: Path | None = None

    def write(
        self,
        scenario: Scenario,
        workload: Workload,
        layout: Layout,
        packets: _core.Packets | None,
        log: _core.PacketLog | None,
    ) -> None:
        """Write what is asked for. Raises OSError, MissingPackage."""
        names = [link.name for link in layout.links]
        if self.capture is not None and packets is not None:
            packets.write(self.capture, [BOTTLENECK, "acks"], _window(scenario))
        elif self.capture is not None and log is not None:
            log.write_capture(self.capture, names, _window(scenario))
        if self.table is not None and log is not None:
            write_columns(self.table, _blocks(scenario, workload, names, log))


def _window(scenario: Scenario) -> str:
    """Return the comment of a capture; the testbed's has the same words."""
    begin = float(scenario.measure.warmup)
    end = begin + float(scenario.measure.duration)
    return f"forebay: the measured window, {begin:g} s to {end:g} s"


def _blocks(
    scenario: Scenario, workload: Workload, links: list[str], log: _core.PacketLog
) -> Iterator[Block]:
    """Yield the rows of a log in blocks; of one without rows, a block without rows."""
    names = {
        "link": np.array(links, dtype=object),
        "event": np.array(log.EVENTS, dtype=object),
        "class": np.array(scenario.class_names, dtype=object),
        "packet": np.array(["data", "ack"], dtype=object),
    }
    for first in range(0, max(len(log), 1), BLOCK_ROWS):
        raw = log.columns(first, first + BLOCK_ROWS)
        flow, transfer = raw["flow"], raw["connection"]
        if (periods := workload.periods) is not None:  # each on-time is a flow of the simulator
            flow, transfer = periods.owner[flow], transfer + periods.number[flow]
        yield {
            "time_s": raw["at_ps"] / 1e12,
            "link": names["link"][raw["link"]],
            "event": names["event"][raw["event"]],
            "class": names["class"][workload.traffic_class[flow]],
            "flow": flow,
            "transfer": transfer,
            "packet": names["packet"][raw["ack"]],
            "sequence": raw["sequence"],
            "bytes": raw["bytes"],
        }
