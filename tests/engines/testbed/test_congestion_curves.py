"""The kernel's windows with our programs against the simulator's: one flow each, the same link."""

import pytest

from forebay.engines import EngineUnavailable
from forebay.engines.simulation import SimulationEngine
from forebay.engines.testbed import TestbedEngine
from forebay.engines.testbed.congestion import KERNEL_NAMES
from forebay.scenario import Duration, loads

OURS = [name for name, kernel in KERNEL_NAMES.items() if kernel.startswith("fb_")]
ONE_FLOW = """
link.rate = "10 Mbit/s"
queue.size = "8 packets"
measure = { warmup = "3 s", duration = "4 s" }
traffic = [{ flows = 1, rtt = "20 ms", start = "0 s" }]
"""
# Epochs last half a second: 4 s hold several, and their phase does not matter. Reno in the place of
# any but Compound reads a tenth less or lower.
BAND = 0.08


SHORTEST = "scalable"
"""Its curve takes half of the others' time, so it is the one that each change is judged by."""


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    "control",
    [each if each == SHORTEST else pytest.param(each, marks=pytest.mark.long) for each in OURS],
)
def test_the_kernels_window_is_the_simulators(control):
    scenario = loads(ONE_FLOW, overrides=[f"traffic.0.congestion_control={control}"])
    means = {}
    for engine in (SimulationEngine(), TestbedEngine()):
        try:
            trace = engine.trace(scenario, step=Duration(0.01), flows=(0,), seed=1)
        except EngineUnavailable as missing:
            pytest.skip(str(missing))
        means[engine.name] = trace.flows[0].cwnd_packets.mean()
    print(control, means)
    assert means["testbed"] == pytest.approx(means["simulation"], rel=BAND), means
