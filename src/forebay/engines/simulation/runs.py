"""From a scenario and a seed to the simulator's own terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forebay import _core
from forebay.scenario import Tcp
from forebay.workload import draw

if TYPE_CHECKING:
    from forebay.scenario import Link, Queue, Scenario, Traffic

BATCHES = 20
"""Parts of the measured window that are read apart, for intervals from a single seed."""

_PICOSECONDS = 1e12


class Watched(NamedTuple):
    """What to sample: at which steps, and of which flows."""

    step_s: float
    flows: tuple[int, ...]


def make_run(scenario: Scenario, seed: int, watched: Watched | None = None) -> _core.Run:
    """Draw the workload of `seed` and hand it to the simulator."""
    workload = draw(scenario, seed)
    controls = np.array(
        [_core.CONGESTION_CONTROLS.index(name) for name in workload.congestion_controls],
        dtype=np.int32,
    )
    flows = _core.Flows(
        traffic_class=workload.traffic_class,
        route=np.zeros(len(workload), dtype=np.int32),
        congestion_control=controls[workload.congestion_control],
        rtt_ps=workload.rtt_ps,
        start_ps=workload.start_ps,
        segments=workload.segments,
        packet_bytes=workload.packet_bytes,
        access_bps=workload.access_bps,
    )
    return _core.Run(
        links=_links(scenario),
        routes=[([0], [])],
        memory_bytes=scenario.memory,
        profiles=[_profile(traffic) for traffic in scenario.traffic],
        flows=flows,
        seed=workload.tie_break_seed,
        warmup_ps=_picoseconds(scenario.measure.warmup),
        window_ps=_picoseconds(scenario.measure.duration),
        batches=BATCHES,
        trace_step_ps=None if watched is None else _picoseconds(watched.step_s),
        trace_flows=() if watched is None else watched.flows,
    )


def _links(scenario: Scenario) -> list[_core.Link]:
    """Return the link under study first, then the further ones in their order."""
    first = _link(scenario, scenario.link, scenario.queue, scenario.buffer_packets)
    others = (
        _link(scenario, each, each.queue, scenario.queue_packets(each)) for each in scenario.links
    )
    return [first, *others]


def _link(scenario: Scenario, link: Link, queue: Queue, packets: int) -> _core.Link:
    return _core.Link(
        link.rate,
        buffer_packets=packets,
        packet_bytes=scenario.packet,
        discipline="pfifo" if queue.discipline == "drop-tail" else queue.discipline,
        parameters=queue.parameters,
        transmit_ring=queue.transmit_ring,
        delay_ps=_picoseconds(link.delay),
        alpha=queue.alpha,
    )


def _profile(traffic: Traffic) -> _core.Profile:
    if not isinstance(traffic, Tcp):
        return _core.Profile("linux")  # open loop: no flow of this class asks for it
    return _core.Profile(
        traffic.sender,
        initial_window=traffic.initial_window,
        sack=traffic.sack,
        delayed_ack=traffic.delayed_ack,
        min_rto_ps=None if traffic.min_rto is None else _picoseconds(traffic.min_rto),
        max_window=traffic.max_window,
    )


def _picoseconds(seconds: float) -> int:
    return round(seconds * _PICOSECONDS)
