"""Quantiles of counts and of histograms, by hand and by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.outcome import Histogram, statistics
from forebay.outcome.metrics import up_to


def test_counts_give_the_smallest_integer_that_reaches_the_probability() -> None:
    seconds = np.array([[5.0, 3.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])  # 0, 1, 2 packets
    read = statistics.of_counts(seconds, 1, (0.50, 0.51, 0.80, 0.99))
    assert read.tolist() == [[0.0, 1.0, 1.0, 2.0], [1.0, 2.0, 2.0, 2.0]]


def test_a_wide_bin_counts_as_its_lowest() -> None:
    """A queue that is nearly always empty has no packet at its 99 % quantile, whatever the bins."""
    seconds = np.array([[0.995, 0.005], [0.0, 1.0]])  # 0 .. 3 and 4 .. 7 packets
    read = statistics.of_counts(seconds, 4, (0.25, 0.5, 0.99))
    assert read.tolist() == [[0.0, 0.0, 0.0], [4.0, 4.0, 4.0]]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_counts_agree_with_a_sorted_sample(sample: list[int], probability: float) -> None:
    weights = np.bincount(sample).astype(float)
    ordered = sorted(sample)
    reached = [q for i, q in enumerate(ordered) if (i + 1) / len(sample) >= probability - 1e-12]
    ((value,),) = statistics.of_counts(weights[np.newaxis], 1, (probability,))
    above = [q for i, q in enumerate(ordered) if (i + 1) / len(sample) >= probability + 1e-12]
    assert value in {reached[0], above[0]}


def test_histogram_interpolates_inside_the_bin() -> None:
    histogram = Histogram(np.array([0.0, 1.0, 3.0]), np.array([2.0, 2.0]))
    assert statistics.of_histogram(histogram, 0.25) == pytest.approx(0.5)
    assert statistics.of_histogram(histogram, 0.75) == pytest.approx(2.0)
    assert statistics.mean_of_histogram(histogram) == pytest.approx((0.5 * 2 + 2.0 * 2) / 4)


def test_a_quantile_of_replications_is_that_of_all_packets_together() -> None:
    """The mean of two 99 % quantiles would be 50.5 here; of 1000 packets 2 are above 1."""
    edges = np.arange(101.0)
    few, many = np.zeros(100), np.zeros(100)
    few[99], few[0], many[0] = 2.0, 8.0, 990.0
    (found,) = up_to([Histogram(edges, few), Histogram(edges, many)], (), [0.99])
    assert found.value == pytest.approx(0.99 * 1000 / 998)
    assert found.n == 2 and found.low == 0.0 and found.high == 100.0


def test_the_interval_of_a_quantile_by_hand() -> None:
    """Of equal weights, 0.10 and 0.30 are above the first bin, and 0.02 and 0.04 above the second.

    The second share is 0.03 with a standard error of 0.01, so that t(1) = 12.706 of them are a
    factor of exp(4.235) = 69: neither bin is ruled out for 0.9, and the third not either. With
    0.029 and 0.031 the factor is 1.53, and all above 0.1 / 1.53 is ruled out.
    """
    above, alike = np.array([[0.1, 0.02, 0.0], [0.3, 0.04, 0.0]]), np.ones(2)
    assert statistics.bins_of_quantile(above, alike, 0.9) == (0, 2)
    above = np.array([[0.2, 0.029, 0.0], [0.2, 0.031, 0.0]])
    assert statistics.bins_of_quantile(above, alike, 0.9) == (1, 1)
    assert statistics.bins_of_quantile(above[:1], alike[:1], 0.9) is None


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=30), min_size=2, max_size=8),
    st.floats(0.01, 0.999),
)
def test_an_interval_contains_its_quantile(samples: list[list[int]], probability: float) -> None:
    edges = np.arange(11.0)
    each = [Histogram(edges, np.bincount(s, minlength=10).astype(float)) for s in samples]
    (found,) = up_to(each, [max(s) + 1.0 for s in samples], [probability])
    assert 0.0 <= found.low <= found.value <= found.high <= 10.0
    ordered = sorted(value for sample in samples for value in sample)
    assert ordered[0] <= found.value <= ordered[-1] + 1.0
