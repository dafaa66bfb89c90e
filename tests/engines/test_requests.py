"""Workers that answer together, against what can be counted by hand."""

from collections.abc import Mapping

import numpy as np
import pytest
from tests.refused import refused

import forebay
from forebay.laws.incast import first_windows
from forebay.outcome import Outcome
from forebay.scenario import loads
from forebay.workload import draw

PORT = """
link.rate = "25 Gbit/s"
queue.size = "1000 packets"
measure = { warmup = "0 s", duration = "1 ms" }
traffic = [
  { kind = "requests", flows = 40, response = "10 packets", think = "5 ms", rtt = "30 us", \
    access_rate = "25 Gbit/s", min_rto = "10 ms" },
]
"""
PACKET_S = 1500 * 8 / 25e9
AS_IN_THE_ISSUE = {
    "traffic.0.response": "64 kB", "traffic.0.rtt": {"uniform": ["20 us", "40 us"]},
    "traffic.0.congestion_control": "dctcp", "traffic.0.ecn": True, "measure.warmup": "20 ms",
    "measure.duration": "200 ms",
}  # fmt: skip


def run(changes: Mapping[str, object], seeds: int = 1) -> Outcome:
    return forebay.run(loads(PORT).replace(changes), seeds=seeds)


def lost(outcome: Outcome) -> float:
    return outcome.classes[0].loss_rate.value


@pytest.mark.parametrize(
    ("changes", "packets"),
    [
        ({}, 400 - 10),  # nine packets have left and one is on the wire when the last ones come
        ({"traffic.0.access_rate": "100 Gbit/s"}, 400 - 1 - 2),  # 9 / 4 transmissions
        ({"traffic.0.initial_window": 3, "traffic.0.response": "3 packets"}, 120 - 3),
        ({"traffic.0.response": "4 packets", "traffic.0.flows": 9}, 36 - 4),
        ({"traffic.0.flows": 41, "traffic.0.fan_in": 41, "link.rate": "100 Mbit/s"}, 410 - 1),
    ],
)
def test_the_first_windows_fit_in_what_the_law_says(changes, packets):
    assert first_windows(loads(PORT).replace(changes)).buffer == packets
    small, large = (
        run(changes | {"queue.size": f"{size} packets"}).links["bottleneck"].loss_rate.value
        for size in (packets - 1, packets)
    )
    assert small > 0 == large


@pytest.mark.parametrize("size", [300, 350, 389])
def test_the_loss_of_the_first_windows_is_what_does_not_fit(size):
    """Of 400 packets 390 - size are lost. A probe (tail loss probe) follows each lost end."""
    law = first_windows(loads(PORT))
    trace = forebay.trace(loads(PORT).replace({"queue.size": f"{size} packets"}), step="20 us")
    burst = trace.drops.at_s < 0.0003
    assert int(trace.drops.count[burst].sum()) == law.buffer - size
    assert law.lost_share(size) == (390 - size) / 400


def test_a_request_without_loss_takes_a_round_trip_and_all_transmissions():
    """At 1000 packets: 30 us, 400 transmissions, and the first packet's on its own link."""
    together = run({"measure.duration": "30 ms"}).classes[0]
    each = 30e-6 + 400 * PACKET_S + PACKET_S
    assert together.request_s.p50.value == pytest.approx(each, rel=1e-3)
    assert together.request_s.p99.value == pytest.approx(each, rel=1e-3)
    assert together.requests.value == 30e-3 // (each + 5e-3) + 1


@pytest.mark.parametrize(
    ("packets", "least", "most"),
    [
        (5, 2e-3 + 2 * 30e-6, 2.6e-3),  # four are lost: a probe after two round trips and 2 ms
        (8, 10e-3, 10.6e-3),  # the last is: a single segment may be acknowledged as late as min_rto
        (9, 0, 0.1e-3),
    ],
)
def test_a_lost_tail_costs_a_probe(packets, least, most):
    """Ten packets arrive while the first is being sent. RFC 8985, section 7.2."""
    changes = {"traffic.0.flows": 1, "traffic.0.access_rate": "1 Tbit/s"}
    found = run(changes | {"queue.size": f"{packets} packets", "measure.duration": "1 s"})
    whole = found.classes[0].request_s
    assert least < whole.mean.value < most


def test_a_service_time_keeps_the_answers_apart():
    spread = {"traffic.0.service_time": {"uniform": ["0 us", "400 us"]}}
    few = {"queue.size": "300 packets", "measure.duration": "20 ms"}
    assert lost(run(few)) > 0.1
    assert lost(run({**few, **spread})) == 0


