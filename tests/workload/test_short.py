"""Short flows: a Poisson process of flows, their lengths, and what changes neither."""

import time

import numpy as np
import pytest

from forebay.scenario import Scenario, loads, tcp
from forebay.workload import Workload, draw

TEXT = """
queue.size = "100 packets"
link.rate = "80 Mbit/s"
measure = { warmup = "0 s", duration = "200 s" }
[[traffic]]
kind = "short"
load = 0.8
length = "14 packets"
rtt = { uniform = ["80 ms", "120 ms"] }
"""
SNAPSHOT = {
    "start_ps": [22765939284, 31535299233, 45828585850],
    "segments": [38, 23, 20, 15, 66, 34],
}


def scenario(*sets: str, text: str = TEXT) -> Scenario:
    return loads(text, overrides=sets)


def alike(one: Workload, other: Workload, n: int) -> bool:
    names = ("start_ps", "segments", "rtt_ps", "congestion_control")
    return all((getattr(one, k)[:n] == getattr(other, k)[:n]).all() for k in names)


def test_arrivals_are_a_poisson_process():
    """Counts of 380.95 flows a second: mean and variance alike; gaps without memory."""
    start = draw(scenario(), 1).start_ps / 1e12
    rate = 0.8 * 80e6 / (14 * 12_000)
    counts = np.bincount(start.astype(int), minlength=200)
    assert counts.mean() == pytest.approx(rate, abs=4 * (rate / 200) ** 0.5)
    assert counts.var(ddof=1) / counts.mean() == pytest.approx(1.0, abs=4 * (2 / 199) ** 0.5)
    gaps = np.diff(start) * rate
    assert gaps.std() == pytest.approx(1.0, abs=0.02)
    assert (gaps > 3).mean() == pytest.approx(np.exp(-3), abs=0.004)
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 4 / len(gaps) ** 0.5
    assert (np.diff(start) >= 0).all()
    assert start.min() >= 0 and start.max() < 200


def test_the_load_is_what_was_asked_for():
    pareto = 'traffic.0.length={pareto={mean="40 packets",shape=1.5,high="2000 packets"}}'
    for sets in ((), (pareto,), ('traffic.0.length={geometric="5 packets"}',)):
        drawn = draw(scenario(*sets), 3)
        load = drawn.segments.sum() * 12_000 / 200 / 80e6
        assert load == pytest.approx(0.8, rel=0.04)


def test_a_heavy_tail_is_heavy():
    """P(N > n) falls as n^-1.2: a tenth of the packets at most in flows shorter than the mean."""
    text = 'traffic.0.length={pareto={mean="40 packets",shape=1.2,high="1000000 packets"}}'
    drawn = draw(scenario("link.rate=10 Gbit/s", text), 1).segments
    tail = [(drawn > n).mean() for n in (100, 1000)]
    assert np.log10(tail[0] / tail[1]) == pytest.approx(1.2, abs=0.1)
    assert drawn.max() > 10_000


def test_a_longer_run_adds_flows_and_changes_none():
    one, longer = draw(scenario(), 5), draw(scenario("measure.duration=400 s"), 5)
    assert len(longer) > 1.8 * len(one)
    assert alike(one, longer, len(one))


def test_buffer_and_other_classes_change_nothing():
    one = draw(scenario(), 5)
    assert alike(one, draw(scenario("queue.size=7 packets"), 5), len(one))
    more = TEXT + '[[traffic]]\nkind = "udp"\nrate = "1 Mbit/s"\nflows = 3\n'
    both = draw(scenario(text=more), 5)
    assert alike(one, both, len(one))
    assert len(both) == len(one) + 3


def test_another_load_keeps_ranks_and_lengths():
    """Common random numbers: the k-th flow is the same, only sooner."""
    pareto = 'traffic.0.length={pareto={mean="40 packets",shape=1.5,high="2000 packets"}}'
    one, more = draw(scenario(pareto), 5), draw(scenario(pareto, "traffic.0.load=0.9"), 5)
    np.testing.assert_array_equal(one.segments, more.segments[: len(one)])
    sooner = more.start_ps[: len(one)] / one.start_ps
    np.testing.assert_allclose(sooner, 0.8 / 0.9, rtol=1e-6)


def test_lengths_arrivals_and_delays_are_independent():
    drawn = draw(scenario('traffic.0.length={geometric="9 packets"}'), 1)
    columns = np.array([np.diff(drawn.start_ps), drawn.segments[1:], drawn.rtt_ps[1:]])
    off_diagonal = np.corrcoef(columns)[np.triu_indices(3, 1)]
    assert np.abs(off_diagonal).max() < 4 / columns.shape[1] ** 0.5


def test_shares_are_drawn_flow_by_flow(monkeypatch):
    names = ("reno", "cubic")
    monkeypatch.setattr("forebay.workload.drawing.CONGESTION_CONTROLS", names)
    monkeypatch.setattr(tcp, "CONGESTION_CONTROLS", names)
    drawn = draw(scenario("traffic.0.congestion_control={cubic=0.25, reno=0.75}"), 1)
    assert drawn.congestion_control.mean() == pytest.approx(0.25, abs=0.01)


def test_few_or_no_flows():
    rare = scenario("traffic.0.load=1e-6", "measure.duration=1 ms")
    assert len(draw(rare, 1)) == 0


def test_a_million_flows_in_a_second():
    text = 'traffic.0.length={pareto={mean="40 packets",shape=1.2,high="10000 packets"}}'
    asked = scenario("link.rate=2 Gbit/s", text)
    asked = asked.model_copy(
        update={"traffic": (asked.traffic[0].model_copy(update={"load": 1.2}),)}
    )
    draw(scenario(), 1)
    began = time.process_time()
    drawn = draw(asked, 1)
    assert len(drawn) > 900_000
    assert time.process_time() - began < 3  # 0.3 s on an idle machine


def test_snapshot():
    """The same flows for ever; within what the law allows."""
    text = 'traffic.0.length={pareto={mean="40 packets",shape=1.5,high="2000 packets"}}'
    drawn = draw(scenario(text), 1)
    assert drawn.start_ps[:3].tolist() == SNAPSHOT["start_ps"]
    assert drawn.segments[:6].tolist() == SNAPSHOT["segments"]
    assert all(1 <= n <= 2000 for n in SNAPSHOT["segments"])
    assert SNAPSHOT["start_ps"] == sorted(SNAPSHOT["start_ps"])
