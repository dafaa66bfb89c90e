"""Links of the testbed: against the simulator, and against the kernel's own tbf and pfifo."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from pyroute2 import IPRoute
from tests.cases import cases
from tests.engines.testbed.middle import BURST_PACKETS, PACKET, Middle
from tests.scenarios import scenario as small

import forebay
from forebay.engines.testbed import namespaces, one_run
from forebay.scenario import Scenario, loads

pytestmark = pytest.mark.usefixtures("real", "own_records")

TRACE = {"rate_trace": {"steps": [["0 s", "20 Mbit/s"], ["1 s", "8 Mbit/s"]], "period": "2 s"}}
LOSSY = {"rate": "10 Mbit/s", "loss": 0.01}
DOWN = {"rate": "10 Mbit/s", "down": {"times": [["1 s", "1.2 s"]], "period": "2 s"}}
# Set before these tests ran, as in test_shaped.py.
BAND_POINTS = 2.5


def scenario(link: Any, flows: int, control: str, warmup: int, window: int) -> Scenario:
    return small({
        "link": link, "queue.size": "60 packets", "traffic.0.flows": flows,
        "traffic.0.congestion_control": control, "traffic.0.rtt": "40 ms",
        "traffic.0.start": {"uniform": ["0 s", "1 s"]},
        "measure.warmup": f"{warmup} s", "measure.duration": f"{window} s",
    })  # fmt: skip


@pytest.mark.parametrize("link", cases([TRACE, LOSSY, DOWN], TRACE.__eq__))
def test_the_router_varies_as_the_simulator_does(link):
    asked = scenario(link, 8, "reno", 3, 8)
    kernel, ours = (
        forebay.run(asked, engine=engine, seeds=1 if engine == "testbed" else 4).links["bottleneck"]
        for engine in ("testbed", "simulation")
    )
    used = 100 * kernel.utilization.value
    assert used == pytest.approx(100 * ours.utilization.value, abs=BAND_POINTS)
    if asked.link.loss is not None:
        # 7000 packets: a deviation of 0.12 % of them.
        share = 8 * kernel.lost.value / (1e7 / 12e3 * 8 * 8 * used / 100)
        assert share == pytest.approx(0.01, abs=0.004)


CELL = """
name = "Cross-check"
link.rate = "40 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "4 s", duration = "16 s" }
[[traffic]]
flows = 16
rtt = { uniform = ["30 ms", "50 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""
# Set before the first run: a window of 16 s has about half a point of noise, and the three packets
# that tbf may send at once after a pause serve it as two more in the buffer would.
USED_POINTS, RESENT = 2.0, 0.3


def used_and_resent(asked: Scenario, rate: float) -> tuple[float, float]:
    """Share of the link's rate, and of the packets those that were sent again: one driver's words.

    Both runs are read by the same driver in the same window; the kernel's own count of drops
    would have those of the warm-up in it.
    """
    classed = forebay.run(asked, engine="testbed", seeds=1).classes[0]
    used = classed.throughput_bps.value / rate
    packets = used * rate * 16 / 8 / 1500
    return used, classed.retransmissions.value / packets


@pytest.mark.long  # test_shaped.py compares the kernel with the simulator with every change
def test_the_kernels_queue_and_ours_agree(monkeypatch):
    """The kernel's own tbf and pfifo, with the same driver and the same flows."""
    ours = loads(CELL)
    routed = used_and_resent(ours, ours.link.rate)
    middle = Middle(float(ours.link.rate), ours.buffer_packets)
    monkeypatch.setattr(one_run, "pair_for", middle.pair_for)
    wide = ours.replace({"link.rate": "10 Gbit/s", "queue.size": "10000 packets"})
    shaped = used_and_resent(wide, ours.link.rate)
    assert middle.drops > 0, "it is the kernel that drops"
    said = f"used and sent again: the kernel's queue {shaped}, ours {routed}"
    print(said)
    assert abs(shaped[0] - routed[0]) < USED_POINTS / 100, said
    assert abs(shaped[1] / routed[1] - 1) < RESENT, said


RATES_MBPS = (12, 20, 6, 16, 9)
"""Of a second each, in turn."""
WINDOW_S = 40
# Set before the first run.
BAND = 0.05


class Varying(Middle):
    """A kernel's queue whose rate is changed every second.

    The times are a steady clock's, not the run's: the window has whole periods, so that only the
    first second may differ.
    """

    def __init__(self, rates_mbps: tuple[int, ...], waiting: int) -> None:
        super().__init__(rates_mbps[0] * 1e6, waiting)
        self.rates = [round(rate * 1e6 / 8 * PACKET / 1500) for rate in rates_mbps]
        self.changed = 0

    @contextmanager
    def pair_for(self, scenario: Any, workload: Any, record: Any) -> Iterator[Any]:
        with super().pair_for(scenario, workload, record) as pair:
            middle = pair.left.namespace.replace("-send", "-mid")
            ended = threading.Event()
            thread = threading.Thread(target=self._change, args=(middle, ended))
            thread.start()
            try:
                yield pair
            finally:
                ended.set()
                thread.join()

    def _change(self, middle: str, ended: threading.Event) -> None:
        def change() -> None:
            with IPRoute() as kernel:
                (back,) = kernel.link_lookup(ifname="mb")
                while not ended.wait(1.0):
                    self.changed += 1
                    # tbf hands its limit on to the queue below it, which counts packets.
                    kernel.tc(
                        "change", "tbf", back, 0x10000,
                        rate=self.rates[self.changed % len(self.rates)],
                        burst=BURST_PACKETS * PACKET, limit=self.limit,
                    )  # fmt: skip

        namespaces.inside(middle, change)


def reached(asked: Scenario, engine: str) -> tuple[float, float]:
    """Return throughput in Mbit/s, and the p95 of smoothed round trips in ms, as senders tell.

    The router's own round trips would leave out what waits before it.
    """
    many = int(asked.traffic[0].flows)
    seen = forebay.trace(asked, engine, step="100 ms", flows=range(many))
    srtt_s = np.concatenate([flow.srtt_s for flow in seen.flows.values()])
    link = seen.bottleneck
    return link.utilization * link.capacity_bps / 1e6, 1e3 * float(np.nanquantile(srtt_s, 0.95))


@pytest.mark.long
@pytest.mark.parametrize(("flows", "control"), [(1, "cubic"), (1, "bbr"), (4, "cubic")])
def test_the_kernels_queue_on_the_same_trace(monkeypatch, flows, control):
    steps = [[f"{at} s", f"{rate} Mbit/s"] for at, rate in enumerate(RATES_MBPS)]
    trace = {"steps": steps, "period": f"{len(RATES_MBPS)} s"}
    asked = scenario({"rate_trace": trace}, flows, control, 10, WINDOW_S)
    ours, model = (reached(asked, engine) for engine in ("testbed", "simulation"))
    middle = Varying(RATES_MBPS, asked.buffer_packets)
    monkeypatch.setattr(one_run, "pair_for", middle.pair_for)
    wide = scenario({"rate": "10 Gbit/s"}, flows, control, 10, WINDOW_S)
    # Ours is never full behind the kernel's; the gate wants no delay longer than it drains.
    theirs = reached(wide.replace({"queue.size": "30000 packets"}), "testbed")
    said = f"Mbit/s and ms: the kernel's queue {theirs}, our router {ours}, simulator {model}"
    print(said)
    assert middle.changed > WINDOW_S
    for mine in (ours, model):
        assert mine == pytest.approx(theirs, rel=BAND), said
