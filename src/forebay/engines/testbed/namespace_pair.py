"""Both sides of the testbed, created for one run and removed after it."""

from __future__ import annotations

import os
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
