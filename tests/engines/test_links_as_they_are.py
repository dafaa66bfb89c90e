"""Links whose rate follows a trace, that are down at times, or whose jitter delays or reorders."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx
from tests.refused import refused

import forebay
from forebay.engines.simulation.runs import make_run
from forebay.report.tables import rate_lines
from forebay.scenario import Scenario, loads

UDP = """
link.rate = "12 Mbit/s"
queue.size = "1000 packets"
measure = { warmup = "4 s", duration = "8 s" }
traffic = [{ kind = "udp", flows = 1, rate = "8 Mbit/s", start = "0 s" }]
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
CORE = '[[links]]\nname = "core"\n'
STEPS = {
    "link.rate": None,
    "link.rate_trace": {"steps": [["0 s", "12 Mbit/s"], ["2 s", "6 Mbit/s"]]},
}
DOWN = {"link.down": [["5 s", "6 s"]], "traffic.0.rate": "6 Mbit/s"}
DROPS = DOWN | {"link.down": {"times": [["5 s", "6 s"]], "queue": "drop"}}
PERIODIC = {"link.down": {"times": [["0 s", "1 s"]], "period": "4 s"}}
FULL = {"traffic.0.rate": "24 Mbit/s", "queue.size": "50 packets"}
SHORT_WINDOW = {"measure.warmup": "5.2 s", "measure.duration": "0.6 s"}


def varying(changes: Mapping[str, Any]) -> Scenario:
    return loads(UDP).replace(changes)


def of_file(text: str, path: Path, more: Mapping[str, Any] | None = None) -> Scenario:
    path.write_text(text, encoding="utf-8")
    return varying({"link.rate": None, "link.rate_trace": str(path), **(more or {})})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # 500 packets come in 1 s, of which the first waits 1 s; at twice the rate they go in 1 s.
        (DOWN, {"queue": approx(500 / 8, rel=0.01), "p99_s": approx(1.0, abs=0.05),
                "used": approx(8 * 6 / (7 * 12), rel=0.005), "lost": 0.0}),
        (DROPS, {"lost": approx(1 / 8, abs=0.002), "used": approx(0.5, rel=0.005)}),
        (PERIODIC | FULL, {"used": approx(1, abs=1e-4), "bps": approx(9e6, rel=2e-3)}),
        (STEPS | FULL, {"used": approx(1, abs=1e-4), "bps": approx(9e6, rel=1e-3)}),
        # 8 Mbit/s into 6 for 2 s: 333 packets wait; 12 Mbit/s sends them in 1 s. Triangles: over
        # 4 s the mean is 333 (2 s + 1 s) / 2 / 4 s = 125. The packet that arrives at 3.5 s is the
        # last that leaves by 4 s: it waits longest, 0.5 s.
        (STEPS, {"queue": approx(125, abs=1), "p99_s": approx(0.5, abs=0.02),
                 "used": approx(8 / 9, abs=1e-3), "lost": 0.0}),
        # A window of the fast step alone: 8 of 12 Mbit/s, although the mean is 9.
        (STEPS | SHORT_WINDOW, {"used": approx(8 / 12, rel=0.01)}),
        (STEPS | FULL | {"link.rate_trace.repeat": False}, {"bps": approx(6e6, rel=1e-3)}),
    ],
)  # fmt: skip
def test_a_stream_of_datagrams_gets_what_the_link_lets_pass(changes, expected):
    outcome = forebay.run(varying(changes))
    link = outcome.links["bottleneck"]
    seen = {
        "queue": link.queue_packets.mean.value, "p99_s": link.queue_delay_s.p99.value,
        "used": link.utilization.value, "lost": link.loss_rate.value,
        "bps": outcome.classes[0].throughput_bps.value,
    }  # fmt: skip
    assert {name: seen[name] for name in expected} == expected