def test_the_workload_has_an_answer_of_each_worker_for_each_request():
    scenario = loads(PORT).replace({
        "traffic.0.fan_in": 16, "traffic.0.response": {"geometric": "20 packets"},
        "traffic.0.think": {"exponential": "1 ms"}, "measure.duration": "20 ms",
        "traffic.0.start": {"uniform": ["0 ms", "3 ms"]},
    })  # fmt: skip
    drawn = draw(scenario, 1)
    groups, files = drawn.requests, drawn.sessions
    assert groups.first.tolist() == [0, 16, 32] and groups.end.tolist() == [16, 32, 40]
    counts = np.diff(files.offsets)
    for first, end, pauses in zip(groups.first, groups.end, groups.think_ps, strict=True):
        assert set(counts[first:end]) == {len(pauses) + 1}
    longer = draw(scenario.replace({"measure.duration": "50 ms"}), 1)
    for worker in range(40):
        one = files.segments[files.offsets[worker] : files.offsets[worker + 1]]
        start = longer.sessions.offsets[worker]
        assert np.array_equal(one, longer.sessions.segments[start : start + len(one)])
    assert np.array_equal(longer.requests.asked_ps, groups.asked_ps)


def test_one_worker_is_a_user():
    """With one worker a request is a session's file, but for its first, which it asks for."""
    alone = {"traffic.0.flows": 1, "measure.duration": "100 ms"}
    asked = run(alone).classes[0]
    scenario = loads(PORT.replace('"requests"', '"session"').replace("response", "file"))
    user = forebay.run(scenario.replace(alone | {"traffic.0.start": "0 s"})).classes[0]
    assert asked.fct_s.mean.value == pytest.approx(user.fct_s.mean.value, rel=1e-6)
    assert abs(asked.transfers.value - user.transfers.value) <= 1


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"traffic.0.fan_in": 0}, "traffic.0.fan_in"),
        ({"traffic.0.response": "0 packets"}, "traffic.0.response"),
        ({"traffic.0.response": "12 minutes"}, "traffic.0.response"),
        ({"traffic.0.start": "2 s"}, "no flow starts before the run ends"),
        ({"traffic.0.file": "64 kB"}, "file"),
        ({"traffic": [{"flows": 3, "goals": {"request_p99": "1 ms"}}]}, "no requests with several"),
    ],
)
def test_bad_values_are_refused_in_a_line(changes, wrong):
    with refused(wrong):
        loads(PORT).replace(changes)


def test_a_size_for_a_goal_on_whole_requests():
    goal = AS_IN_THE_ISSUE | {"traffic.0.goals": {"request_p99": "2 ms"}}
    goal |= {"measure.duration": "60 ms"}
    result = forebay.size(loads(PORT).replace(goal), seeds=2, max_seeds=2)
    assert 700 < result.recommended.packets < 900, "43 of 10 packets and more from 40 workers"
    assert forebay.laws.regime_of(loads(PORT)).regime == "workers that answer together"


def test_workers_behind_shared_links_and_no_traffic_at_the_end():
    """Three cases besides: hosts' links that are shared, a window without a request, 1 Mbit/s."""
    assert lost(run({"traffic.0.access_sharing": 20, "traffic.0.flows": 40})) == 0
    late = run({"traffic.0.think": "1 s", "measure.warmup": "0.5 s"}).classes[0]
    assert late.requests.value == 0
    slow = run({"link.rate": "1 Mbit/s", "measure.duration": "9 s"}).classes[0]
    assert slow.request_s.mean.value == pytest.approx(400 * 0.012, rel=0.05)


def by_hand(size: int, seed: int) -> Outcome:
    """Return the forty answers as transfers that somebody wrote down, burst after burst.

    A worker begins when the request has reached it, half of its round trip after it was asked.
    """
    rtts_us = np.random.default_rng(seed).uniform(20, 40, 40)
    listed = [
        {"start": f"{30e3 * burst + rtt / 2:.3f} us", "size": "14480 B", "rtt": f"{rtt:.3f} us"}
        for burst in range(6)
        for rtt in rtts_us
    ]
    kept = {"access_rate": "25 Gbit/s", "min_rto": "10 ms", "offload": "off"}
    traffic = [{"kind": "transfers", "transfers": listed} | kept]
    return run({"queue.size": f"{size} packets", "traffic": traffic, "measure.duration": "180 ms"})


def test_requests_lose_what_the_same_answers_lose_that_were_written_down_by_hand():
    """At 300 packets within the interval of eight runs, at 1000 nothing."""
    spread = {"uniform": ["20 us", "40 us"]}
    asked = {"traffic.0.rtt": spread, "traffic.0.think": "27 ms", "measure.duration": "180 ms"}
    for size in (300, 1000):
        requests = run(asked | {"queue.size": f"{size} packets"}, seeds=8).classes[0].loss_rate
        written = float(np.mean([lost(by_hand(size, seed)) for seed in range(8)]))
        if requests.low is None or requests.high is None:  # all runs agree
            assert requests.value == written
        else:
            assert requests.low <= written <= requests.high
        assert (written == 0) is (size == 1000)
