"""The profile `linux` against the kernel where a queue marks: the same flows, run by run."""

import tomllib
from pathlib import Path

import pytest

import forebay
from forebay.scenario import loads

CELLS = tomllib.loads((Path(__file__).parent / "marks.toml").read_text())["cell"]

# Set after a look at both sides, with a little air: they keep what was reached, no more.
UTILIZATION_POINTS = 2.0
QUEUE_SHARE = 0.15
MARKS_SHARE = 0.2

STEP = """
link.rate = "30 Mbit/s"
queue = {{ discipline = "red", size = "200 packets", ecn = true, weight = 1.0, probability = 1.0, \
min = "{threshold} B", max = "{beyond} B" }}
measure = {{ warmup = "5 s", duration = "20 s" }}
[[traffic]]
flows = {flows}
congestion_control = "{control}"
ecn = true
rtt = {{ uniform = ["20 ms", "40 ms"] }}
start = {{ uniform = ["0 s", "500 ms"] }}
"""


@pytest.mark.parametrize("cell", CELLS, ids=lambda c: f"{c['control']}-{c['flows']}-{c['seed']}")
def test_windows_yield_to_marks_as_the_kernel_s_do(cell):
    asked = loads(STEP.format(beyond=cell["threshold"] + 1, **cell))
    outcome = forebay.run(asked, seed=cell["seed"], seeds=1)
    link, (flows,) = outcome.links["bottleneck"], outcome.classes
    told = (100 * link.utilization.value, link.queue_packets.mean.value, link.marks.value)
    print(cell, told)
    assert flows.retransmissions.value == 0
    assert told[0] == pytest.approx(cell["utilization_percent"], abs=UTILIZATION_POINTS)
    assert told[1] == pytest.approx(cell["queue_packets"], rel=QUEUE_SHARE)
    assert told[2] == pytest.approx(cell["marks"], rel=MARKS_SHARE)
