"""A link too fast for one thread of the router: the right end then has a thread of its own."""

import os

import pytest

from forebay.engines.testbed.retry import run_until_valid
from forebay.scenario import loads

pytestmark = [
    pytest.mark.usefixtures("real", "own_records"),
    pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core has no room for two threads"),
]

SCENARIO = """
name = "A fast link with 24 Mbit/s on it"
link.rate = "400 Mbit/s"
queue.size = "2000 packets"
measure = { warmup = "1 s", duration = "2 s" }
traffic = [{ flows = 4, rtt = "20 ms", max_window = 10, start = "0 s" }]
"""


def test_a_window_a_round_trip_crosses_in_two_threads():
    played, _ = run_until_valid(loads(SCENARIO, source="here"), 1)
    assert len(played.emulator["router_threads"]) == 2
    assert played.raw["drops"].sum() == 0
    # 4 flows, 10 packets each, every 20 ms: a packet more or less at the window's ends, and what
    # the round trip is longer by than its propagation.
    packets = played.emulator["handed_to_receiver"]["packets"]
    assert 0.9 * 4000 <= packets <= 4000 + 40
    acks = played.emulator["handed_to_sender"]["packets"]
    assert packets / 2 - 40 <= acks <= packets + 40
