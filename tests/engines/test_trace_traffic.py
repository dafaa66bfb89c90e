"""Traces of traffic other than long flows."""

import numpy as np
import pytest

import forebay
from forebay.scenario import loads

MIXED = """
link.rate = "20 Mbit/s"
queue = { discipline = "red", size = "60 packets", ecn = true }
measure = { warmup = "2 s", duration = "4 s" }
[[traffic]]
flows = 6
ecn = true
rtt = { uniform = ["20 ms", "40 ms"] }
[[traffic]]
kind = "udp"
flows = 2
rate = "2 Mbit/s"
[[traffic]]
kind = "session"
flows = 4
rtt = "30 ms"
file = { pareto = { mean = "60 kB", shape = 1.2 } }
think = "100 ms"
"""


def test_flows_without_a_window_are_idle_and_users_restart():
    scenario = loads(MIXED)
    trace = forebay.trace(scenario, step="5 ms", flows=(0, 6, 8))
    link = trace.bottleneck
    assert not trace.flows[6].state.any() and not trace.flows[6].cwnd_packets.any()
    assert trace.window_mean_packets[[6, 7]].tolist() == [0.0, 0.0]
    assert np.isnan(trace.flows[6].srtt_s).all()
    assert link.marks[0] > 0 and link.marks[1] == 0, "only class 0 speaks ECN"
    assert (trace.reductions.count > 0).all()
    assert link.busy.total_s + link.idle.total_s == pytest.approx(4.0)
    outcome = forebay.run(scenario)
    assert outcome.classes[1].retransmissions is None
    marks = outcome.links["bottleneck"].marks
    assert marks.value == pytest.approx(link.marks.sum())
