"""Flows that stop: TCP sends nothing new then, datagrams end, and laws count who is left."""

import numpy as np
import pytest

import forebay
from forebay import Scenario, ScenarioError
from forebay.engines.errors import Unsupported, refuse_stops
from forebay.scenario import loads
from forebay.workload import draw

TWO = """
link.rate = "10 Mbit/s"
queue.size = "40 packets"
measure = { warmup = "2 s", duration = "8 s" }
[[traffic]]
flows = 2
congestion_control = "CONTROL"
rtt = { uniform = ["20 ms", "80 ms"] }
start = "0 s"
stop = "6 s"
[[traffic]]
flows = 1
congestion_control = "CONTROL"
rtt = "50 ms"
start = "0 s"
"""


def scenario(control: str, *overrides: str) -> Scenario:
    return loads(TWO.replace("CONTROL", control), overrides=overrides)


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


def test_the_answer_does_not_depend_on_threads_of_a_network():
    network = loads(
        'link = { rate = "100 Mbit/s", delay = "10 us" }\ntopology.fat_tree.k = 4\n'
        'measure = { warmup = "50 ms", duration = "100 ms" }\n'
        '[[traffic]]\nflows = 40\nstart = "0 s"\nstop = { uniform = ["60 ms", "100 ms"] }\n'
    )
    one, two = (forebay.run(network, jobs=jobs) for jobs in (1, 2))
    assert one.classes == two.classes


def test_datagrams_end_at_the_stop():
    udp = (
        'traffic.0={kind="udp",flows=3,rate="100 kbit/s",start="0 s",stop={uniform=["2 s","4 s"]}}'
    )
    drawn = draw(scenario("reno", udp), 1)
    at, offsets = drawn.packets.at_ps, drawn.packets.offsets
    last = [at[end - 1] / 1e12 for end in offsets[1:4]]
    assert all(2 - 0.12 <= each < 4 for each in last) and len(set(last)) == 3
    whole = draw(scenario("reno", udp.replace(',stop={uniform=["2 s","4 s"]}', "")), 1)
    assert (at[: offsets[1]] == whole.packets.at_ps[: offsets[1]]).all()


def test_laws_count_those_that_are_left():
    assert scenario("reno").n_flows == 3
    assert scenario("reno", "traffic.0.stop=1 s").n_flows == 2  # one of a class counts at least
    many = scenario("reno", "traffic.0.flows=100", 'traffic.0.stop={uniform=["0 s","4 s"]}')
    assert many.n_flows == 51


def test_what_cannot_stop_is_refused_with_one_line():
    with pytest.raises(ScenarioError, match="every flow stops by 0 s, before it starts"):
        scenario("reno", "traffic.0.stop=0 s")
    with pytest.raises(Unsupported, match=r"traffic\.0\.stop: testbed cannot run flows that stop"):
        refuse_stops("testbed", scenario("reno"))
    with pytest.raises(ScenarioError, match="stop"):
        scenario("reno", 'traffic.0={kind="short",load=0.1,length="9 packets",stop="1 s"}')