def test_capacity_is_the_mean_where_the_rate_repeats_and_the_rate_where_not():
    assert varying(DOWN).link.capacity == 12e6
    for changes in (PERIODIC, STEPS):
        scenario = varying(changes | {"queue.size": "10 ms"})
        assert scenario.link.capacity == approx(9e6)
        assert scenario.buffer_packets == 8  # 10 ms of 9 Mbit/s are 7.5 packets
    down = {"times": [["1 s", "1.5 s"], ["3 s", "4 s"]], "period": "4 s"}
    rates = varying({"link.down": down}).link.rates
    assert rates.mean == approx(12e6 * 5 / 8)
    assert rates.rates == ((0, 12e6), (1, 0), (1.5, 12e6), (3, 0))


def test_files_and_steps_say_the_same_and_are_written_and_read_back(tmp_path):
    numbers = of_file("time,rate\n0,12e6\n2,6e6\n", tmp_path / "a.csv")
    units = of_file("0 s,12 Mbit/s\n2000 ms,6 Mbit/s\n", tmp_path / "b.csv")
    traces = [each.link.rate_trace for each in (varying(STEPS), numbers, units)]
    assert len({(each.rates, each.length_s) for each in traces if each}) == 1
    assert numbers.sha256() == units.sha256()
    numbers.save(tmp_path / "saved.toml")
    again = forebay.load(tmp_path / "saved.toml")
    assert again == numbers and again.sha256() == numbers.sha256()
    assert "rate" not in numbers.to_dict()["link"]
    assert "rate_trace" in numbers._repr_html_()
    assert str(tmp_path / "a.csv") in numbers.files


def test_packets_of_a_mahimahi_trace_leave_at_its_lines(tmp_path):
    """1, 1, 3 and 4 ms: 24 Mbit/s, a pause of a millisecond, then 12 Mbit/s; 4 ms in all."""
    scenario = of_file("1\n1\n3\n4\n", tmp_path / "lte", {"traffic.0.rate": "40 Mbit/s"})
    trace = scenario.link.rate_trace
    assert trace.rates == ((0.0, 24e6), (0.001, 0.0), (0.002, 12e6))
    assert (trace.length_s, trace.mean) == (0.004, 12e6)
    assert trace.bits([0.001, 0.002, 0.004, 0.4]) == approx([24e3, 24e3, 48e3, 48e5])
    assert forebay.run(scenario).classes[0].throughput_bps.value == approx(12e6, rel=1e-3)
    half = trace.scaled(0.5)
    assert half.rates == ((0.0, 12e6), (0.001, 0.0), (0.002, 6e6))
    assert (half.length_s, half.mean, half.repeat) == (trace.length_s, trace.mean / 2, trace.repeat)


@pytest.mark.parametrize("classes", [1, 2])
def test_classes_of_small_packets_have_no_more_than_the_rate_lets_pass(classes):
    """267 us for each packet at 9 Mbit/s, in whole picoseconds 1.25e-9 longer than they are."""
    flood = {"kind": "udp", "flows": 1, "rate": "20 Mbit/s", "packet": "300 B", "start": "0 s"}
    trace = {"steps": [["0 s", "12 Mbit/s"], ["10 ms", "6 Mbit/s"]]}
    window = {"queue.size": "100 packets", "measure.warmup": "1 s", "measure.duration": "1 s"}
    fast = STEPS | {"link.rate_trace": trace, "traffic": classes * [flood]}
    outcome = forebay.run(varying(fast | window), seeds=2)
    total = sum(each.throughput_bps.value for each in outcome.classes)
    assert total == approx(9e6, rel=1e-9) and total <= 9e6 * (1 + 1e-12)
    assert all(each.goodput_bps.value <= each.throughput_bps.value for each in outcome.classes)
    assert outcome.links["bottleneck"].utilization.value <= 1.0


