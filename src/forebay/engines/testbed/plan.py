"""PLAN.json, schema 1: the emulator's input, which `crates/emulator/src/plan.rs` reads.

Its links are those of the simulator (`LinkSpec.plan`, `crates/sim/src/config/link_plan.rs`).
"""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forebay.engines.replication.layout import COUNT_BYTES, Layout, LinkSpec
from forebay.engines.replication.readings import Watched, n_parts, picoseconds
from forebay.engines.testbed import endpoint, namespaces
from forebay.engines.testbed.congestion import KERNEL_NAMES
from forebay.engines.testbed.endpoint import TUN, Endpoint
from forebay.engines.testbed.registry import RunResources
from forebay.scenario import Scenario, Tcp
from forebay.words import Fact
from forebay.workload import Workload

SCHEMA = 1
SAMPLE_S = 0.05
_OF_FLOWS = (
    "congestion_control", "rtt_ps", "start_ps", "segments", "packet_bytes", "access_bps",
    "access_group",
)  # fmt: skip
_SMALLEST_PACKET = 28
"""Bytes of a UDP header without data: the smallest packet that sockets send."""


class Places(NamedTuple):
    """Names of the two namespaces, and of the other files of the run."""

    left: str
    right: str
    result: Path
    capture: Path | None = None


def make_plan(
    scenario: Scenario,
    workload: Workload,
    layout: Layout,
    places: Places,
    watched: Watched | None = None,
) -> dict[str, Any]:
    """Return the plan as a JSON-serializable dict. Times are in picoseconds."""
    packets, sessions = workload.packets, workload.sessions
    return {
        "schema": SCHEMA,
        "seed": workload.tie_break_seed,
        "warmup_ps": picoseconds(scenario.measure.warmup),
        "window_ps": picoseconds(scenario.measure.duration),
        "batches": n_parts(scenario),
        "result": str(places.result),
        "sender": _side(places.left, offloads(scenario, "forward")),
        "receiver": _side(places.right, offloads(scenario, "reverse")),
        "first_sender": str(endpoint.SENDERS[0]),
        "first_receiver": str(endpoint.RECEIVERS[0]),
        "links": [link.plan() for link in layout.links],
        "memory_bytes": None if scenario.memory is None else int(scenario.memory),
        "routes": [list(route) for route in layout.routes],
        "classes": [
            {
                # The program sends all datagrams alike, at the times of the plan.
                "kind": group.kind if isinstance(group, Tcp) else "udp",
                "ecn": isinstance(group, Tcp) and group.ecn,
                "max_window": group.max_window if isinstance(group, Tcp) else None,
                "reverse": group.direction == "reverse",
                "last_link": last,
            }
            for group, last in zip(scenario.traffic, layout.last_link, strict=True)
        ],
        # A class has one route, so the route index equals the class index.
        "flows": {
            "class": workload.traffic_class.tolist(),
            "route": workload.traffic_class.tolist(),
            **{name: getattr(workload, name).tolist() for name in _OF_FLOWS},
        },
        # A control that no kernel has keeps its name; no flow then uses it.
        "congestion_controls": [
            KERNEL_NAMES.get(name, name) for name in workload.congestion_controls
        ],
        "packets": _lists(packets, ("offsets", "at_ps", "bytes")),
        "sessions": _lists(sessions, ("offsets", "segments", "think_ps")),
        "sample_ps": picoseconds(SAMPLE_S),
        "trace": watched and {"step_ps": picoseconds(watched.step_s), "flows": list(watched.flows)},
        "capture": None if places.capture is None else str(places.capture),
    }


def built_link(link: LinkSpec) -> dict[str, Any]:
    """Return a link as the emulator's `ready` event must report it after it built the link."""
    return {
        "discipline": link.discipline,
        "limit": _limit(link),
        "transmit_ring": link.transmit_ring,
        "rate_bps": link.wire_bps or link.rate_bps,
        "delay_ps": link.delay_ps,
        "alpha": link.alpha,
    }


