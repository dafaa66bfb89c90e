"""What comes whatever the link does: datagrams and short flows.

Datagrams are constant, Poisson, on and off, or replayed; short flows are a Poisson process.
"""

import numpy as np
import pytest

from forebay.scenario import Scenario, load, loads
from forebay.workload import Packets, Workload, draw

HEAD = """
queue.size = "48 packets"
link.rate = "100 Mbit/s"
measure = { warmup = "0 s", duration = "100 s" }
[[traffic]]
"""
UDP = HEAD + 'kind = "udp"\nflows = 50\nrate = "1.2 Mbit/s"\nstart = "0 s"\n'
ONOFF = HEAD + (
    'kind = "onoff"\nflows = 200\npeak_rate = "1.2 Mbit/s"\nstart = "0 s"\n'
    'on = { exponential = "300 ms" }\noff = { exponential = "700 ms" }\n'
)
PS = 10**12


def drawn(text: str, *sets: str) -> Workload:
    return draw(loads(text, overrides=sets), 1)


def packets(text: str, *sets: str) -> Packets:
    return drawn(text, *sets).packets


def flow(of: Packets, index: int) -> np.ndarray:
    return of.at_ps[of.offsets[index] : of.offsets[index + 1]]


def test_constant_gaps_from_the_start_on():
    """1.2 Mbit/s of 1500 B is a datagram every 10 ms."""
    assert flow(packets(UDP), 3).tolist() == [k * PS // 100 for k in range(10_000)]
    workload = drawn(UDP, 'traffic.0.start={uniform=["0 s", "200 s"]}')
    for index, start in enumerate(workload.start_ps):
        at = flow(workload.packets, index)
        assert len(at) == max(0, -(-(100 * PS - int(start)) // (PS // 100)))
        assert len(at) == 0 or at[0] == start


def test_poisson_gaps_forget_and_flows_are_independent():
    found = packets(UDP, "traffic.0.arrivals=poisson")
    gaps = np.concatenate([np.diff(flow(found, i)) for i in range(50)]) / PS * 100
    assert len(found) == pytest.approx(500_000, abs=4 * 500_000**0.5)
    assert gaps.mean() == pytest.approx(1.0, abs=0.01)
    assert gaps.std() == pytest.approx(1.0, abs=0.01)
    assert (gaps > 3).mean() == pytest.approx(np.exp(-3), abs=0.002)
    counts = np.array([np.bincount(flow(found, i) // PS, minlength=100) for i in range(50)])
    assert counts.sum(axis=0).var(ddof=1) == pytest.approx(5000, rel=0.6)


def test_on_and_off_have_the_mean_rate_and_the_peak_gap():
    """On for 0.3 of the time; a flow begins on, which adds a little at its start."""
    found = packets(ONOFF)
    assert len(found) == pytest.approx(0.3 * 200 * 100 * 100, rel=0.03)
    for index in range(10):
        gaps = np.diff(flow(found, index))
        assert gaps.min() >= PS // 100 - 1
        assert np.median(gaps) == pytest.approx(PS // 100, abs=1)
        assert gaps.max() > PS // 2


def test_short_on_times_keep_the_mean_rate():
    """On times shorter than a gap send a datagram now and then, not one each."""
    short = ('traffic.0.on={exponential="3 ms"}', 'traffic.0.off={exponential="7 ms"}')
    assert len(packets(ONOFF, *short)) == pytest.approx(600_000, rel=0.01)


def test_pareto_times_are_more_uneven_over_seconds():
    tails = tuple(
        f'traffic.0.{name}={{pareto={{mean="{mean} ms",shape=1.2,high="100 s"}}}}'
        for name, mean in (("on", 300), ("off", 700))
    )

    def spread(*sets: str) -> float:
        """Standard deviation of one flow's datagrams in 20 s, over flows and windows."""
        found = packets(ONOFF, *sets)
        counts = [np.bincount(flow(found, i) // (20 * PS), minlength=5)[1:] for i in range(200)]
        return float(np.std(counts))

    assert spread(*tails) > 1.4 * spread()


def test_a_class_before_changes_nothing_but_places():
    workload = drawn(UDP.replace("[[traffic]]", "[[traffic]]\nflows = 5\n[[traffic]]"))
    assert workload.packets.offsets[:6].tolist() == [0] * 6
    assert (workload.segments == 0).all()
    assert workload.packet_bytes.tolist() == [1500] * 55
    assert workload.flows_of(1) == 50


def test_reverse_and_shared_access():
    workload = drawn(UDP + 'direction = "reverse"\naccess_sharing = 20\n[[traffic]]\nflows = 3\n')
    assert workload.reverse.tolist() == [True] * 50 + [False] * 3
    assert workload.access_group.tolist() == [i // 20 for i in range(50)] + [3, 4, 5]


def test_tiny_rates_send_nothing_and_overflow_nothing():
    text = UDP.replace('rate = "1.2 Mbit/s"', "load = 1e-6")
    assert len(packets(text, "traffic.0.arrivals=poisson", "link.rate=1 kbit/s")) == 0


def test_replay(tmp_path):
    (tmp_path / "film.csv").write_text("0,100\n0.5,1500\n1.5,200\n99.5,64\n")
    head = HEAD + 'kind = "replay"\nflows = 2\nfile = "film.csv"\nstart = { values = ["1 s"] }\n'
    (tmp_path / "s.toml").write_text(head)
    found = draw(load(tmp_path / "s.toml"), 1).packets
    assert found.offsets.tolist() == [0, 3, 6]
    assert flow(found, 1).tolist() == [PS, PS * 3 // 2, PS * 5 // 2]
    assert found.bytes.tolist() == [100, 1500, 200] * 2


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


def scenario(*sets: str, text: str = TEXT) -> Scenario:
    return loads(text, overrides=sets)


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


def test_few_or_no_flows():
    rare = scenario("traffic.0.load=1e-6", "measure.duration=1 ms")
    assert len(draw(rare, 1)) == 0
