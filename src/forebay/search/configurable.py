"""The recommended size where only certain sizes can be configured."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.errors import argument
from forebay.outcome import Recommended
from forebay.scenario import BufferSize, ScenarioError

if TYPE_CHECKING:
    from forebay.outcome import SizeResult
    from forebay.scenario import Scenario

_UNIT = re.compile(r"[A-Za-z]+\s*$")
_MOST = 1000


def parse_sizes(text: str, scenario: Scenario) -> tuple[int, ...]:
    """Return the packets of sizes such as "64, 128, 256 packets" or "1 MB, 2 MB", sorted.

    A number without a unit has that of the last one. Raises ScenarioError.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or len(parts) > _MOST:
        hint = f'write 1 to {_MOST} of them, such as "64,128,256 packets"'
        raise ScenarioError("no-sizes", f"{argument('sizes')}: {len(parts)} sizes", hint)
    unit = _UNIT.search(parts[-1])
    whole = [part if _UNIT.search(part) or unit is None else f"{part} {unit[0]}" for part in parts]
    found = sorted({_packets(each, scenario) for each in whole})
    if found[0] < 1:
        wrong = f"{argument('sizes')}: one of them is less than a packet"
        raise ScenarioError("out-of-range", wrong, "write at least 1 packet")
    return tuple(found)


def _packets(text: str, scenario: Scenario) -> int:
    size = BufferSize.parse(text)
    return size.packets(
        rate_bps=float(scenario.link.capacity), packet_bytes=int(scenario.packet),
        bdp=scenario.bdp_packets, flows=scenario.n_flows,
    )  # fmt: skip


def within_sizes(scenario: Scenario, found: SizeResult, sizes: Sequence[int]) -> SizeResult:
    """Return a result that recommends one of these sizes, or says that none of them will do.

    It is the smallest that is not below the recommended size and meets the goals; or else the
    largest below it that meets them.
    """
    wanted = found.recommended
    if wanted is None or found.buffer is None:
        return found
    if found.aqm is not None:
        wrong = f"{argument('sizes')}: under {found.aqm.discipline} its aim is sized, not its limit"
        raise ScenarioError("contradiction", wrong, "leave it out, or size drop-tail")
    good = [size for size in sizes if _meets(found, size)]
    above = [size for size in good if size >= wanted.packets]
    below = [size for size in good if size < wanted.packets]
    listed = ", ".join(map(str, sizes[:20]))
    if not good:
        why = f"none of the sizes that can be configured meets all goals ({listed} packets)"
        return found.model_copy(update={"recommended": None, "reason": why})
    packets = above[0] if above else below[-1]
    said = f"of {listed} packets, {packets} is the smallest from {wanted.packets} on"
    if not above:
        said = (
            f"of {listed} packets, {packets} is the largest that meets all goals: fewer than the "
            f"{wanted.packets} that these reasons ask for"
        )
    octets = packets * int(scenario.packet)
    made = Recommended(
        packets=packets, bytes=octets, seconds=octets * 8 / float(scenario.link.capacity),
        why=(*wanted.why, said), floor=wanted.floor,
    )  # fmt: skip
    return found.model_copy(update={"recommended": made})


def _meets(found: SizeResult, packets: int) -> bool:
    """Whether a size lies where all goals are met, from the upper end of the least on."""
    assert found.buffer is not None, "within_sizes has seen to it"
    inside = (i.low <= packets <= (math.inf if i.high is None else i.high) for i in found.region)
    return packets >= found.buffer.packets and any(inside)
