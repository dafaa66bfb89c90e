"""From a scenario and a seed to the simulator's own terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forebay import _core
from forebay.engines.errors import CannotPlay
from forebay.engines.simulation.access import Access, give_access
from forebay.replication import Layout, Watched, lay_out, n_parts, picoseconds
from forebay.scenario import Tcp
from forebay.workload import Workload, draw

if TYPE_CHECKING:
    from forebay.scenario import Scenario, Traffic


def make_run(
    scenario: Scenario,
    seed: int,
    watched: Watched | None = None,
    layout: Layout | None = None,
    *,
    capture: bool = False,
) -> tuple[_core.Run, Workload, Layout]:
    """Draw the workload of `seed`, lay out the links, and hand both to the simulator.

    A network's layout is given, with the scenario that `expand` made of its own.
    """
    workload = draw(scenario, seed)
    if watched is not None:
        watched.check(len(workload))
    layout = layout or lay_out(scenario)
    if layout.flows is not None:
        workload = replace(workload, rtt_ps=layout.flows.rtt_ps)
    access = give_access(layout, workload)
    if capture and any(len(data) > 1 or acks for data, acks in access.routes):
        raise CannotPlay("simulation", "a capture of routes over several links", "capture")
    run = _core.Run(
        links=access.links,
        routes=access.routes,
        memory_bytes=scenario.memory,
        profiles=[_profile(traffic) for traffic in scenario.traffic],
        flows=_flows(scenario, workload, access),
        sources=_sources(workload),
        seed=workload.tie_break_seed,
        warmup_ps=picoseconds(scenario.measure.warmup),
        window_ps=picoseconds(scenario.measure.duration),
        batches=n_parts(scenario),
        trace_step_ps=None if watched is None else picoseconds(watched.step_s),
        trace_flows=() if watched is None else watched.flows,
        capture=capture,
    )
    return run, workload.without_own(), layout


def _flows(scenario: Scenario, workload: Workload, access: Access) -> _core.Flows:
    controls = np.array(
        [_core.CONGESTION_CONTROLS.index(name) for name in workload.congestion_controls],
        dtype=np.int32,
    )
    alone = np.array([not isinstance(group, Tcp) for group in scenario.traffic])
    packets, sessions = workload.packets, workload.sessions
    return _core.Flows(
        traffic_class=workload.traffic_class,
        route=access.route,
        congestion_control=controls[workload.congestion_control],
        rtt_ps=workload.rtt_ps,
        start_ps=workload.start_ps,
        segments=workload.segments,
        packet_bytes=workload.packet_bytes,
        access_bps=access.access_bps,
        open_loop=alone[workload.traffic_class],
        packet_offsets=None if packets is None else packets.offsets,
        file_offsets=None if sessions is None else sessions.offsets,
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


def _profile(traffic: Traffic) -> _core.Profile:
    if not isinstance(traffic, Tcp):
        return _core.Profile("ns2")  # open loop: there is no stack to describe
    return _core.Profile(
        traffic.sender,
        ecn=traffic.ecn,
        initial_window=traffic.initial_window,
        sack=traffic.sack,
        delayed_ack=traffic.delayed_ack,
        delayed_ack_ps=_optional_ps(traffic.delayed_ack_timeout),
        min_rto_ps=_optional_ps(traffic.min_rto),
        max_window=traffic.max_window,
        jitter_ps=picoseconds(traffic.jitter or 0.0),
        timer_tick_ps=picoseconds(traffic.timer_tick or 0.0),
    )


def _optional_ps(seconds: float | None) -> int | None:
    return None if seconds is None else picoseconds(seconds)
