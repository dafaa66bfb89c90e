"""The sizes of a list, where only these can be configured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forebay.errors import argument
from forebay.scenario import BufferSize, ScenarioError

if TYPE_CHECKING:
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
