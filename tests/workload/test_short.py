"""Short flows: a Poisson process of flows, their lengths, and what changes neither."""

import numpy as np
import pytest

from forebay.scenario import Scenario, loads
from forebay.workload import draw

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
