"""Which links there are, and over which of them each flow's data and ACKs go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.scenario import BOTTLENECK, ScenarioError

if TYPE_CHECKING:
    from forebay.scenario import Link, Queue, Scenario, Traffic
    from forebay.workload import Workload

REVERSE = "reverse"
"""The bottleneck's other direction, where a class sends that way."""

_HOST_QUEUE = 1000
"""Packets that a host keeps before its own access link: Linux's txqueuelen."""
_MOST_SHARED = 60_000
_AT_ONCE = 1e18
_PS_PER_S = 1e12

Route = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Links by name, in the simulator's order; then access links that flows share, unnamed.

    Attributes
    ----------
    names, rates, buffers
        Of the links that are reported: capacity in bit/s, packets that may wait.
    route : int32, shape (flows,)
        Index into ``routes``.
    access_bps : float64, shape (flows,)
        Of each flow's own link; without end behind an access link that is shared.
    last_link : list of int
        For each class, the last link that its data crosses.
    """

    names: list[str]
    rates: list[float]
    buffers: list[int]
    links: list[_core.Link]
    routes: list[Route]
    route: NDArray[np.int32]
    access_bps: NDArray[np.float64]
    last_link: list[int]


def lay_out(scenario: Scenario, workload: Workload) -> Layout:
    """Return the network that `scenario` describes, for the flows of `workload`."""
    named = _named(scenario)
    index = {name: place for place, (name, *_) in enumerate(named)}
    links = [_link(scenario, *each) for each in named]
    routes = [_route(scenario, group, index) for group in scenario.traffic]
    layout = Layout(
        names=[name for name, *_ in named],
        rates=[link.rate for _, link, *_ in named],
        buffers=[packets for *_, packets in named],
        links=links,
        routes=list(routes),
        route=workload.traffic_class.copy(),
        access_bps=workload.access_bps.copy(),
        last_link=[forward[-1] for forward, _ in routes],
    )
    _share_access(layout, workload)
    return layout


def _named(scenario: Scenario) -> list[tuple[str, Link, Queue, int]]:
    bottleneck = (scenario.link, scenario.queue, scenario.buffer_packets)
    named: list[tuple[str, Link, Queue, int]] = [(BOTTLENECK, *bottleneck)]
    named += [
        (each.name, each, each.queue, scenario.queue_packets(each)) for each in scenario.links
    ]
    if any(group.direction == "reverse" for group in scenario.traffic):
        named.append((REVERSE, *bottleneck))
    return named


def _route(scenario: Scenario, group: Traffic, index: dict[str, int]) -> Route:
    if group.direction == "reverse":
        return [index[REVERSE]], [index[BOTTLENECK]]
    forward = [index[name] for name in group.route] or [index[BOTTLENECK]]
    backward = [index[name] for name in group.return_route]
    if not backward and not group.route and REVERSE in index:
        backward = [index[REVERSE]]
    return forward, backward


def _share_access(layout: Layout, workload: Workload) -> None:
    """Give each access link that several flows share a link and a queue of its own."""
    groups, first, size = np.unique(workload.access_group, return_index=True, return_counts=True)
    if np.count_nonzero(size > 1) > _MOST_SHARED:
        wrong = f"more than {_MOST_SHARED} access links are shared"
        hint = "write a larger access_sharing, or 1"
        raise ScenarioError("out-of-range", wrong, hint, field="traffic.access_sharing")
    for group, flow in zip(groups[size > 1], first[size > 1], strict=True):
        rate = workload.access_bps[flow]
        layout.links.append(_core.Link(rate, buffer_packets=_HOST_QUEUE))
        forward, backward = layout.routes[workload.traffic_class[flow]]
        layout.routes.append(([len(layout.links) - 1, *forward], backward))
        behind = workload.access_group == group
        layout.route[behind] = len(layout.routes) - 1
        layout.access_bps[behind] = _AT_ONCE


def _link(scenario: Scenario, name: str, link: Link, queue: Queue, packets: int) -> _core.Link:
    """Return a link of the simulator; a discipline may refuse so small a buffer (red does)."""
    try:
        return _core.Link(
            link.rate,
            buffer_packets=packets,
            packet_bytes=scenario.packet,
            discipline="pfifo" if queue.discipline == "drop-tail" else queue.discipline,
            parameters=queue.parameters,
            transmit_ring=queue.transmit_ring,
            delay_ps=round(link.delay * _PS_PER_S),
            alpha=queue.alpha,
        )
    except ValueError as error:
        wrong = f"{packets} packets before {name}: {error}"
        hint = "write a larger size, or set the discipline's parameters"
        raise ScenarioError("out-of-range", wrong, hint, field="queue") from error
