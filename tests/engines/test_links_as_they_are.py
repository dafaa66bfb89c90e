"""Links that are down at times, and links whose jitter delays packets or reorders them."""

import csv

import pytest

import forebay
from forebay.engines.simulation.runs import make_run
from forebay.scenario import ScenarioError, loads

UDP = """
link = { rate = "12 Mbit/s", down = [["5 s", "6 s"]] }
queue.size = "1000 packets"
measure = { warmup = "4 s", duration = "8 s" }
[[traffic]]
kind = "udp"
flows = 1
rate = "6 Mbit/s"
start = "0 s"
"""
LONG = """
link.rate = "20 Mbit/s"
link.jitter = { most = "8 ms", reorder = true }
queue.size = "120 packets"
measure = { warmup = "5 s", duration = "20 s" }
[[traffic]]
kind = "long"
flows = 2
congestion_control = "cubic"
rtt = "40 ms"
start = "0 s"
max_window = 80
"""
PERIODIC = {"times": [["0 s", "1 s"]], "period": "4 s"}


def test_what_comes_while_a_link_is_down_waits_for_it():
    """500 packets come in 1 s, of which the first waits 1 s; at twice the rate they go in 1 s."""
    link = forebay.run(loads(UDP), seed=1).links["bottleneck"]
    assert link.queue_packets.mean.value == pytest.approx(500 / 8, rel=0.01)
    assert link.queue_delay_s.p99.value == pytest.approx(1.0, abs=0.05)
    assert link.utilization.value == pytest.approx(8 * 6 / (7 * 12), rel=0.005)
    assert link.loss_rate.value == 0.0


@pytest.mark.parametrize("discipline", ["drop-tail", "codel", "cake"])
def test_or_is_dropped(discipline):
    down = {"times": [["5 s", "6 s"]], "queue": "drop"}
    changes = {"link.down": down, "queue.discipline": discipline}
    link = forebay.run(loads(UDP).replace(changes), seed=1).links["bottleneck"]
    assert link.loss_rate.value == pytest.approx(1 / 8, abs=0.002)
    assert link.utilization.value == pytest.approx(0.5, rel=0.005)


def test_capacity_is_the_mean_where_outages_repeat_and_the_rate_where_not():
    once, again = loads(UDP), loads(UDP).replace({"link.down": PERIODIC, "queue.size": "10 ms"})
    assert once.link.capacity == 12e6 and again.link.capacity == pytest.approx(9e6)
    assert again.buffer_packets == 8  # 10 ms of 9 Mbit/s are 7.5 packets
    full = again.replace({"traffic.0.rate": "24 Mbit/s", "queue.size": "50 packets"})
    outcome = forebay.run(full, seed=1)
    assert outcome.links["bottleneck"].utilization.value == pytest.approx(1, abs=1e-4)
    assert outcome.classes[0].throughput_bps.value == pytest.approx(9e6, rel=2e-3)


def test_a_link_may_be_down_up_to_the_end_of_its_period():
    down = {"times": [["1 s", "1.5 s"], ["3 s", "4 s"]], "period": "4 s"}
    rates = loads(UDP).replace({"link.down": down}).link.rates
    assert rates.mean == pytest.approx(12e6 * 5 / 8)
    assert rates.rates == ((0, 12e6), (1, 0), (1.5, 12e6), (3, 0))


def test_flows_come_back_after_an_outage_and_a_second_link_has_its_own():
    text = LONG + '[[links]]\nname = "core"\nrate = "30 Mbit/s"\ndown = [["10 s", "11 s"]]\n'
    changes = {"link.jitter": None, "traffic.0.route": ["bottleneck", "core"]}
    outcome = forebay.run(loads(text).replace(changes), seed=1)
    assert outcome.links["bottleneck"].utilization.value > 0.85
    assert outcome.classes[0].timeouts is not None and outcome.classes[0].timeouts.value > 0


@pytest.mark.parametrize("route", [["bottleneck"], ["bottleneck", "core"], ["core", "bottleneck"]])
def test_cubic_learns_of_reordering_wherever_the_link_lies(route):
    text = LONG + '[[links]]\nname = "core"\nrate = "1 Gbit/s"\n'
    outcome = forebay.run(loads(text).replace({"traffic.0.route": route}), seed=1)
    assert outcome.classes[0].goodput_bps.value > 0.95 * 20e6
    rows = outcome.flows()
    assert max(rows["segments_retransmitted"]) < 20
    assert outcome.links["bottleneck"].loss_rate.value == 0.0


