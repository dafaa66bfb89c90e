"""Kernel senders with segmentation offload: the router cuts what they hand over."""

import pytest

from forebay.engines.testbed.retry import run_until_valid
from forebay.scenario import loads

pytestmark = pytest.mark.usefixtures("real", "own_records")

SCENARIO = """
name = "Near receivers: bursts of what 8 kB hold"
link.rate = "40 Mbit/s"
queue.size = "100 packets"
measure = {{ warmup = "1 s", duration = "2 s" }}
[[traffic]]
flows = 2
rtt = "2 ms"
start = "0 s"
access_rate = "400 Mbit/s"
offload = "{offload}"
packet = "{packet}"
direction = "{direction}"
[[traffic]]
flows = 1
rtt = "20 ms"
max_window = 2
offload = "off"
"""


def bursts(offload: str, packet: str = "1500 B", direction: str = "forward") -> dict[str, int]:
    fields = {"offload": offload, "packet": packet, "direction": direction}
    played, _ = run_until_valid(loads(SCENARIO.format(**fields), source="here"), 1)
    passed = int(played.raw["passed"][:, 0].sum())
    assert passed * int(packet.split()[0]) * 8 / 2 > 0.8 * 40e6
    assert played.emulator["stray_packets"] == 0
    counts: dict[str, int] = played.emulator["bursts"]
    return counts


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_burst_of_several_segments_is_one_frame(direction):
    seen = bursts("on", direction=direction)
    assert seen["packets"] > 1.5 * seen["frames"] > 0


def test_large_packets_go_singly_where_8_kb_hold_none():
    seen = bursts("on", "9000 B")
    assert seen["frames"] <= seen["packets"] < 3 * seen["frames"]


def test_without_offload_there_are_no_frames():
    assert bursts("off") == {"frames": 0, "packets": 0}
