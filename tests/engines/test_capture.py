"""The simulator's captures agree with the outcome."""

import struct

import pytest

import forebay
from forebay import measure
from forebay.scenario import loads

LINK = """
link.rate = "10 Mbit/s"
queue.size = "20 packets"
measure = { warmup = "1 s", duration = "4 s" }
"""
START = 'start = { uniform = ["0 s", "0.5 s"] }\n'
LONG = '[[traffic]]\nflows = 5\nrtt = { uniform = ["30 ms", "60 ms"] }\n' + START
SHORT = '[[traffic]]\nkind = "short"\nload = 0.3\nrtt = "30 ms"\nlength = "12 packets"\n'
UDP = '[[traffic]]\nkind = "udp"\nflows = 1\nload = 0.2\n'


def captured(tmp_path, text, **overrides):
    scenario, path = loads(text, **overrides), tmp_path / "link.pcapng"
    outcome = forebay.run(scenario, capture=path)
    return scenario, outcome, path


@pytest.mark.parametrize("queue", ["drop-tail", "fq_codel", "red"])
def test_a_capture_changes_nothing_and_has_all_that_left(tmp_path, queue):
    text = LINK.replace("measure", f'queue.discipline = "{queue}"\nmeasure') + LONG + SHORT + UDP
    scenario, outcome, path = captured(tmp_path, text)
    plain = forebay.run(scenario)
    assert plain.links == outcome.links and plain.classes == outcome.classes
    told = measure.capture([path], rate="10 Mbit/s", interface="bottleneck").estimates
    used = outcome.links["bottleneck"].utilization.value
    # Headers of handshakes are in the capture and take no capacity.
    assert told["load"].value == pytest.approx(used, abs=0.01)
    udp = outcome.classes[2].throughput_bps.value / outcome.links["bottleneck"].capacity_bps / used
    assert told["unresponsive_share"].value == pytest.approx(udp, rel=0.03)


def test_timestamps_and_acks_say_the_round_trips_that_senders_measure(tmp_path):
    _, outcome, path = captured(tmp_path, LINK + LONG)
    told = measure.capture([path], rate="10 Mbit/s", interface="bottleneck").estimates
    truth = outcome.classes[0].rtt_s
    assert told["rtt_s"]["mean"]["value"] == pytest.approx(truth.mean.value, rel=0.03)
    assert told["tuples"].value == 5


@pytest.mark.parametrize("kind", ["", "traffic.0.jitter=5 ms", "traffic.0.ecn=true"])
def test_the_same_seed_writes_the_same_bytes(tmp_path, kind):
    overrides = [kind] if kind else []
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.mkdir()
        captured(path, LINK + LONG, overrides=overrides)
    one, two = ((path / "link.pcapng").read_bytes() for path in paths)
    assert one == two and len(one) > 50_000


def test_a_session_has_a_port_for_each_of_its_connections(tmp_path):
    users = '[[traffic]]\nkind = "session"\nflows = 2\nthink = "200 ms"\nfile = "9 packets"\n'
    _, _, path = captured(tmp_path, LINK + users + 'rtt = "30 ms"\nstart = "0.1 s"\n')
    told = measure.capture([path], rate="10 Mbit/s", interface="bottleneck").estimates
    assert told["tuples"].value > 10
    assert told["handshake_rtt_s"]["p50"]["value"] == pytest.approx(0.030, abs=0.003)


def test_routes_over_several_queues_have_an_interface_for_each_link(tmp_path):
    text = LINK + LONG + 'access_rate = "50 Mbit/s"\naccess_sharing = 5\n'
    scenario, outcome, path = captured(tmp_path, text)
    assert forebay.run(scenario).links == outcome.links
    told = measure.capture([path], rate="10 Mbit/s", interface="bottleneck").estimates
    used = outcome.links["bottleneck"].utilization.value
    assert told["load"].value == pytest.approx(used, abs=0.01)
    assert told["tuples"].value == 5


def headers(path):
    """ECN field and TCP flags of each packet; 28 bytes of its block are before the headers."""
    data, at = path.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            ip = at + 28
            yield data[ip + 1] & 3, data[ip + 33]
        at += length


@pytest.mark.parametrize("links", ["", 'access_rate = "50 Mbit/s"\naccess_sharing = 5\n'])
@pytest.mark.parametrize("queue", ["red", "codel"])
def test_marks_stand_in_the_headers(tmp_path, links, queue):
    """RFC 3168: data is ECT(0) or CE, ACKs echo by ECE until a segment has CWR."""
    text = (
        LINK.replace("measure", f'queue.discipline = "{queue}"\nqueue.ecn = true\nmeasure')
        + LONG
        + "ecn = true\n"
    )
    _, outcome, path = captured(tmp_path, text + links)
    found = list(headers(path))
    marks = outcome.links["bottleneck"].marks.value
    assert marks > 10
    assert sum(ecn == 3 for ecn, _ in found) == pytest.approx(marks, abs=2)
    assert {ecn for ecn, _ in found if ecn} == {2, 3}
    # A reduction takes a round trip, in which several segments may be marked.
    assert sum(flags & 0x80 > 0 for _, flags in found) <= marks + 5
    if not links:  # else ACKs cross no link that is captured
        assert sum(flags & 0x40 > 0 for _, flags in found) >= marks
