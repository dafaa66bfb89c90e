"""The exact M^[X]/D/1 queue against the simulator: bursts that fit the first window.

Each flow is one burst, sent at once over an access link ten thousand times as fast, so that the
simulator's queue is the law's and they must agree within the interval of the replications.
"""

import pytest
from tests.cases import cases

import forebay
from forebay.laws import bursts
from forebay.outcome import LinkOutcome, Metric, Quantiles
from forebay.scenario import Scenario, loads

LINK = """
link.rate = "100 Mbit/s"
measure = { warmup = "1 s", duration = "6 s" }
[queue]
size = "3000 packets"                # as good as endless
"""
BURSTS = """
[[traffic]]
kind = "short"
length = "{packets} packets"
load = {load}
rtt = "10 ms"
initial_window = {packets}
access_rate = "1 Tbit/s"
"""
SINGLE = """
[[traffic]]
kind = "udp"
flows = 10
load = {load}
arrivals = "poisson"
start = "0 s"
packet = "1500 B"
access_rate = "1 Tbit/s"
"""


def bursts_of(packets: int, load: float) -> str:
    return BURSTS.format(packets=packets, load=load)


POINTS = {
    "single packets at 0.8": SINGLE.format(load=0.8),
    "2 at 0.8": bursts_of(2, 0.8),
    "4 at 0.6": bursts_of(4, 0.6),
    "8 at 0.8": bursts_of(8, 0.8),
    "16 at 0.3 and 2 at 0.3": bursts_of(16, 0.3) + bursts_of(2, 0.3),
}


def link(scenario: Scenario, engine: str, seeds: int = 1) -> LinkOutcome:
    return forebay.run(scenario, engine=engine, seeds=seeds, jobs=1).links["bottleneck"]


def within(exact: float, seen: Metric | None, slack: float) -> bool:
    return seen.low - slack <= exact <= seen.high + slack


def spread(quantiles: Quantiles | None) -> Quantiles:
    assert quantiles is not None
    return quantiles


QUICK = ("single packets at 0.8", "4 at 0.6")


@pytest.mark.parametrize("point", cases(POINTS, QUICK.__contains__))
def test_queue_is_the_law_s(point):
    """Means within the 95 % interval; quantiles to a packet more, delays to a tenth of its time."""
    asked = loads(LINK + POINTS[point])
    told, seen = link(asked, "theory"), link(asked, "simulation", seeds=8)
    packet_s = 8 * 1500 / 100e6
    for exact, measured, step in (
        (spread(told.queue_packets), spread(seen.queue_packets), 1.0),
        (spread(told.queue_delay_s), spread(seen.queue_delay_s), 0.1 * packet_s),
    ):
        assert within(exact.mean.value, measured.mean, 0.0)
        assert within(exact.p95.value, measured.p95, step)
        assert within(exact.p99.value, measured.p99, step)
    assert within(told.utilization.value, seen.utilization, 0.0)


def test_the_points_are_the_bursts_they_are_named_for():
    found = bursts.burst_traffic(loads(LINK + POINTS["16 at 0.3 and 2 at 0.3"]))
    assert found.load == pytest.approx(0.6)
    assert found.bursts.sizes.tolist() == [2, 16]
    assert found.bursts.probabilities.tolist() == pytest.approx([8 / 9, 1 / 9])


def test_another_load_is_not_within():
    """The band can fail: at a load 5 % higher the law leaves it."""
    told = link(loads(LINK + bursts_of(4, 0.63)), "theory").queue_packets
    seen = link(loads(LINK + bursts_of(4, 0.6)), "simulation", seeds=8).queue_packets
    assert not within(told.mean.value, seen.mean, 0.0)


@pytest.mark.parametrize("stack", bursts.INITIAL_WINDOWS)
def test_first_windows_are_the_simulator_s(stack):
    """A packet more than the first window takes a round trip of 10 ms more."""
    window = bursts.INITIAL_WINDOWS[stack]
    fits, more = (_completion(stack, packets) for packets in (window, window + 1))
    assert fits < 0.015 < more < 0.025 + (0.1 if stack == "linux" else 0.0)  # a delayed ACK


def _completion(stack: str, packets: int) -> float:
    traffic = bursts_of(packets, 0.01).replace(f"initial_window = {packets}", f'sender = "{stack}"')
    (group,) = forebay.run(loads(LINK + traffic), engine="simulation", seeds=1, jobs=1).classes
    return group.fct_s.p50.value
