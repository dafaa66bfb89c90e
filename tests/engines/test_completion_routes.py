"""Completion times over routes of several links: the closed form of docs/reference/readings.md."""

import pytest
from tests.scenarios import scenario

import forebay

RTT = 0.08
DELAYS = (0.010, 0.015, 0.005)
RATES = (100e6, 50e6, 200e6)
NAMES = ["bottleneck", "second", "third"]
BITS = 12_000.0


def completion_s(forward: int, back: int, packets: int) -> float:
    """Return the median over a route of so many links, and ACKs over so many."""
    first, *others = (
        {"name": name, "rate": f"{rate} bit/s", "delay": f"{delay} s"}
        for name, rate, delay in zip(NAMES, RATES, DELAYS, strict=True)
    )
    short = {
        "kind": "short", "load": 0.002, "length": f"{packets} packets", "rtt": f"{RTT} s",
        "route": NAMES[:forward], "return_route": NAMES[:back], "access_rate": "1 Gbit/s",
    }  # fmt: skip
    queue = {"size": "1000 packets"}
    asked = {
        "link.rate": first["rate"], "link.delay": first["delay"], "queue": queue,
        "links": [{**each, "queue": queue} for each in others], "traffic": [short],
        "measure.duration": "20 s",
    }  # fmt: skip
    (kind,) = forebay.run(scenario(asked), jobs=1).classes
    return kind.fct_s.p50.value


@pytest.mark.parametrize("back", [0, 1, 2, 3])
@pytest.mark.parametrize("forward", [1, 2, 3])
def test_one_packet_over_an_empty_network(forward, back):
    """Access, each wire, the propagation between the links, and half of what the rtt has left."""
    inside = sum(DELAYS[: forward - 1])
    edge = RTT - inside - sum(DELAYS[: max(back - 1, 0)])
    wires = sum(BITS / rate for rate in RATES[:forward])
    whole = BITS / 1e9 + wires + inside + edge / 2
    assert completion_s(forward, back, packets=1) == pytest.approx(whole, abs=1e-11)


@pytest.mark.parametrize("forward", [1, 2, 3])
def test_several_packets_wait_for_the_slowest_link(forward):
    """Ten at once: behind the first, nine more times the longest time on a wire."""
    inside = sum(DELAYS[: forward - 1])
    wires = [BITS / rate for rate in RATES[:forward]]
    whole = BITS / 1e9 + sum(wires) + 9 * max(wires) + inside + (RTT - inside) / 2
    assert completion_s(forward, 0, packets=10) == pytest.approx(whole, abs=1e-11)
