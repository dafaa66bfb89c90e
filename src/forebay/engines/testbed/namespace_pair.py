"""Both sides of the testbed, created for one run and removed after it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from forebay.engines.testbed import endpoint
from forebay.engines.testbed.endpoint import Endpoint
from forebay.engines.testbed.plan import largest_packet, offloads
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.engines.testbed.registry import RunResources
    from forebay.scenario import Scenario
    from forebay.workload import Workload


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
    left, right = _sides(scenario, workload)
    record.will_make(left.namespace, right.namespace)
    sysctls = left.make()
    right.make()
    yield NamespacePair(left, right, sysctls)


def has_sack(scenario: Scenario) -> bool:
    """Return whether SACK is on. It is off only if every class turns it off."""
    wanted = [group.sack for group in scenario.traffic if isinstance(group, Tcp)]
    return not wanted or any(each is not False for each in wanted)


def _sides(scenario: Scenario, workload: Workload) -> tuple[Endpoint, Endpoint]:
    endpoint.check_count(workload)
    name = f"forebay-{os.getpid()}-{next(_number)}"
    mtu = max(_MTU, largest_packet(workload))
    sack = has_sack(scenario)
    to_right, to_left = endpoint.routes(scenario, workload)
    senders, receivers = endpoint.SENDERS, endpoint.RECEIVERS
    return (
        Endpoint(
            f"{name}-send", senders, receivers, mtu, sack, to_right, offloads(scenario, "forward")
        ),
        Endpoint(
            f"{name}-recv", receivers, senders, mtu, sack, to_left, offloads(scenario, "reverse")
        ),
    )


def broken(scenario: Scenario) -> list[str]:
    """Return one sentence for each requested property that the kernel does not provide."""
    tcp = [group for group in scenario.traffic if isinstance(group, Tcp)]
    kernel = f"Linux {platform.release()}"
    said = []
    if any(group.sender == "ns2" for group in tcp):
        said.append(f"the testbed's senders are {kernel}, not ns2")
    if has_sack(scenario) and any(group.sack is False for group in tcp):
        said.append("SACK is one switch for all classes of the testbed, and some need it: on")
    if any(group.delayed_ack_timeout for group in tcp):
        said.append("the testbed cannot set delayed_ack_timeout: the kernel sets the delay of ACKs")
    if any(not group.offloads and offloads(scenario, group.direction) for group in tcp):
        said.append("segmentation offload is one switch for all senders of one side: on")
    if any(group.jitter for group in tcp):
        said.append("the testbed adds no jitter: its hosts have their own")
    if any(group.timer_tick for group in tcp):
        said.append(
            "the testbed has no timer_tick: its router delivers each segment at its own time"
        )
    return said
