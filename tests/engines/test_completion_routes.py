"""Completion times over routes of several links: the closed form of docs/reference/readings.md."""

import pytest

from forebay.effort import Effort
from forebay.engines.simulation import SimulationEngine
from forebay.outcome import ClassOutcome
from forebay.scenario import loads

RTT = 0.08
DELAYS = (0.010, 0.015, 0.005)
RATES = (100e6, 50e6, 200e6)
NAMES = ("bottleneck", "second", "third")
BITS = 12_000.0


def _text(forward: int, back: int, packets: int) -> str:
    links = "".join(
        f'[[links]]\nname = "{name}"\nrate = "{rate} bit/s"\ndelay = "{delay} s"\n'
        'queue.size = "1000 packets"\n'
        for name, rate, delay in zip(NAMES[1:], RATES[1:], DELAYS[1:], strict=True)
    )
    route, again = list(NAMES[:forward]), list(NAMES[:back])
    return f"""
[link]
rate = "{RATES[0]} bit/s"
delay = "{DELAYS[0]} s"
[queue]
size = "1000 packets"
{links}
[[traffic]]
kind = "short"
load = 0.002
length = "{packets} packets"
rtt = "{RTT} s"
route = {route}
return_route = {again}
access_rate = "1 Gbit/s"
[measure]
warmup = "1 s"
duration = "20 s"
"""


def _class(text: str) -> ClassOutcome:
    (kind,) = SimulationEngine().run(loads(text), [1], Effort(jobs=1)).classes
    return kind


@pytest.mark.parametrize("back", [0, 1, 2, 3])
@pytest.mark.parametrize("forward", [1, 2, 3])
def test_one_packet_over_an_empty_network(forward, back):
    """Access, each wire, the propagation between the links, and half of what the rtt has left."""
    inside = sum(DELAYS[: forward - 1])
    edge = RTT - inside - sum(DELAYS[: max(back - 1, 0)])
    wires = sum(BITS / rate for rate in RATES[:forward])
    fct = _class(_text(forward, back, packets=1)).fct_s
    assert fct.p50.value == pytest.approx(BITS / 1e9 + wires + inside + edge / 2, abs=1e-11)


@pytest.mark.parametrize("forward", [1, 2, 3])
def test_several_packets_wait_for_the_slowest_link(forward):
    """Ten at once: behind the first, nine more times the longest time on a wire."""
    inside = sum(DELAYS[: forward - 1])
    wires = [BITS / rate for rate in RATES[:forward]]
    whole = BITS / 1e9 + sum(wires) + 9 * max(wires) + inside + (RTT - inside) / 2
    fct = _class(_text(forward, 0, packets=10)).fct_s
    assert fct.p50.value == pytest.approx(whole, abs=1e-11)