LONE = """
queue.size = "1000 packets"
measure = { warmup = "0 s", duration = "10 s" }
[[traffic]]
kind = "transfers"
rtt = "10 ms"
access_rate = "1 Gbit/s"
transfers = [
  { start = "0.1 s", size = "10 kB" }, { start = "2.9 s", size = "10 kB" },
  { start = "3 s", size = "10 kB" }, { start = "5.9995 s", size = "10 kB" },
]
"""
VARY = [
    'rate = "20 Mbit/s"\ndown = { times = [["0 s", "2 s"]], period = "4 s" }',
    'rate_trace = { steps = [["0 s", "100 Mbit/s"], ["2 s", "2 Mbit/s"]] }',
    'rate_trace = { steps = [["0 s", "100 Mbit/s"], ["2 s", "2 Mbit/s"]], repeat = false }',
]


@pytest.mark.parametrize("link", VARY)
@pytest.mark.parametrize("second", ["", f'{CORE}rate = "40 Mbit/s"\n'])
def test_the_ideal_time_of_a_lone_transfer_is_what_it_takes(link, second):
    """Within the first window, of 10 packets, nothing waits but for the link."""
    route = 'route = ["bottleneck", "core"]\n' if second else ""
    rows = forebay.run(loads(f"{LONE}{route}[link]\n{link}\n{second}")).flows()
    assert rows["slowdown"] == approx(np.ones(4), rel=1e-6)
    assert rows["slowdown"].min() >= 1 - 1e-9
    assert rows["ideal_s"][0] == approx(1.91 if "down" in link else 0.006, abs=5e-3)


@pytest.mark.parametrize(
    ("link", "mean", "window", "silent", "longest"),
    [
        ({"rate_trace": {"steps": [["0 s", "50 Mbit/s"], ["1 s", "5 Mbit/s"]], "repeat": False}},
         27.5e6, 5e6, 0.0, 0.0),
        ({"rate_trace": {"steps": [["0 s", "10 Mbit/s"], ["100 s", "100 Mbit/s"]],
                         "period": "1000 s"}}, 91e6, 10e6, 0.0, 0.0),
        ({"rate": "12 Mbit/s", "down": [["200 s", "201 s"]]}, 12e6, 12e6, 0.0, 0.0),
        ({"rate": "12 Mbit/s", "down": [["0 s", "20 s"]]}, 12e6, 0.0, 1.0, 11.0),
        ({"rate": "12 Mbit/s", "down": {"times": [["0 s", "1 s"]], "period": "2 s"}},
         6e6, 6e6, 0.5, 1.0),
    ],
)  # fmt: skip
def test_an_answer_has_the_mean_of_sizes_and_that_of_its_window(
    link, mean, window, silent, longest
):
    scenario = varying({"link": link, "measure.warmup": "1 s", "measure.duration": "10 s"})
    (found,) = forebay.run(scenario).rates.values()
    assert found.mean_bps == approx(mean) == float(scenario.link.capacity)
    assert found.window_bps == approx(window)
    assert (found.zero_share, found.longest_zero_s) == approx((silent, longest))
    (line,) = rate_lines({"bottleneck": found})
    assert "below 0" not in line
    assert ("utilization to the" in line) == (mean != window)


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("# drive\n1\n\n5\n4\n", "line 5: 4 ms is before the line above"),
        ("1\n2.5\n", 'line 2: "2.5" is not a whole number of milliseconds'),
        (f"1\n{'9' * 5000}\n", "line 2: "),
        ("time,rate\n0,1e6\n1,2e6,3\n", 'line 3: "1,2e6,3" is not a time and a rate'),
        ("0,1e6\n2,2e6\n2,1e6\n", "line 3: 2 s is not after the line above"),
        ("0,1e6\n1,-2e6\n", r"line 2: -2000000 bit/s is below 0"),
        ("0,1e6\n1,fast\n", 'line 2: "fast" is no'),
        ("0,1e6\nnan,1e6\n", "line 2: nan s is not after the line above"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path, content, wrong):
    with refused(wrong):
        of_file(content, tmp_path / "trace.csv")


