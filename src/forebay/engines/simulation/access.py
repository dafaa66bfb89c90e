"""Access links in the simulator's terms: those that flows share become links with a queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forebay import _core
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.replication import ClassSpec, Layout, LinkSpec, Route
    from forebay.workload import Workload

_HOST_QUEUE = 1000
"""Packets that a host keeps before its own access link: Linux's txqueuelen."""
_MOST_SHARED = 60_000
_AT_ONCE = 1e18


@dataclass(frozen=True, slots=True)
class Access:
    """All links in the simulator's order, and what each flow crosses.

    Attributes
    ----------
    route : int32, shape (flows,)
        Index into ``routes``.
    access_bps : float64, shape (flows,)
        Of each flow's own link; without end behind an access link that is shared.
    """

    links: list[_core.Link]
    routes: list[Route]
    route: NDArray[np.int32]
    access_bps: NDArray[np.float64]


def give_access(layout: Layout, workload: Workload) -> Access:
    """Put the shared access links behind those that are reported; a network has its hosts' own."""
    if layout.flows is not None:
        return Access(
            links=[_link(each) for each in (*layout.links, *layout.flows.hosts)],
            routes=list(layout.routes),
            route=layout.flows.route,
            access_bps=np.full(len(workload), _AT_ONCE),
        )
    access = Access(
        links=[_link(each) for each in layout.links],
        routes=list(layout.routes),
        route=workload.traffic_class.copy(),
        access_bps=workload.access_bps.copy(),
    )
    _share(access, workload)
    return access


def _share(access: Access, workload: Workload) -> None:
    """Give each access link that several flows share a link and a queue of its own."""
    _, first, size = np.unique(workload.access_group, return_index=True, return_counts=True)
    if np.count_nonzero(size > 1) > _MOST_SHARED:
        wrong = f"more than {_MOST_SHARED} access links are shared"
        hint = "write a larger access_sharing, or 1"
        raise ScenarioError("out-of-range", wrong, hint, field="traffic.access_sharing")
    for flow, flows in zip(first[size > 1], size[size > 1], strict=True):
        rate = workload.access_bps[flow]
        access.links.append(_core.Link(rate, buffer_packets=_HOST_QUEUE))
        forward, backward = access.routes[workload.traffic_class[flow]]
        access.routes.append(([len(access.links) - 1, *forward], backward))
        behind = slice(flow, flow + flows)  # groups lie one after the other
        access.route[behind] = len(access.routes) - 1
        access.access_bps[behind] = _AT_ONCE


def _class(each: ClassSpec) -> tuple[str, int, int, dict[str, Any], int, float, _core.ClassRates]:
    return (
        each.discipline, each.buffer_packets, each.packet_bytes, each.parameters, each.priority,
        each.weight, (each.min_rate_bps, each.max_rate),
    )  # fmt: skip


def _link(link: LinkSpec) -> _core.Link:
    """Return a link of the simulator; a discipline may refuse so small a buffer (red does)."""
    try:
        return _core.Link(
            link.wire_bps or link.rate_bps,
            buffer_packets=link.buffer_packets,
            packet_bytes=link.packet_bytes,
            discipline=link.discipline,
            parameters=link.parameters,
            transmit_ring=link.transmit_ring,
            delay_ps=link.delay_ps,
            alpha=link.alpha,
            shaper=link.shaper,
            policer=link.policer,
            classes=[_class(each) for each in link.classes] or None,
            class_of=link.class_of,
        )
    except ValueError as error:
        small, error = _too_small(link, error)
        wrong = f"{small}: {error}"
        hint = "write a larger size, or set the discipline's parameters"
        raise ScenarioError("out-of-range", wrong, hint, field="queue") from error


def _too_small(link: LinkSpec, error: ValueError) -> tuple[str, ValueError]:
    """Return which queue is refused, and why: of several class queues the first that is."""
    for each in link.classes:
        try:
            _core.Link(
                link.rate_bps,
                buffer_packets=each.buffer_packets,
                packet_bytes=each.packet_bytes,
                discipline=each.discipline,
                parameters=each.parameters,
            )
        except ValueError as found:
            where = f"class queue {each.name} before {link.name}"
            return f"{each.buffer_packets} packets in {where}", found
    return f"{link.buffer_packets} packets before {link.name}", error
