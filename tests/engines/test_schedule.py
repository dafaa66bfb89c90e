"""Flows that are switched on and off, and flows and users who stop."""

import numpy as np
import pytest
from tests.refused import refused

import forebay
from forebay.scenario import Scenario, loads
from forebay.workload import draw

LONG = """
link.rate = "20 Mbit/s"
queue.size = "60 packets"
measure = { warmup = "2 s", duration = "20 s" }
traffic = [
  { flows = 3, congestion_control = "cubic", rtt = "40 ms", start = "0 s", \
    schedule.times = [["0 s", "5 s"], ["10 s", "12 s"]] },
  { flows = 1, rtt = "40 ms", start = "0 s" },
]
"""
AT_RANDOM = {"on": {"exponential": "1 s"}, "off": {"exponential": "3 s"}}
UDP = {"kind": "udp", "flows": 4, "rate": "1 Mbit/s", "start": "0 s", "schedule": AT_RANDOM}
USERS = {"kind": "session", "flows": 5, "file": "60 kB", "think": "0.5 s", "rtt": "20 ms",
         "start": "0 s", "stop": "7 s"}  # fmt: skip
EVERY_4_S = {"times": [["1 s", "2 s"]], "period": "4 s"}


def seconds(scenario: Scenario, seed: int = 1) -> list[tuple[int, float, float]]:
    periods = draw(scenario, seed).periods
    columns = (periods.owner, periods.on_ps / 1e12, periods.off_ps / 1e12)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_given_times_are_those_of_every_flow_and_begin_again_after_a_period():
    """From its start to its stop."""
    changes = {"traffic.0.start": "1 s", "traffic.0.stop": "11 s"}
    found = seconds(loads(LONG).replace(changes))
    assert found[:4] == [(0, 1, 5), (0, 10, 11), (1, 1, 5), (1, 10, 11)]
    assert found[6][:2] == (3, 0), "the other class sends all the time"
    assert found[6][2] > 1e6
    found = seconds(loads(LONG).replace({"traffic.0.schedule": EVERY_4_S, "traffic.0.flows": 1}))
    assert [on for owner, on, _ in found if not owner] == [1, 5, 9, 13, 17, 21]


def test_drawn_times_have_their_means_and_do_not_depend_on_the_end():
    many = loads(LONG).replace({"traffic.0.schedule": AT_RANDOM, "traffic.0.flows": 400})
    whole = seconds(many)
    on = [off - on for owner, on, off in whole if owner < 400]
    assert np.mean(on) == pytest.approx(1.0, rel=0.05)
    assert len(on) == pytest.approx(400 * (1 + 22 / 4), rel=0.05)
    short = seconds(many.replace({"measure.duration": "5 s"}))
    assert [each for each in whole if each[1] < 7] == short


def test_a_class_sends_while_it_is_on_and_its_connections_are_rows_of_its_flows():
    outcome = forebay.run(loads(LONG), seed=1)
    on, always = outcome.classes
    assert (on.flows, on.flows_active.value) == (3, 3)
    # Three of four flows for 5 s of the window's 20 s, less a start each.
    assert 0.12 < on.throughput_bps.value / 20e6 < 0.2
    assert on.throughput_bps.value + always.throughput_bps.value > 0.9 * 20e6
    rows = outcome.flows()
    own = rows["class"] == "long-0"
    assert rows["flow"][own].tolist() == [0, 0, 1, 1, 2, 2]
    assert rows["transfer"][own].tolist() == [0, 1] * 3
    assert rows["start_s"][own].tolist() == [0, 10] * 3
    assert rows["flow"][~own].tolist() == [3]
    # No flow that is silent in the window is active or starved, and shared access stays shared.
    window = {"measure.warmup": "6 s", "measure.duration": "3 s"}
    on, always = forebay.run(loads(LONG).replace(window), seed=1).classes
    assert on.flows_active.value == 0 and on.throughput_bps.value == 0
    assert always.throughput_bps.value > 0.8 * 20e6
    changes = {"traffic.0.access_sharing": 3, "traffic.0.access_rate": "6 Mbit/s"}
    on, _ = forebay.run(loads(LONG).replace(changes), seed=1).classes
    assert on.throughput_bps.value == pytest.approx(6e6 * 5 / 20, rel=0.1)