def test_a_window_grows_with_what_is_sacked_where_most_acks_are_of_late_segments():
    """A hundred times the rate: cumulative ACKs alone left slow start at 11 % of it."""
    fast = {"link.rate": "2 Gbit/s", "queue.size": "12000 packets", "traffic.0.max_window": None}
    window = {"measure.warmup": "3 s", "measure.duration": "3 s"}
    outcome = forebay.run(loads(LONG).replace(fast | window), seed=1)
    assert outcome.links["bottleneck"].utilization.value > 0.8


def test_jitter_without_reordering_makes_round_trips_longer_and_resends_nothing():
    still = loads(LONG).replace({"link.jitter": None, "traffic.0.max_window": 20})
    moved = still.replace({"link.jitter": "8 ms"})
    (before,), (after,) = (forebay.run(each, seed=1).classes for each in (still, moved))
    more = after.rtt_s.mean.value - before.rtt_s.mean.value
    assert 0.004 < more < 0.008
    assert max(forebay.run(moved, seed=1).flows()["segments_retransmitted"]) == 0


def test_traffic_both_ways_crosses_jitter_both_ways():
    text = LONG + LONG[LONG.index("[[traffic]]") :]
    both = loads(text).replace({"traffic.1.direction": "reverse"})
    outcome = forebay.run(both, seed=1)
    assert all(each.goodput_bps.value > 0.8 * 20e6 for each in outcome.classes)


def test_sizing_meets_a_goal_with_outages_and_jitter():
    goals = "[goals]\nutilization = 0.9\n"
    scenario = loads(LONG + goals).replace(
        {
            "traffic.0.max_window": None,
            "link.down": {"times": [["0 s", "100 ms"]], "period": "5 s"},
            "link.jitter": "2 ms",
        }
    )
    result = forebay.size(scenario, seeds=1)
    assert result.buffer is not None
    assert scenario.link.capacity == pytest.approx(19.6e6)
    assert all(law.broken_assumptions for law in result.laws)


def test_a_short_form_is_the_table(tmp_path_factory):
    scenario = loads(UDP).replace({"link.jitter": "5 ms"})
    same = {"link.jitter": {"most": "5 ms"}, "link.down": {"times": [["5 s", "6 s"]]}}
    assert scenario == loads(UDP).replace(same)
    path = tmp_path_factory.mktemp("saved") / "saved.toml"
    scenario.save(path)
    assert forebay.load(path) == scenario


def test_a_trace_and_outages_are_one_trace():
    trace = {"steps": [["0 s", "12 Mbit/s"], ["2 s", "6 Mbit/s"]]}
    with pytest.raises(ScenarioError, match="0 Mbit/s") as refused:
        loads(UDP).replace({"link.rate": None, "link.rate_trace": trace})
    assert refused.value.field == "link.down"


def test_the_delay_of_a_last_link_that_reorders_is_part_of_the_round_trip():
    late = loads(LONG).replace({"link.delay": "30 ms"})
    make_run(late, 1)
    with pytest.raises(ScenarioError) as refused:
        loads(LONG).replace({"link.delay": "41 ms", "traffic.0.route": ["bottleneck"]})
    assert refused.value.field == "traffic.0.rtt"


def test_a_capture_of_a_link_that_reorders_has_packets_as_they_leave_it(tmp_path):
    path, table = tmp_path / "packets.pcapng", tmp_path / "packets.csv"
    forebay.run(loads(LONG), seed=1, capture=path, packets=table)
    with table.open() as file:
        left = [row for row in csv.DictReader(file) if row["event"] == "dequeue"]
    first = [int(row["sequence"]) for row in left if row["flow"] == "0"]
    assert first != sorted(first)
    assert path.stat().st_size > 60 * len(left)


@pytest.mark.parametrize(
    ("down", "said"),
    [
        ([["1 s", "1.000000001 s"]], "has times less than 1 us apart"),
        ([["1 s", "2 s"], ["2 s", "3 s"]], "has outages that touch, write one"),
        ([["1 s", "3 s"], ["2 s", "4 s"]], "has times that do not ascend"),
    ],
)
def test_times_that_cannot_be_are_refused_for_what_they_are(down, said):
    with pytest.raises(ScenarioError, match=f"link.down.times: {said};"):
        loads(UDP).replace({"link.down": down})
