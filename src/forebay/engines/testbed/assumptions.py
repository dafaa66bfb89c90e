"""Properties of the senders that a scenario requests and this kernel does not provide."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from forebay.engines.testbed.namespace_pair import has_sack
from forebay.engines.testbed.plan import offloads
from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.scenario import Scenario


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