def test_datagrams_are_sent_in_on_times_alone():
    of = {"queue.size": "1000 packets", "measure.warmup": "0 s"}
    many = of | {"traffic": [UDP | {"flows": 300}], "link.rate": "1 Gbit/s"}
    outcome = forebay.run(loads(LONG).replace(many))
    # They begin on: a quarter of the time, and at first more, (3/4)^2 s in all of 20 s.
    assert outcome.classes[0].throughput_bps.value / 300e6 == pytest.approx(0.278, abs=0.03)
    udp = UDP | {"schedule": EVERY_4_S}
    packets = draw(loads(LONG).replace(of | {"traffic": [udp]}), 1).packets
    within = (packets.at_ps / 1e12) % 4
    assert len(within) and ((within >= 1) & (within < 2)).all()


def test_a_user_who_stops_ends_the_file_that_has_begun():
    users = loads(LONG).replace({"measure.warmup": "0 s", "traffic": [USERS]})
    rows = forebay.run(users).flows()
    assert rows["start_s"].max() < 7 and not rows["unfinished"].any()
    assert rows.rows == pytest.approx(5 * 7 / 0.6, rel=0.15)
    always = forebay.run(users.replace({"traffic.0.stop": None})).flows()
    assert always["start_s"].max() > 19


TWO = """
link.rate = "10 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "2 s", duration = "8 s" }
traffic = [
    { flows = 2, rtt = { uniform = ["20 ms", "80 ms"] }, start = "0 s", stop = "6 s" },
    { flows = 1, rtt = "50 ms", start = "0 s" },
]
"""


def scenario(control: str, *overrides: str) -> Scenario:
    of_both = [f"traffic.{index}.congestion_control={control}" for index in (0, 1)]
    return loads(TWO, overrides=[*of_both, *overrides])


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr", "dctcp"])
def test_nothing_new_is_sent_after_the_stop_and_what_was_sent_arrives(control):
    """The flow that stays fills the link; a window of after the stop has no byte of the others."""
    outcome = forebay.run(scenario(control, "measure.warmup=7 s", "measure.duration=5 s"))
    gone, stays = outcome.classes
    assert gone.flows_active.value == 0
    assert gone.goodput_bps.value == 0 and stays.goodput_bps.value > 8e6
    rows = outcome.flows()
    stopped = rows["class"] == "long-0"
    lost_for_good = rows["segments_sent"] - rows["segments_lost"] - rows["segments_retransmitted"]
    assert (lost_for_good[stopped] > 0).all() and not rows["unfinished"][stopped].any()


def test_a_flow_that_stops_delivers_all_that_it_sent():
    outcome = forebay.run(scenario("reno", "measure.warmup=0 s", "measure.duration=12 s"))
    rows = outcome.flows()
    gone = rows["class"] == "long-0"
    new = rows["segments_sent"][gone] - rows["segments_retransmitted"][gone]
    assert (rows["window_bytes"][gone] == 1500 * new).all()
    assert np.isnan(rows["size_bytes"][gone]).all() and np.isnan(rows["slowdown"][gone]).all()


def test_before_the_stop_nothing_differs():
    early = ("measure.warmup=1 s", "measure.duration=4 s")
    stops, stays = (scenario("cubic", *early, f"traffic.0.stop={at} s") for at in (6, 60))
    assert forebay.run(stops).classes == forebay.run(stays).classes


def test_datagrams_end_at_the_stop():
    stop = 'stop={uniform=["2 s","4 s"]}'
    udp = f'traffic.0={{kind="udp",flows=3,rate="100 kbit/s",start="0 s",{stop}}}'
    drawn = draw(loads(TWO, overrides=[udp]), 1)
    at, offsets = drawn.packets.at_ps, drawn.packets.offsets
    last = [at[end - 1] / 1e12 for end in offsets[1:4]]
    assert all(2 - 0.12 <= each < 4 for each in last) and len(set(last)) == 3
    whole = draw(loads(TWO, overrides=[udp.replace(f",{stop}", "")]), 1)
    assert (at[: offsets[1]] == whole.packets.at_ps[: offsets[1]]).all()


def test_laws_count_those_that_are_left():
    assert scenario("reno").n_flows == 3
    assert scenario("reno", "traffic.0.stop=1 s").n_flows == 2  # one of a class counts at least
    many = scenario("reno", "traffic.0.flows=100", 'traffic.0.stop={uniform=["0 s","4 s"]}')
    assert many.n_flows == 51


def test_what_cannot_stop_is_refused_with_one_line():
    with refused("every flow stops by 0 s, before it starts"):
        scenario("reno", "traffic.0.stop=0 s")
    with refused("stop"):
        loads(TWO, overrides=['traffic.0={kind="short",load=0.1,length="9 packets",stop="1 s"}'])
