"""Addresses of the flows: each flow has its own, so the router can delay each by its RTT."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, summarize_address_range
from typing import TYPE_CHECKING

import numpy as np

from forebay.engines.errors import Unsupported
from forebay.engines.testbed.endpoint import ClassRoute
from forebay.engines.testbed.errors import NAME
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.workload import Workload

SENDERS = IPv4Network("10.64.0.0/10")
RECEIVERS = IPv4Network("10.128.0.0/9")

MOST_FLOWS = SENDERS.num_addresses
# linux/rtnetlink.h: the kernel reads rto_min of a route only if the metric is locked.
_LOCK_RTO_MIN = 1 << 13
_FEATURE_ECN = 1

_MS_PER_S = 1e3


def check_count(workload: Workload) -> None:
    """Refuse more flows than there are addresses."""
    if len(workload) > MOST_FLOWS:
        raise Unsupported(NAME, f"{len(workload)} flows, more than {MOST_FLOWS}", "traffic")


def routes(scenario: Scenario, workload: Workload) -> tuple[list[ClassRoute], list[ClassRoute]]:
    """Return the routes with metrics on the left and on the right side.

    Data of a class goes from left to right, or right to left if the class is reverse. The
    sending socket takes initial window, minimum RTO and ECN from its route. The receiving
    socket takes quick ACKs and ECN from its route.
    """
    left: list[ClassRoute] = []
    right: list[ClassRoute] = []
    for index, group in enumerate(scenario.traffic):
        flows = np.flatnonzero(workload.traffic_class == index)
        if not isinstance(group, Tcp) or not flows.size:
            continue
        first, last = int(flows[0]), int(flows[-1])
        assert last - first + 1 == flows.size, "a workload is drawn class after class"
        on_left, on_right = _sending(group), _receiving(group)
        if group.direction == "reverse":
            on_left, on_right = on_right, on_left
        left += _to(RECEIVERS, first, last, on_left)
        right += _to(SENDERS, first, last, on_right)
    return left, right


def _sending(group: Tcp) -> dict[str, int]:
    metrics = _features(group)
    if group.initial_window is not None:
        metrics["initcwnd"] = group.initial_window
    if group.min_rto is not None:
        metrics |= {"rto_min": max(1, round(group.min_rto * _MS_PER_S)), "lock": _LOCK_RTO_MIN}
    return metrics


def _receiving(group: Tcp) -> dict[str, int]:
    return _features(group) | ({"quickack": 1} if group.delayed_ack is False else {})


def _features(group: Tcp) -> dict[str, int]:
    return {"features": _FEATURE_ECN} if group.ecn else {}


def _to(peers: IPv4Network, first: int, last: int, metrics: dict[str, int]) -> Iterator[ClassRoute]:
    if metrics:
        for network in summarize_address_range(peers[first], peers[last]):
            yield ClassRoute(network, metrics)
