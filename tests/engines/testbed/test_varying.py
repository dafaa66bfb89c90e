"""Links that vary on the testbed: against the simulator, and against the kernel's own tbf."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyroute2 import IPRoute
from tests.engines.testbed.middle import BURST_PACKETS, PACKET, Middle

import forebay
from forebay.engines.testbed import namespaces, one_run
from forebay.scenario import Scenario, loads

pytestmark = pytest.mark.usefixtures("real", "own_records")

LINK = """
[link]
{link}
[queue]
size = "60 packets"
[[traffic]]
flows = {flows}
congestion_control = "{control}"
rtt = "40 ms"
start = {{ uniform = ["0 s", "1 s"] }}
[measure]
warmup = "{warmup} s"
duration = "{window} s"
"""
TRACE = 'rate_trace = { steps = [["0 s", "20 Mbit/s"], ["1 s", "8 Mbit/s"]], period = "2 s" }'
LOSSY = 'rate = "10 Mbit/s"\nloss = 0.01'
DOWN = 'rate = "10 Mbit/s"\ndown = { times = [["1 s", "1.2 s"]], period = "2 s" }'
# Set before these tests ran, as in test_shaped.py.
BAND_POINTS = 2.5


def scenario(link: str, flows: int, control: str, warmup: int, window: int) -> Scenario:
    text = LINK.format(link=link, flows=flows, control=control, warmup=warmup, window=window)
    return loads(text)


@pytest.mark.parametrize(
    "link",
    [
        TRACE,
        pytest.param(LOSSY, marks=pytest.mark.long),
        pytest.param(DOWN, marks=pytest.mark.long),
    ],
)
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
        assert ours.lost is not None
        share = 8 * kernel.lost.value / (1e7 / 12e3 * 8 * 8 * used / 100)
        assert share == pytest.approx(0.01, abs=0.004)


# --- against the kernel's own queue, whose rate is changed at the trace's times -----------------

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


def reached(asked: Scenario) -> tuple[float, float]:
    """Return throughput in Mbit/s, and the p95 of round trips in ms, by the driver's own words."""
    outcome = forebay.run(asked, engine="testbed", seeds=1)
    (each,) = outcome.classes
    return each.throughput_bps.value / 1e6, 1e3 * each.rtt_s.p95.value


@pytest.mark.long
@pytest.mark.parametrize(("flows", "control"), [(1, "cubic"), (1, "bbr"), (4, "cubic")])
def test_the_kernels_queue_on_the_same_trace(monkeypatch, flows, control):
    steps = ", ".join(f'["{at} s", "{rate} Mbit/s"]' for at, rate in enumerate(RATES_MBPS))
    trace = f'rate_trace = {{ steps = [{steps}], period = "{len(RATES_MBPS)} s" }}'
    asked = scenario(trace, flows, control, 10, WINDOW_S)
    ours = reached(asked)
    simulated = forebay.run(asked, seeds=4).classes[0]
    model = simulated.throughput_bps.value / 1e6, 1e3 * simulated.rtt_s.p95.value
    middle = Varying(RATES_MBPS, asked.buffer_packets)
    monkeypatch.setattr(one_run, "pair_for", middle.pair_for)
    wide = scenario('rate = "10 Gbit/s"', flows, control, 10, WINDOW_S)
    # Ours is never full behind the kernel's; the gate wants no delay longer than it drains.
    theirs = reached(wide.replace({"queue.size": "30000 packets"}))
    said = f"Mbit/s and ms: the kernel's queue {theirs}, our router {ours}, simulator {model}"
    print(said)
    assert middle.changed > WINDOW_S
    for mine in (ours, model):
        assert mine == pytest.approx(theirs, rel=BAND), said
