"""An interval holds its value, at the ends of the range too."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.measure.estimate import share


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_lies_in_its_interval(part, whole):
    told = share(min(part, whole), whole)
    assert 0.0 <= told.low <= told.value <= told.high <= 1.0


@pytest.mark.parametrize("whole", [1, 7, 7491, 10**6])
def test_none_and_all_are_in_their_intervals(whole):
    assert share(0, whole).low == 0.0
    assert share(whole, whole).high == 1.0
