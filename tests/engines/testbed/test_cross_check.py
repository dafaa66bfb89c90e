"""The kernel's own tbf and pfifo against our router, with the same driver and the same flows."""

from __future__ import annotations

import pytest

from forebay.engines.testbed import TestbedEngine, playing
from forebay.scenario import dumps, loads
from tests.engines.testbed.middle import Middle

CELL = """
name = "Cross-check"
link.rate = "20 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "4 s", duration = "16 s" }
[[traffic]]
flows = 8
rtt = { uniform = ["30 ms", "50 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""
# Set before the first run: one run each, and a window of 16 s has about half a point of noise.
BAND_POINTS = 2.0
BAND_LOSS = 0.3


@pytest.mark.usefixtures("real")
def test_the_kernels_queue_and_ours_agree(monkeypatch, tmp_path):
    monkeypatch.setenv("FOREBAY_RUNTIME_DIR", str(tmp_path / "run"))
    ours = loads(CELL)
    routed = TestbedEngine().run(ours, [1]).links["bottleneck"]
    middle = Middle(float(ours.link.rate), ours.buffer_packets)
    monkeypatch.setattr(playing, "bed_for", middle.bed_for)
    wide = loads(dumps(ours), overrides=["link.rate=10 Gbit/s", "queue.size=10000 packets"])
    shaped = TestbedEngine().run(wide, [1]).classes[0].throughput_bps
    assert routed.utilization is not None and routed.loss_rate is not None
    assert shaped is not None and middle.counted is not None
    used = shaped.value / ours.link.rate
    said = f"kernel {used:.4f}, {middle.counted.loss:.4f}; ours {routed.utilization.value:.4f}, "
    said += f"{routed.loss_rate.value:.4f}"
    print(said)
    assert abs(used - routed.utilization.value) < BAND_POINTS / 100, said
    assert abs(middle.counted.loss / routed.loss_rate.value - 1) < BAND_LOSS, said
