"""What the router does at speed: it cuts the bursts that senders hand over, in two threads."""

import os

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


FAST = """
link.rate = "400 Mbit/s"
queue.size = "2000 packets"
measure = { warmup = "1 s", duration = "2 s" }
traffic = [{ flows = 4, rtt = "20 ms", max_window = 10, start = "0 s" }]
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no room for two threads")
def test_a_window_a_round_trip_crosses_in_two_threads():
    """A link too fast for one thread, with 24 Mbit/s on it: the right end has one of its own."""
    played, _ = run_until_valid(loads(FAST, source="here"), 1)
    assert len(played.emulator["router_threads"]) == 2
    assert played.raw["drops"].sum() == 0
    # 4 flows, 10 packets each, every 20 ms: a packet more or less at the window's ends, and what
    # the round trip is longer by than its propagation.
    packets = played.emulator["handed_to_receiver"]["packets"]
    assert 0.9 * 4000 <= packets <= 4000 + 40
    acks = played.emulator["handed_to_sender"]["packets"]
    assert packets / 2 - 40 <= acks <= packets + 40
