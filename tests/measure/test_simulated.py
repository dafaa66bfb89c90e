"""Captures of the simulator, whose outcome is known, in the bands of ``test_truth.py``."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.cases import cases

import forebay
from forebay import measure
from forebay.scenario import loads

LONG = """
[[traffic]]
kind = "long"
flows = {flows}
rtt = {{ uniform = ["{low} ms", "{high} ms"] }}
congestion_control = {control}
start = {{ uniform = ["0 s", "2 s"] }}
"""
UDP = """
[[traffic]]
kind = "udp"
flows = 1
load = 0.1
arrivals = "poisson"
"""
SHORT = """
[[traffic]]
kind = "short"
load = 0.15
rtt = { uniform = ["40 ms", "80 ms"] }
length = { geometric = "20 packets" }
"""
BOTH = "{ cubic = 0.5, bbr = 0.5 }"
LINKS = {
    "a few": ("30 Mbit/s", 120, 40, LONG.format(flows=8, low=30, high=90, control='"reno"')),
    "many": (
        "80 Mbit/s",
        300,
        20,
        LONG.format(flows=120, low=30, high=150, control='"cubic"') + UDP,
    ),
    "mixed": ("60 Mbit/s", 700, 20, LONG.format(flows=24, low=20, high=80, control=BOTH)),
    "short": (
        "50 Mbit/s",
        150,
        20,
        LONG.format(flows=40, low=40, high=80, control='"cubic"') + SHORT,
    ),
}


@pytest.mark.parametrize("name", cases(LINKS, ("a few", "short").__contains__))
def test_estimates_are_the_outcome(tmp_path, name):
    rate, buffer, seconds, traffic = LINKS[name]
    link = f'link.rate = "{rate}"\nqueue.size = "{buffer} packets"\n'
    window = f'measure = {{ warmup = "8 s", duration = "{seconds} s" }}\n'
    path, errors = tmp_path / "link.pcapng", []
    for seed in (7, 8, 9):
        outcome = forebay.run(loads(link + window + traffic), seed=seed, capture=path)
        told = measure.capture([path], rate=rate, interface="bottleneck").estimates
        flows = outcome.classes[0].flows
        assert told["long_flows"].value == pytest.approx(flows, rel=0.1)
        lost = outcome.links["bottleneck"].loss_rate.value
        assert told["loss_rate"].value == pytest.approx(lost, rel=0.1)
        if name != "short":  # whose round trips are of two classes
            errors.append(told["rtt_s"]["p50"]["value"] / outcome.classes[0].rtt_s.p50.value - 1)
    assert not errors or abs(sum(errors) / len(errors)) <= 0.02


def forward(path: Path) -> Path:
    """Return a copy of a capture without the blocks of ACKs, which are of interface 1."""
    data, kept, at = path.read_bytes(), [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind != 6 or struct.unpack_from("<I", data, at + 8) == (0,):
            kept.append(data[at : at + length])
        at += length
    copy = path.with_suffix(".forward.pcapng")
    copy.write_bytes(b"".join(kept))
    return copy


@pytest.mark.parametrize("delayed", ["true", "false"])
def test_data_alone_tells_the_round_trip_with_the_wait_of_delayed_acks(tmp_path, delayed):
    link = 'link.rate = "40 Mbit/s"\nqueue.size = "150 packets"\n'
    window = 'measure = { warmup = "0 s", duration = "25 s" }\n'
    traffic = LONG.format(flows=8, low=30, high=90, control='"cubic"')
    path = tmp_path / "link.pcapng"
    scenario = loads(
        link + window + traffic,
        overrides=[f"traffic.0.delayed_ack={delayed}", "traffic.0.offload=off"],
    )
    outcome = forebay.run(scenario, seed=7, capture=path)
    told = measure.capture([forward(path)], rate="40 Mbit/s", interface="bottleneck").estimates
    median = outcome.classes[0].rtt_s.p50.value
    assert told["rtt_s"]["p50"]["value"] == pytest.approx(median, rel=0.02)


TWELVE = [
    ("40 Mbit/s", 150, 8, 30, 90, "cubic"), ("20 Mbit/s", 60, 4, 20, 60, "reno"),
    ("100 Mbit/s", 200, 60, 40, 120, "cubic"), ("50 Mbit/s", 60, 60, 30, 90, "reno"),
    ("10 Mbit/s", 40, 3, 50, 100, "cubic"), ("80 Mbit/s", 700, 40, 10, 40, "cubic"),
    ("60 Mbit/s", 100, 20, 80, 160, "cubic"), ("30 Mbit/s", 30, 12, 20, 80, "reno"),
    ("120 Mbit/s", 100, 100, 20, 100, "cubic"), ("25 Mbit/s", 400, 6, 30, 31, "cubic"),
    ("40 Mbit/s", 300, 37, 40, 90, "bbr"), ("15 Mbit/s", 20, 20, 60, 140, "reno"),
]  # fmt: skip
QUICK = [TWELVE[0], TWELVE[4], TWELVE[10]]


@pytest.mark.parametrize("delayed", ["true", "false"])
@pytest.mark.parametrize(
    "link", cases(TWELVE, QUICK.__contains__), ids=lambda link: f"{link[0]}, {link[2]} {link[5]}"
)
def test_the_interval_of_data_alone_holds_the_senders_own(tmp_path, link, delayed):
    rate, buffer, flows, low, high, control = link
    text = f'link.rate = "{rate}"\nqueue.size = "{buffer} packets"\n'
    text += 'measure = { warmup = "0 s", duration = "15 s" }\n'
    text += LONG.format(flows=flows, low=low, high=high, control=f'"{control}"')
    path = tmp_path / "link.pcapng"
    scenario = loads(text, overrides=[f"traffic.0.delayed_ack={delayed}"])
    own = forebay.run(scenario, seed=5, capture=path).classes[0].rtt_s
    told = measure.capture([forward(path)], rate=rate, interface="bottleneck").estimates["rtt_s"]
    for name in ("mean", "p50", "p95"):
        true = getattr(own, name).value
        assert told[name]["low"] <= true <= told[name]["high"], name
    if (rate, flows, delayed) == ("40 Mbit/s", 8, "false"):
        pytest.xfail("half the segments have round trips of 77 to 86 ms, half of 31 to 52 ms")
    assert told["p50"]["value"] == pytest.approx(own.p50.value, rel=0.03)


@pytest.mark.parametrize(("flows", "buffer", "control"), [(8, 10, "reno"), (12, 30, "cubic")])
def test_a_measured_link_simulated_again_is_the_link_that_was_captured(
    tmp_path, flows, buffer, control
):
    """Utilization and the mean queue, in shares of the buffer, within three points."""
    link = f'link.rate = "20 Mbit/s"\nqueue.size = "{buffer} packets"\n'
    window = 'measure = { warmup = "10 s", duration = "40 s" }\n'
    traffic = LONG.format(flows=flows, low=60, high=120, control=f'"{control}"')
    path = tmp_path / "link.pcapng"
    was = forebay.run(loads(link + window + traffic), seed=11, capture=path)
    measured = measure.capture(
        [path], rate="20 Mbit/s", interface="bottleneck", buffer=f"{buffer} packets"
    )
    back = forebay.run(loads(measured.scenario_toml()), seeds=5)
    links = [outcome.links["bottleneck"] for outcome in (was, back)]
    used = [link.utilization.value for link in links]
    queues = [link.queue_packets.mean.value / buffer for link in links]
    assert used[1] == pytest.approx(used[0], abs=0.03)
    assert queues[1] == pytest.approx(queues[0], abs=0.03)


def test_short_flows_that_recover_from_a_loss_are_left_out_of_the_low_end(tmp_path):
    single = 'offload = "off"\n'
    brief = SHORT.replace("0.15", "0.4").replace("20 packets", "60 packets") + single
    link = 'link.rate = "20 Mbit/s"\nqueue.size = "40 packets"\n'
    window = 'measure = { warmup = "6 s", duration = "12 s" }\n'
    traffic = LONG.format(flows=8, low=30, high=90, control='"reno"') + single + brief
    path = tmp_path / "link.pcapng"
    forebay.run(loads(link + window + traffic), seed=3, capture=path)
    n = measure.capture([path], rate="20 Mbit/s", interface="bottleneck").estimates["long_flows"]
    assert n.value > 8
    assert n.low <= 8 <= n.high
    assert "short flows that recover from a loss" in n.bias


@pytest.fixture(scope="module")
def brief(tmp_path_factory):
    """Flows of twenty packets each, three fifths of a link."""
    traffic = SHORT.replace("0.15", "0.6").replace('{ geometric = "20 packets" }', '"20 packets"')
    link = 'link.rate = "50 Mbit/s"\nqueue.size = "300 packets"\n'
    path = tmp_path_factory.mktemp("brief") / "link.pcapng"
    window = 'measure = { warmup = "2 s", duration = "8 s" }\n'
    forebay.run(loads(link + window + traffic), seed=3, capture=path)
    return measure.capture(path, rate="50 Mbit/s", interface="bottleneck")


def test_flows_of_one_length_have_no_tail(brief):
    assert "flow_tail" not in brief.estimates
    assert ("flow_tail", "all the longest flows have one length") in [
        (one.name, one.why) for one in brief.refused
    ]
    json.dumps(brief.to_dict(), allow_nan=False)


def test_a_scenario_without_long_flows_has_no_goal_that_no_buffer_reaches(brief):
    made = brief.scenario()
    assert made.goals.utilization is None
    length: Any = made.traffic[0].length
    assert length.mean_packets(1500) == pytest.approx(20, abs=0.5), "without the handshake"
    assert any("no goal: without long flows" in note for note in brief.notes)


SMALL = """
[[traffic]]
kind = "udp"
flows = 20
rate = "100 kbit/s"
packet = "200 B"
start = "0 s"
"""


def test_limited_flows_are_uncertain_and_datagrams_keep_their_size(tmp_path):
    limited = LONG.format(flows=6, low=30, high=60, control='"reno"') + "max_window = 20\n"
    link = 'link.rate = "50 Mbit/s"\nqueue.size = "100 packets"\n'
    window = 'measure = { warmup = "4 s", duration = "6 s" }\n'
    path = tmp_path / "link.pcapng"
    forebay.run(loads(link + window + limited + SMALL), seed=3, capture=path)
    told = measure.capture(path, rate="50 Mbit/s", interface="bottleneck")
    long, udp = told.scenario().traffic
    flows: Any = long.flows
    assert (flows.low, flows.high) == (1, 6), "none lost a packet"
    assert udp.packet == 200
    assert any("hosts may limit them" in note for note in told.notes)
    assert told.scenario().goals.utilization == 0.98
    framed = measure.capture(path, rate="50 Mbit/s", interface="bottleneck", overhead=38)
    assert [one.packet for one in framed.scenario().traffic] == [1538, 238]


def test_a_full_link_without_losses_may_have_marks(tmp_path):
    flows = LONG.format(flows=4, low=10, high=20, control='"dctcp"')
    link = 'link.rate = "50 Mbit/s"\nqueue = { discipline = "red", ecn = true, min = "30 kB", '
    step = 'max = "30001 B", probability = 1.0, weight = 1.0, size = "500 packets" }\n'
    window = 'measure = { warmup = "3 s", duration = "4 s" }\n'
    path = tmp_path / "link.pcapng"
    ran = forebay.run(loads(link + step + window + flows), seed=3, capture=path)
    told = measure.capture(path, rate="50 Mbit/s", interface="bottleneck")
    assert told.estimates["load"].value > 0.95
    share: Any = told.estimates["marked_share"]
    marks: Any = ran.links["bottleneck"].marks
    assert share.value * share.n == pytest.approx(marks.value, rel=0.02)
    said = f"may respond to ECN marks (marked_share is {share.value:.1%})"
    assert any(said in note for note in told.notes)


def test_links_in_a_row_that_see_the_same_packets_are_told_apart(tmp_path):
    first = LONG.format(flows=6, low=30, high=60, control='"reno"')
    link = 'link = { rate = "20 Mbit/s", delay = "2 ms" }\nqueue.size = "60 packets"\n'
    window = 'measure = { warmup = "4 s", duration = "5 s" }\n'
    second = '[[links]]\nname = "second"\nrate = "15 Mbit/s"\nqueue.size = "40 packets"\n'
    route = 'route = ["bottleneck", "second"]\n'
    path = tmp_path / "links.pcapng"
    ran = forebay.run(loads(link + window + second + first + route), seed=3, capture=path)
    for name, rate, used in (("bottleneck", "20 Mbit/s", 0.75), ("second", "15 Mbit/s", 1.0)):
        told = measure.capture(path, rate=rate, interface=name)
        assert told.estimates["load"].value == pytest.approx(used, abs=0.03)
        lost: Any = ran.links[name].loss_rate
        assert told.estimates["loss_rate"].value == pytest.approx(lost.value, rel=0.1)
        flows = told.estimates["long_flows"]
        assert flows.low <= 6 <= flows.high


TAILS = """
[[traffic]]
kind = "short"
length = "3 packets"
load = 0.9
congestion_control = "reno"
rtt = "30 ms"
"""


def test_a_wait_for_a_timeout_is_no_round_trip(tmp_path):
    """Files of three packets lose their last ones, and wait for a timeout of a second."""
    link = 'link.rate = "20 Mbit/s"\nqueue.size = "3 packets"\n'
    window = 'measure = { warmup = "1 s", duration = "8 s" }\n'
    path = tmp_path / "tails.pcapng"
    forebay.run(loads(link + window + TAILS), seed=3, capture=path)
    told = measure.capture(path, rate="20 Mbit/s", interface="bottleneck")
    for name in ("handshake_rtt_s", "rtt_s"):
        assert told.estimates[name]["p95"]["value"] < 0.05


def test_both_copies_of_a_segment_that_waited_together_are_segments(tmp_path):
    """Codel holds what it has: after a timeout of a second the first copies still wait there."""
    flows = '[[traffic]]\nflows = 10\ncongestion_control = "reno"\nrtt = "20 ms"\nstart = "0 s"\n'
    link = 'link.rate = "100 kbit/s"\nqueue = { discipline = "codel", target = "8 s", '
    window = 'interval = "20 s", size = "1000 packets" }\nmeasure = { warmup = "0 s", '
    path = tmp_path / "copies.pcapng"
    forebay.run(loads(link + window + 'duration = "40 s" }\n' + flows), seed=1, capture=path)
    told = measure.capture(path, rate="100 kbit/s", interface="bottleneck")
    assert told.estimates["unresponsive_share"].value == 0