@pytest.mark.parametrize(
    ("down", "said"),
    [
        ([["1 s", "1.000000001 s"]], "has times less than 1 us apart"),
        ([["1 s", "2 s"], ["2 s", "3 s"]], "has outages that touch, write one"),
        ([["1 s", "3 s"], ["2 s", "4 s"]], "has times that do not ascend"),
    ],
)
def test_times_that_cannot_be_are_refused_for_what_they_are(down, said):
    with refused(f"link.down.times: {said}", field="link.down.times"):
        varying({"link.down": down})


def test_flows_come_back_after_an_outage_and_a_second_link_has_its_own():
    text = f'{LONG}{CORE}rate = "30 Mbit/s"\ndown = [["10 s", "11 s"]]\n'
    changes = {"link.jitter": None, "traffic.0.route": ["bottleneck", "core"]}
    outcome = forebay.run(loads(text).replace(changes), seed=1)
    assert outcome.links["bottleneck"].utilization.value > 0.85
    assert outcome.classes[0].timeouts.value > 0


@pytest.mark.parametrize("route", [["bottleneck"], ["bottleneck", "core"], ["core", "bottleneck"]])
def test_cubic_learns_of_reordering_wherever_the_link_lies(route):
    text = f'{LONG}{CORE}rate = "1 Gbit/s"\n'
    outcome = forebay.run(loads(text).replace({"traffic.0.route": route}), seed=1)
    assert outcome.classes[0].goodput_bps.value > 0.95 * 20e6
    assert max(outcome.flows()["segments_retransmitted"]) < 20
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
    assert 0.004 < after.rtt_s.mean.value - before.rtt_s.mean.value < 0.008
    assert max(forebay.run(moved, seed=1).flows()["segments_retransmitted"]) == 0


def test_traffic_both_ways_crosses_jitter_both_ways():
    text = LONG + LONG[LONG.index("[[traffic]]") :]
    outcome = forebay.run(loads(text).replace({"traffic.1.direction": "reverse"}), seed=1)
    assert all(each.goodput_bps.value > 0.8 * 20e6 for each in outcome.classes)


def test_sizing_meets_a_goal_with_outages_and_jitter():
    down = {"times": [["0 s", "100 ms"]], "period": "5 s"}
    scenario = loads(LONG + "[goals]\nutilization = 0.9\n").replace(
        {"traffic.0.max_window": None, "link.down": down, "link.jitter": "2 ms"}
    )
    result = forebay.size(scenario, seeds=1)
    assert result.buffer is not None
    assert scenario.link.capacity == approx(19.6e6)
    assert all(law.broken_assumptions for law in result.laws)


def test_a_short_form_is_the_table(tmp_path):
    scenario = varying(DOWN | {"link.jitter": "5 ms"})
    same = {"link.jitter": {"most": "5 ms"}, "link.down": {"times": [["5 s", "6 s"]]}}
    assert scenario == varying(DOWN | same)
    scenario.save(tmp_path / "saved.toml")
    assert forebay.load(tmp_path / "saved.toml") == scenario


def test_the_delay_of_a_last_link_that_reorders_is_part_of_the_round_trip():
    make_run(loads(LONG).replace({"link.delay": "30 ms"}), 1)
    with refused("rtt") as error:
        loads(LONG).replace({"link.delay": "41 ms", "traffic.0.route": ["bottleneck"]})
    assert error.value.field == "traffic.0.rtt"


def test_a_capture_of_a_link_that_reorders_has_packets_as_they_leave_it(tmp_path):
    path, table = tmp_path / "packets.pcapng", tmp_path / "packets.csv"
    forebay.run(loads(LONG), seed=1, capture=path, packets=table)
    with table.open() as file:
        left = [row for row in csv.DictReader(file) if row["event"] == "dequeue"]
    first = [int(row["sequence"]) for row in left if row["flow"] == "0"]
    assert first != sorted(first)
    assert path.stat().st_size > 60 * len(left)
