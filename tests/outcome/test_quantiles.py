"""Quantiles of counts and of histograms, by hand and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.outcome import Histogram, statistics


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


def test_nothing_measured_is_none() -> None:
    empty = Histogram(np.array([0.0, 1.0]), np.array([0.0]))
    assert statistics.of_histogram(empty, 0.5) is None
    assert statistics.mean_of_histogram(empty) is None
    assert statistics.of_counts(np.zeros((1, 3)), 1, (0.5,)).shape == (0, 1)


def test_a_bin_of_one_picosecond_holds_one_value():
    """Packets that found an empty queue waited for no time at all."""
    idle = Histogram(np.array([0.0, 1e-12]), np.array([7.0]))
    assert statistics.several_of_histogram(idle, (0.5, 0.99)).tolist() == [0.0, 0.0]