def _limit(link: LinkSpec) -> dict[str, int]:
    """Return the queue limit; for several class queues, the largest possible packet count."""
    if link.counts_bytes and not link.classes:
        return {"bytes": link.buffer_packets * link.packet_bytes}
    return {
        "packets": sum(
            max(1, queue.buffer_packets * queue.packet_bytes // _SMALLEST_PACKET)
            if queue.discipline in COUNT_BYTES
            else queue.buffer_packets
            for queue in link.queues
        )
    }


def _lists(arrays: Any, names: Sequence[str]) -> dict[str, list[Any]] | None:
    return None if arrays is None else {name: getattr(arrays, name).tolist() for name in names}


def offloads(scenario: Scenario, direction: str) -> bool:
    """Return whether the hosts that send that way have segmentation offload: one does."""
    tcp = [group for group in scenario.traffic if isinstance(group, Tcp)]
    return any(group.offloads for group in tcp if group.direction == direction)


def _side(namespace: str, offload: bool) -> dict[str, Any]:
    return {"netns": str(namespaces.path_of(namespace)), "tun": TUN, "offload": offload}


def largest_packet(workload: Workload) -> int:
    """Return the bytes of the largest packet, headers included."""
    sizes = [workload.packet_bytes]
    if workload.packets is not None:
        sizes.append(workload.packets.bytes)
    return max((int(np.max(size)) for size in sizes if size.size), default=0)


_MTU = 1500
_number = count()


@dataclass(frozen=True)
class NamespacePair:
    """The sending and the receiving side, and the values of their sysctls."""

    left: Endpoint
    right: Endpoint
    sysctls: dict[str, str]


@contextmanager
def pair_for(
    scenario: Scenario, workload: Workload, record: RunResources
) -> Iterator[NamespacePair]:
    """Create both sides for the flows of a workload. The record removes them."""
    name = f"forebay-{os.getpid()}-{next(_number)}"
    mtu = max(_MTU, largest_packet(workload))
    sack = has_sack(scenario)
    to_right, to_left = endpoint.routes(scenario, workload)
    senders, receivers = endpoint.SENDERS, endpoint.RECEIVERS
    forward, reverse = offloads(scenario, "forward"), offloads(scenario, "reverse")
    left = Endpoint(f"{name}-send", senders, receivers, mtu, sack, to_right, forward)
    right = Endpoint(f"{name}-recv", receivers, senders, mtu, sack, to_left, reverse)
    record.will_make(left.namespace, right.namespace)
    sysctls = left.make()
    right.make()
    yield NamespacePair(left, right, sysctls)


def has_sack(scenario: Scenario) -> bool:
    """Return whether SACK is on. It is off only if every class turns it off."""
    wanted = [group.sack for group in scenario.traffic if isinstance(group, Tcp)]
    return not wanted or any(choice is not False for choice in wanted)


def broken(scenario: Scenario) -> list[Fact]:
    """Return each requested property that the kernel does not provide."""
    tcp = [group for group in scenario.traffic if isinstance(group, Tcp)]
    sack, kernel = has_sack(scenario), platform.release()
    found = {
        Fact("kernel.no-ns2", kernel=kernel): any(group.sender == "ns2" for group in tcp),
        Fact("kernel.sack"): sack and any(group.sack is False for group in tcp),
        Fact("kernel.no-ack-timeout"): any(group.delayed_ack_timeout for group in tcp),
        Fact("kernel.no-segment"): any(group.segment for group in tcp),
        Fact("kernel.offload"): any(
            not group.offloads and offloads(scenario, group.direction) for group in tcp
        ),
        Fact("kernel.no-jitter"): any(group.jitter for group in tcp),
        Fact("kernel.no-timer-tick"): any(group.timer_tick for group in tcp),
    }
    return [fact for fact, is_so in found.items() if is_so]
