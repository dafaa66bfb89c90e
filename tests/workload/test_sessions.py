"""Users: enough files and think times for any engine, the same after a change of other fields."""

import numpy as np
import pytest

from forebay.scenario import Scenario, loads
from forebay.workload import Sessions, draw

TEXT = """
queue.size = "100 packets"
link.rate = "80 Mbit/s"
measure = { warmup = "10 s", duration = "90 s" }
traffic = [
  { flows = 3 },
  { kind = "session", flows = 200, think = { exponential = "2 s" }, rtt = "50 ms", \
    file = { pareto = { mean = "60 kB", shape = 1.5, high = "10 MB" } } },
]
"""


def scenario(*sets: str) -> Scenario:
    return loads(TEXT, overrides=sets)


def sessions(*sets: str) -> Sessions:
    return draw(scenario(*sets), 5).sessions


def users(drawn: Sessions) -> list[tuple[list[int], list[int]]]:
    cuts = zip(drawn.offsets[:-1], drawn.offsets[1:], strict=True)
    return [(drawn.segments[a:b].tolist(), drawn.think_ps[a:b].tolist()) for a, b in cuts]


def test_layout():
    workload = draw(scenario(), 5)
    drawn = sessions()
    assert len(workload) == 203
    assert drawn.offsets.shape == (204,)
    assert (drawn.offsets[0], drawn.offsets[3]) == (0, 0)
    assert drawn.offsets[-1] == len(drawn) == len(drawn.think_ps)
    assert (np.diff(drawn.offsets)[3:] > 0).all()
    assert {drawn.offsets.dtype, drawn.segments.dtype, drawn.think_ps.dtype} == {np.dtype("int64")}
    assert workload.packets is None
    with pytest.raises(ValueError, match="read-only"):
        drawn.segments[0] = 1


def test_no_user_runs_out_of_files():
    """Even if a file took no longer than an RTT and its packets on the access link."""
    workload, drawn = draw(scenario(), 5), sessions()
    for user, (files, thoughts) in enumerate(users(drawn)[3:], start=3):
        least = [t + f * 12_000_000 + 50 * 10**9 for f, t in zip(files, thoughts, strict=True)]
        assert workload.start_ps[user] + sum(least) >= 100 * 10**12
        assert workload.start_ps[user] + sum(least[:-1]) < 100 * 10**12


def test_means():
    """More files than 3 / sqrt(files) of their deviation say."""
    drawn = sessions()
    assert drawn.think_ps.mean() / 1e12 == pytest.approx(2.0, rel=0.06)
    assert drawn.segments.mean() == pytest.approx(40.0, rel=0.1)


def test_thinking_changes_no_file_size():
    one, other = users(sessions()), users(sessions('traffic.1.think={exponential="3 s"}'))
    for (mine, _), (theirs, _) in zip(one[3:], other[3:], strict=True):
        shared = min(len(mine), len(theirs))
        assert mine[:shared] == theirs[:shared]


def test_who_starts_too_late_has_a_file_all_the_same():
    late = sessions('traffic.1.start={uniform=["0 s", "900 s"]}')
    assert (np.diff(late.offsets)[3:] >= 1).all()


def test_long_thoughts_do_not_overflow():
    heavy = 'traffic.1.think={pareto={mean="10 s",shape=0.5,high="86000 s"}}'
    drawn = sessions(heavy, "measure.duration=86000 s", "traffic.1.flows=20")
    assert (drawn.think_ps >= 0).all()
    assert (np.diff(drawn.offsets)[3:] > 10).all()
