"""CAKE compared with FQ-CoDel: home access, shaped below its wire, downloads and a voice stream."""

import pytest

import forebay
from forebay.outcome import ClassOutcome
from forebay.scenario import loads

HOME = """
link.rate = "1 Gbit/s"
link.shaper = { rate = "20 Mbit/s", refill = "deficit" }
queue = { discipline = "cake", size = "1000 packets" }
measure = { warmup = "10 s", duration = "20 s" }
[[traffic]]
name = "downloads"
flows = 16
congestion_control = "cubic"
rtt = { uniform = ["20 ms", "60 ms"] }
[[traffic]]
name = "voice"
kind = "udp"
flows = 1
rate = "80 kbit/s"
packet = "200 B"
"""
PACKET_S = 1500 * 8 / 20e6
# From the rules of each discipline, but after the readings of docs/reference/queues.md had been
# seen: a stream that is alone in its queue waits for the packet that holds the shaper, and for what
# other new queues send, a turn each.
VOICE_MEDIAN_S = 2 * PACKET_S
VOICE_P99_S = 8 * PACKET_S


def play(*sets: str) -> tuple[float, dict[str, ClassOutcome]]:
    outcome = forebay.run(loads(HOME, overrides=sets), seeds=3)
    used = outcome.links["bottleneck"].utilization
    return used.value, {each.name: each for each in outcome.classes}


def waits(each: ClassOutcome) -> tuple[float, float]:
    delay = each.queue_delay_s
    return delay.p50.value, delay.p99.value


def loss(each: ClassOutcome) -> float:
    return each.loss_rate.value


@pytest.mark.parametrize("discipline", ["cake", "fq_codel"])
def test_voice_beside_downloads_waits_for_no_queue_but_its_own(discipline):
    used, each = play(f"queue.discipline={discipline}")
    median, p99 = waits(each["voice"])
    assert median < VOICE_MEDIAN_S and p99 < VOICE_P99_S
    assert loss(each["voice"]) == 0.0 and used > 0.98
    jain = each["downloads"].jain
    assert jain.value > 0.99


def test_cobalt_alone_keeps_the_delay_but_not_the_flows_apart():
    _, each = play("queue.discipline=cobalt")
    assert 0.001 < loss(each["voice"]) < 0.1
    median, _ = waits(each["voice"])
    assert 0.5 * 5e-3 < median < 3 * 5e-3


def test_marks_keep_the_downloads_whole():
    _, each = play("traffic.0.ecn=true")
    assert loss(each["downloads"]) < 0.002
    assert waits(each["voice"])[0] < VOICE_MEDIAN_S


def test_a_longer_rtt_lets_more_wait():
    few, many = (waits(play(f"queue.rtt={rtt} ms")[1]["downloads"])[0] for rtt in (20, 500))
    assert many > 2 * few


def test_an_idle_link_and_one_a_hundred_times_as_fast():
    used, each = play("traffic.0.flows=1", "link.shaper.rate=2 Gbit/s", "link.rate=10 Gbit/s")
    assert used < 1.0 and loss(each["voice"]) == 0.0
    slow = ("link.shaper.rate=200 kbit/s", "traffic.0.flows=2", "traffic.1.rate=8 kbit/s")
    used, each = play(*slow)
    # A packet takes 60 ms: target and interval are raised to 90 and 185 ms.
    assert used > 0.98 and waits(each["voice"])[0] < 2 * 0.06
