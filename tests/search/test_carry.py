"""A size of a smaller link stands for one of the whole link, and back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.search.carry import Crossing, exponent, here, prior, whole
from forebay.search.scaling import ScalingRule

FEWER = ScalingRule(1.0, 1000.0)


@given(
    packets=st.integers(1, 10_000), factor=st.floats(1.0, 1000.0), bdp=st.floats(1.0, 1e6),
    of=st.floats(0.0, 0.5),
)  # fmt: skip
def test_there_and_back(packets, factor, bdp, of):
    there = whole(packets, factor, bdp, of)
    assert packets <= there * (1 + 1e-9) and there <= packets * factor * (1 + 1e-9)
    assert here(there, factor, bdp, of) == packets


@given(a=st.floats(1.0, 1e4), more=st.floats(1.01, 3.0), factor=st.floats(1.0, 100.0))
def test_a_larger_size_stands_for_a_larger_one(a, more, factor):
    assert whole(a, factor, 500.0, 0.3) < whole(a * more, factor, 500.0, 0.3)


def test_small_buffers_grow_as_the_exponent_and_large_ones_as_the_link():
    assert whole(10.0, 100.0, math.inf, 0.25) == pytest.approx(10.0 * 100**0.25)
    assert whole(1e6, 100.0, 10.0, 0.25) == pytest.approx(1e8, rel=1e-3)


@pytest.mark.parametrize("slope", [0.1, 0.25, 0.45])
def test_the_exponent_is_measured_between_links(slope):
    seen = [Crossing(k, math.inf, math.log(50.0 * k**-slope), 0.01) for k in (4.0, 16.0, 64.0)]
    before = prior(FEWER, steep=False, one_process=False)
    found = exponent(before, seen, FEWER, steep=False)
    assert found.value == pytest.approx(slope, abs=0.06)
    assert found.low <= slope <= found.high
    alone = exponent(before, seen[:1], FEWER, steep=False)
    assert alone.value == pytest.approx(0.4) and alone.high - alone.low > found.high - found.low


def test_one_process_has_the_same_queue_at_any_rate():
    found = exponent(prior(FEWER, steep=False, one_process=True), [], FEWER, steep=False)
    assert (found.low, found.value, found.high) == (0.0, 0.0, 0.0)
