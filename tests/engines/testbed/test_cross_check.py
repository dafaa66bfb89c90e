"""The kernel's own tbf and pfifo against our router, with the same driver and the same flows."""

import pytest
from tests.engines.testbed.middle import Middle

from forebay.engines.testbed import TestbedEngine, one_run
from forebay.scenario import dumps, loads

CELL = """
name = "Cross-check"
link.rate = "40 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "4 s", duration = "16 s" }
traffic = [
    { flows = 16, rtt = { uniform = ["30 ms", "50 ms"] }, start = { uniform = ["0 s", "1 s"] } },
]
"""
# Set before the first run: a window of 16 s has about half a point of noise, and the three packets
# that tbf may send at once after a pause serve it as two more in the buffer would.
BAND_POINTS = 2.0
BAND_RESENT = 0.3
WINDOW_S = 16


def used_and_resent(classed, rate):
    """Share of the link's rate, and of the packets those that were sent again: one driver's words.

    Both runs are read by the same driver in the same window; the kernel's own count of drops
    would have those of the warm-up in it.
    """
    used = classed.throughput_bps.value / rate
    packets = used * rate * WINDOW_S / 8 / 1500
    return used, classed.retransmissions.value / packets


@pytest.mark.long  # test_shaped.py compares the kernel with the simulator with every change
@pytest.mark.usefixtures("real")
def test_the_kernels_queue_and_ours_agree(monkeypatch, tmp_path):
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    ours = loads(CELL)
    routed = used_and_resent(TestbedEngine().run(ours, [1]).classes[0], ours.link.rate)
    middle = Middle(float(ours.link.rate), ours.buffer_packets)
    monkeypatch.setattr(one_run, "pair_for", middle.pair_for)
    wide = loads(dumps(ours), overrides=["link.rate=10 Gbit/s", "queue.size=10000 packets"])
    shaped = used_and_resent(TestbedEngine().run(wide, [1]).classes[0], ours.link.rate)
    assert middle.counted is not None and middle.counted.drops > 0, "it is the kernel that drops"
    said = f"used and sent again: the kernel's queue {shaped}, ours {routed}"
    print(said)
    assert abs(shaped[0] - routed[0]) < BAND_POINTS / 100, said
    assert abs(shaped[1] / routed[1] - 1) < BAND_RESENT, said
