"""Laws at work: means, ends and tails of what is drawn, against the formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.scenario import Distribution, FlowLength
from forebay.workload.streams import picoseconds, whole_packets

GRID = (np.arange(2**20) + 0.5) / 2**20
"""As good as all uniform numbers: what is drawn from it has the law's mean."""


def law(written: object) -> Distribution:
    return Distribution.parse(written)


@pytest.mark.parametrize(
    "written",
    [
        "100 ms",
        {"uniform": ["80 ms", "120 ms"]},
        {"exponential": "100 ms"},
        {"exponential": {"mean": "100 ms", "low": "50 ms", "high": "200 ms"}},
        {"normal": {"mean": "100 ms", "deviation": "20 ms"}},
        {"normal": {"mean": "100 ms", "deviation": "80 ms"}},
        {"normal": {"mean": "100 ms", "deviation": "20 ms", "low": "110 ms", "high": "1 s"}},
        {"lognormal": {"mean": "100 ms", "deviation": "50 ms"}},
        {"lognormal": {"mean": "100 ms", "deviation": "50 ms", "low": "50 ms", "high": "150 ms"}},
        {"pareto": {"mean": "100 ms", "shape": 1.5, "high": "2 s"}},
        {"pareto": {"mean": "100 ms", "shape": 1.0, "high": "2 s"}},
        {"pareto": {"mean": "100 ms", "shape": 0.8, "high": "2 s"}},
        {"values": ["28 ms", "67 ms", "90 ms"]},
        {"values": ["28 ms", "67 ms"], "shares": [0.25, 0.75]},
    ],
)
def test_means_and_ends_are_those_of_the_law(written):
    drawn = picoseconds(law(written), GRID) / 1e12
    assert drawn.mean() == pytest.approx(law(written).mean, rel=2e-4)
    assert law(written).low <= drawn.min()
    assert drawn.max() <= law(written).high
    for end in (0.03, 0.0815, 0.115, 0.6):
        mean = np.minimum(drawn, end).mean()
        assert law(written).mean_within(end) == pytest.approx(mean, rel=2e-4)
    if "values" not in written:
        assert (np.diff(drawn) >= 0).all()


def test_the_mean_of_a_pareto_law_is_the_one_asked_for():
    pareto = law({"pareto": {"mean": "100 ms", "shape": 1.5, "high": "2 s"}})
    assert pareto.mean == 0.1
    drawn = picoseconds(pareto, GRID) / 1e12
    # P(X > x) = (low / x)^shape but for the share cut off at the upper end.
    cut = (pareto.low / pareto.high) ** 1.5
    for x in (0.05, 0.2, 1.0):
        tail = ((pareto.low / x) ** 1.5 - cut) / (1 - cut)
        assert (drawn > x).mean() == pytest.approx(tail, abs=1e-5)


def test_shares_of_listed_values():
    drawn = picoseconds(law({"values": ["2 s", "1 s"], "shares": [0.25, 0.75]}), GRID)
    assert (drawn == 2 * 10**12).mean() == 0.25


@pytest.mark.parametrize(
    "written",
    [
        {"geometric": "14 packets"},
        {"pareto": {"mean": "40 packets", "shape": 1.2, "high": "10000 packets"}},
        {"pareto": {"mean": "2.5 packets", "shape": 1.2, "high": "1000 packets"}},
        {"pareto": {"mean": "30 packets", "shape": 0.7, "high": "1000 packets"}},
        {"pareto": {"mean": "60 kB", "shape": 1.3, "high": "15 MB"}},
        {"lognormal": {"mean": "10 packets", "deviation": "5 packets", "high": "1e6 packets"}},
        {"lognormal": {"mean": "1.5 packets", "deviation": "3 packets", "high": "1e4 packets"}},
        {"lognormal": {"mean": "40 packets", "deviation": "40 packets", "high": "100 packets"}},
    ],
)
def test_whole_packets_have_the_mean_asked_for(written):
    length = FlowLength.parse(written)
    drawn = whole_packets(length, 1500, GRID)
    assert drawn.mean() == pytest.approx(length.mean_packets(1500), rel=2e-3)
    assert drawn.min() >= 1
    assert drawn.max() <= length.most_packets(1500)


def test_geometric_lengths_forget():
    drawn = whole_packets(FlowLength.parse({"geometric": "4 packets"}), 1500, GRID)
    for k in (1, 2, 5, 10):
        assert (drawn > k).mean() == pytest.approx(0.75**k, abs=1e-5)


def test_fixed_lengths_are_rounded_up():
    length = FlowLength.parse("20 kB")
    assert whole_packets(length, 1500, GRID[:3]).tolist() == [14, 14, 14]
    assert length.mean_packets(1500) == 14


@given(
    st.floats(1.01, 1e4),
    st.floats(0.1, 10),
    st.floats(2.1, 1e5),
    st.sampled_from(["pareto", "lognormal"]),
)
def test_any_law_can_be_drawn(mean, shape, span, kind):
    law: dict[str, object] = {"mean": f"{mean!r} packets", "high": f"{mean * span!r} packets"}
    law |= {"deviation": f"{mean * shape!r} packets"} if kind == "lognormal" else {"shape": shape}
    length = FlowLength.parse({kind: law})
    drawn = whole_packets(length, 1500, GRID[:: 2**10])
    assert drawn.min() >= 1
    assert drawn.max() <= max(1, round(mean * span))


@pytest.mark.parametrize("flows", [1, 8, 21])
def test_values_that_are_stratified_have_their_shares_in_every_draw(flows):
    shares = [0.25, 0.25, 0.5]
    stratified = law({"values": ["1 s", "2 s", "3 s"], "shares": shares, "stratified": True})
    older = law({"values": ["1 s", "2 s", "3 s"], "shares": shares, "dealt": True})
    assert older == stratified
    first = []
    for seed in range(200):
        drawn = picoseconds(stratified, np.random.default_rng(seed).random(flows)) / 1e12
        counts = [(drawn == value).sum() for value in (1.0, 2.0, 3.0)]
        assert all(
            abs(count - share * flows) < 1
            for count, share in zip(counts, (0.25, 0.25, 0.5), strict=True)
        )
        first.append(drawn[0])
    assert np.mean(first) == pytest.approx(2.25, abs=0.25), "each flow may have any of them"
