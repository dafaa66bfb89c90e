"""A trace: conservation, agreement with the Outcome, determinism, and what it refuses."""

import numpy as np
import pytest
from tests.engines.test_simulation import scenario

import forebay
from forebay.outcome.trace import STATES, Trace
from forebay.scenario import ScenarioError, loads

LOCKSTEP = (
    "traffic.0.rtt=30 ms", "traffic.0.start=0 s", "traffic.0.sender=ns2", "traffic.0.flows=2",
    "queue.size=1 bdp", "measure.warmup=20 s", "measure.duration=60 s",
)  # fmt: skip


@pytest.fixture(scope="module")
def trace() -> Trace:
    return forebay.trace(scenario(), step="5 ms", flows=(3, 0))


def test_its_shapes_and_sums(trace):
    assert trace.at_s.shape == (800,)
    assert trace.at_s[[0, -1]] == pytest.approx([2.0, 5.995])
    assert list(trace.flows) == [3, 0]
    for flow in trace.flows.values():
        assert flow.cwnd_packets.shape == flow.srtt_s.shape == flow.state.shape == (800,)
    assert trace.window_variance.shape == trace.window_mean_packets.shape == (12,)
    assert trace.bottleneck.queue_packets.shape == trace.in_avoidance.shape == (800,)
    link = trace.bottleneck
    assert link.queue_s.sum() == pytest.approx(4.0, abs=1e-9)
    assert link.busy.total_s + link.idle.total_s == pytest.approx(4.0, abs=1e-9)
    assert abs(link.busy.number - link.idle.number) <= 1
    assert link.seen.sum() == link.arrivals.sum()
    # Packets accepted and not yet sent at the window's ends make the small difference.
    assert link.delay.counts.sum() == (link.arrivals - link.drops).sum()
    assert link.marks.sum() == 0


def test_it_agrees_with_the_outcome_of_the_same_seed_and_with_its_moments(trace):
    outcome = forebay.run(scenario())
    link, read = outcome.links["bottleneck"], trace.bottleneck
    assert read.utilization == pytest.approx(link.utilization.value)
    assert read.drops.sum() / read.arrivals.sum() == pytest.approx(link.loss_rate.value)
    assert read.queue_mean_packets == pytest.approx(link.queue_packets.mean.value)
    assert link.marks.value == 0.0
    sent_again, timeouts = outcome.classes[0].retransmissions, outcome.classes[0].timeouts
    assert sent_again.value >= timeouts.value and sent_again.value >= read.drops.sum() * 0.9
    for number, flow in trace.flows.items():
        assert trace.window_mean_packets[number] == pytest.approx(flow.cwnd_packets.mean())
        assert trace.window_variance[number] == pytest.approx(flow.cwnd_packets.var())
        assert set(flow.state) <= set(range(1, len(STATES))), "long flows are never idle"
        assert (flow.srtt_s > 0.02).all()
    assert trace.window_mean_packets.sum() == pytest.approx(trace.window_sum_packets.mean())


def test_two_flows_that_overflow_the_queue_together_are_nearly_in_lockstep():
    """Index 2 is lockstep: their windows correlate by more than 0.6."""
    found = forebay.trace(scenario(*LOCKSTEP), step="10 ms").synchronization
    assert 1.6 < found.index <= 2.0
    assert found.congestion_events > 3
    assert found.reduced_fraction > 0.9


def test_the_same_seed_gives_the_same_trace_with_any_step(trace):
    again = forebay.trace(scenario(), step="5 ms", flows=(3, 0))
    other = forebay.trace(scenario(), step="5 ms", flows=(3, 0), seed=2)
    assert np.array_equal(trace.window_sum_packets, again.window_sum_packets)
    assert np.array_equal(trace.reductions.flow, again.reductions.flow)
    assert trace.to_dict() == again.to_dict()
    assert not np.array_equal(trace.window_sum_packets, other.window_sum_packets)
    fine = forebay.trace(scenario(), step="1 ms", flows=())
    assert np.array_equal(fine.bottleneck.seen, trace.bottleneck.seen)
    assert np.array_equal(fine.window_sum_packets[::5], trace.window_sum_packets)
    assert fine.drops.count.sum() == pytest.approx(trace.drops.count.sum(), abs=5)


def test_a_failed_write_leaves_what_was_there(trace, tmp_path, monkeypatch):
    place = tmp_path / "a.npz"
    place.write_text("before")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        trace.to_npz(place)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    assert place.read_text() == "before"


@pytest.mark.parametrize(
    ("step", "flows", "says"),
    [
        ("0 s", (0,), "step: a sample every 0 s"),
        ("5 s", (0,), "step: a sample every 5 s of 4 s"),
        ("10", (0,), 'step: "10" has no unit'),
        ("1 MB", (0,), "not a time"),
        ("10 ms", (12,), "flows: flow 12"),
        ("10 ms", (-1,), "flows: -1; write a whole number"),
        ("10 ms", (1, 1), "flows: flow 1"),
    ],
)
def test_bad_input_is_refused(step, flows, says):
    with pytest.raises(ScenarioError, match=says):
        forebay.trace(scenario(), step=step, flows=flows)


def test_histograms_reach_to_the_buffer_however_full_the_queue_was():
    """Seeds are averaged bin by bin: every trace of a scenario has as many."""
    alone = 'traffic.0={kind="udp", flows=1, rate="1 Mbit/s", start="0 s"}'
    link = forebay.trace(scenario("queue.size=50 packets", alone), flows=()).bottleneck
    assert link.queue_s.shape == link.seen.shape == (51,)


MIXED = """
link.rate = "20 Mbit/s"
queue = { discipline = "red", size = "60 packets", ecn = true }
measure = { warmup = "2 s", duration = "4 s" }
traffic = [
    { flows = 6, ecn = true, rtt = { uniform = ["20 ms", "40 ms"] } },
    { kind = "udp", flows = 2, rate = "2 Mbit/s" },
    { kind = "session", flows = 4, rtt = "30 ms", think = "100 ms", file = "60 kB" },
]
"""


def test_flows_without_a_window_are_idle_and_users_restart():
    mixed = loads(MIXED)
    trace = forebay.trace(mixed, step="5 ms", flows=(0, 6, 8))
    link = trace.bottleneck
    assert not trace.flows[6].state.any() and not trace.flows[6].cwnd_packets.any()
    assert trace.window_mean_packets[[6, 7]].tolist() == [0.0, 0.0]
    assert np.isnan(trace.flows[6].srtt_s).all()
    assert link.marks[0] > 0 and link.marks[1] == 0, "only class 0 speaks ECN"
    assert (trace.reductions.count > 0).all()
    assert link.busy.total_s + link.idle.total_s == pytest.approx(4.0)
    outcome = forebay.run(mixed)
    assert outcome.classes[1].retransmissions is None
    marks = outcome.links["bottleneck"].marks
    assert marks.value == pytest.approx(link.marks.sum())
