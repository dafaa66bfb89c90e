"""DualPI2 with classic and L4S flows against the closed forms of RFC 9332 and of its senders.

p_C is the share of classic packets that is dropped, p_L the share of L4S packets that is marked.

* Coupling (RFC 9332): p_L = k sqrt(p_C) at every instant. Of means p_L <= k sqrt(p_C),
  for the mean of a square is at least the square of the mean: 5 + 5 flows of 80 ms at 50 Mbit/s,
  whose p' swings, mark 0.835 of that, 20 + 20 at four times the rate 0.87, 80 + 80 at sixteen times
  0.95.
* Reno (Mathis et al. 1997): W = sqrt(3 / (2 p_C)).
* Prague: a round trip adds 1 - p_L. A cut of p_L / 2 comes with the first mark after the round trip
  of the one before: at x = p_L W marks a round trip once in 1 + 1/x round trips, so that
  x^2 / (2 (1 + x)) = 1 - p_L. Where each round trip is cut that is W = 2 / p_L.

Rates are windows over round trips: the classic one waits for the target, the L4S one hardly at all.
"""

from functools import cache
from math import sqrt

import pytest
from tests.cases import cases

from forebay.engines.simulation import SimulationEngine
from forebay.outcome import Outcome
from forebay.scenario import loads

TARGET_S = 0.015
_CELLS = {
    "reno, 50 Mbit/s, 80 ms": ("reno", 50, 5, 5, 80, 2),
    "reno, 100 Mbit/s, 20 ms": ("reno", 100, 3, 9, 20, 2),
    "reno, 200 Mbit/s, 40 ms, k = 1": ("reno", 200, 8, 8, 40, 1),
    "reno, 200 Mbit/s, 80 ms": ("reno", 200, 20, 20, 80, 2),
    "cubic, 100 Mbit/s, 30 ms": ("cubic", 100, 5, 5, 30, 2),
}
_QUICK = ("reno, 50 Mbit/s, 80 ms", "cubic, 100 Mbit/s, 30 ms")


@cache
def _run(cell: str) -> Outcome:
    control, mbit, classic, l4s, rtt, k = _CELLS[cell]
    text = f"""
link.rate = "{mbit} Mbit/s"
measure.warmup = "20 s"
measure.duration = "100 s"
[queue]
discipline = "dualpi2"
size = "200 ms"
coupling_factor = {k}
[[traffic]]
name = "classic"
flows = {classic}
congestion_control = "{control}"
offload = "off"
rtt = {{ uniform = ["{rtt - 0.5} ms", "{rtt + 0.5} ms"] }}
[[traffic]]
name = "l4s"
flows = {l4s}
congestion_control = "prague"
offload = "off"
rtt = {{ uniform = ["{rtt - 0.5} ms", "{rtt + 0.5} ms"] }}
"""
    return SimulationEngine().run(loads(text), [1, 2])


def _by_class(outcome: Outcome, field: str) -> tuple[float, float]:
    found = [getattr(each, field).value for each in outcome.classes]
    return found[0], found[1]


def _shares(cell: str) -> tuple[float, float]:
    """What was dropped of the classic packets, and marked of the L4S ones."""
    outcome = _run(cell)
    dropped, lost_l4s = _by_class(outcome, "loss_rate")
    assert lost_l4s == 0.0
    marks = outcome.links["bottleneck"].marks
    _, rate = _by_class(outcome, "throughput_bps")
    return dropped, marks.value / (rate * 100.0 / 12_000.0)


def _rates(cell: str) -> tuple[float, float]:
    """Packets a second of one classic and of one L4S flow."""
    _, _, classic, l4s, _, _ = _CELLS[cell]
    both = _by_class(_run(cell), "throughput_bps")
    return both[0] / classic / 12_000.0, both[1] / l4s / 12_000.0


def _of_the_law(cell: str) -> float:
    dropped, marked = _shares(cell)
    return marked / (_CELLS[cell][-1] * sqrt(dropped))


@pytest.mark.parametrize("cell", cases(_CELLS, _QUICK.__contains__))
def test_marks_are_k_times_the_root_of_drops(cell):
    few = cell == "reno, 50 Mbit/s, 80 ms"
    assert (0.5 if few else 0.85) < _of_the_law(cell) < 1.03


@pytest.mark.long
def test_what_the_means_lack_goes_as_flows_join():
    assert _of_the_law("reno, 50 Mbit/s, 80 ms") < _of_the_law("reno, 200 Mbit/s, 80 ms") - 0.02


@pytest.mark.parametrize(
    "cell", cases((cell for cell in _CELLS if cell.startswith("reno")), _QUICK.__contains__)
)
def test_each_sender_follows_its_law(cell):
    dropped, marked = _shares(cell)
    base = _CELLS[cell][4] / 1e3
    classic, l4s = _rates(cell)
    assert classic == pytest.approx(sqrt(1.5 / dropped) / (base + TARGET_S), rel=0.2)
    room = 2 * (1 - marked)
    window = (room + sqrt(room**2 + 4 * room)) / 2 / marked
    assert l4s == pytest.approx(window / (base + 0.0005), rel=0.2)


@pytest.mark.parametrize(
    "cell", cases((cell for cell in _CELLS if "k = 1" not in cell), _QUICK.__contains__)
)
def test_flows_share_roughly_alike_and_only_classic_ones_wait(cell):
    """Within a factor of two at k = 2 (tc-dualpi2(8): window fairness); the link is full."""
    classic, l4s = _rates(cell)
    assert 0.5 < classic / l4s < 2.0
    outcome = _run(cell)
    waits = [each.queue_delay_s.mean.value for each in outcome.classes]
    assert waits[0] == pytest.approx(TARGET_S, rel=0.2)
    assert waits[1] < 0.001 < waits[0] / 10
    utilization = outcome.links["bottleneck"].utilization
    assert utilization.value > 0.98


def test_what_does_not_respond_is_dropped_from_both_queues():
    """Datagrams of twice the link: half of them and, k p' above 1, L4S packets are dropped."""
    text = """
link.rate = "20 Mbit/s"
measure.warmup = "10 s"
measure.duration = "20 s"
queue = { discipline = "dualpi2", size = "500 ms" }
traffic = [
    { kind = "udp", name = "flood", flows = 4, load = 2.0 },
    { name = "l4s", flows = 2, congestion_control = "prague", offload = "off", rtt = "20 ms" },
]
"""
    outcome = SimulationEngine().run(loads(text), [1])
    flood, l4s = _by_class(outcome, "loss_rate")
    assert flood == pytest.approx(0.5, abs=0.05)
    assert 0.25 < l4s < 0.75
    wait = outcome.classes[0].queue_delay_s
    assert wait.mean.value < 0.03
