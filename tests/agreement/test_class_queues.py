"""Class queues against closed forms: Poisson datagrams of one size a class, never lost.

Cobham, "Priority Assignment in Waiting Line Problems", Operations Research 2(1), 1954: with
W0 = sum of rho_i S_i / 2, the rest of the packet on the wire that an arrival finds (sizes of a
class are all alike, so that the second moment of its time on the wire is S_i^2), and sigma_k the
load of class k and of those before it, class k waits W0 / ((1 - sigma_(k-1)) (1 - sigma_k)).

Whatever the order among classes, while the wire never idles with packets waiting, the sum of
rho_k W_k is that of first come, first served, rho W0 / (1 - rho): Kleinrock's conservation law
("A Conservation Law for a Wide Class of Queueing Disciplines", Naval Research Logistics Quarterly
12(2), 1965). So it is under deficit round robin.
"""

import pytest

import forebay
from forebay.scenario import Scenario, loads

RATE = 10e6
HEAD = """
link.rate = "10 Mbit/s"
measure.warmup = "1 s"
measure.duration = "{duration} s"
[queue]
discipline = "classes"
size = "20000 packets"               # as good as endless
"""
QUEUE = '[[queue.classes]]\nname = "{name}"\ntraffic = ["{name}"]\n{more}\n'
DATAGRAMS = """
[[traffic]]
name = "{name}"
kind = "udp"
flows = 20
load = {load}
arrivals = "poisson"
start = "0 s"
packet = "{packet} B"
access_rate = "1 Tbit/s"
"""
CLASSES = {"voice": (200, 0.2), "business": (700, 0.3), "bulk": (1500, 0.3)}


def scenario(schedule: dict[str, str], duration: int) -> Scenario:
    queues = "".join(QUEUE.format(name=name, more=more) for name, more in schedule.items())
    traffic = "".join(
        DATAGRAMS.format(name=name, load=load, packet=packet)
        for name, (packet, load) in CLASSES.items()
    )
    return loads(HEAD.format(duration=duration) + queues + traffic)


def waits(schedule: dict[str, str], duration: int) -> dict[str, tuple[float, float]]:
    """Return each class's mean wait, seconds, and the half width of its interval."""
    outcome = forebay.run(scenario(schedule, duration), seeds=6, jobs=2)
    found = {}
    for each in outcome.classes:
        assert each.loss_rate.value == 0.0
        mean = each.queue_delay_s.mean
        found[each.name] = (mean.value, mean.high - mean.value)
    return found


def rest() -> float:
    """W0, seconds."""
    return sum(load * 8 * packet / RATE / 2 for packet, load in CLASSES.values())


def cobham(order: list[str]) -> dict[str, float]:
    found, before = {}, 0.0
    for name in order:
        through = before + CLASSES[name][1]
        found[name] = rest() / ((1 - before) * (1 - through))
        before = through
    return found


DURATIONS = [75, pytest.param(300, marks=pytest.mark.long)]
"""Seconds."""


def widest(duration: int) -> float:
    """Return the most that half an interval may be of its mean: it falls as more is measured."""
    return 0.03 * (300 / duration) ** 0.5


@pytest.mark.parametrize(
    "order", [["voice", "business", "bulk"], ["bulk", "voice", "business"]], ids="-".join
)
@pytest.mark.parametrize("duration", DURATIONS)
def test_strict_priority_is_cobham_s(order, duration):
    schedule = {name: f"priority = {place}" for place, name in enumerate(order)}
    measured = waits(schedule, duration)
    for name, expected in cobham(order).items():
        mean, half = measured[name]
        assert half < widest(duration) * expected
        assert mean == pytest.approx(expected, abs=2 * half), name


@pytest.mark.parametrize("duration", DURATIONS)
def test_round_robin_shares_the_work_of_one_queue(duration):
    weights = {"voice": "weight = 1.0", "business": "weight = 4.0", "bulk": "weight = 2.0"}
    measured = waits(weights, duration)
    load = sum(load for _, load in CLASSES.values())
    of_one_queue = load * rest() / (1 - load)
    shared = sum(load * measured[name][0] for name, (_, load) in CLASSES.items())
    half = sum(load * measured[name][1] for name, (_, load) in CLASSES.items())
    assert half < widest(duration) * of_one_queue
    assert shared == pytest.approx(of_one_queue, abs=2 * half)
