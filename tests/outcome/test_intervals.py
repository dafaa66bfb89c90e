"""Interval arithmetic against hand-made cases."""

import math

import numpy as np
import pytest

from forebay.outcome import statistics


@pytest.mark.parametrize(("degrees", "expected"), [(1, 12.7062), (4, 2.7764), (30, 2.0423)])
def test_student_t_is_the_printed_table(degrees: int, expected: float) -> None:
    assert statistics.student_t(degrees) == pytest.approx(expected, abs=5e-5)


def test_mean_of_three_replications_by_hand() -> None:
    metric = statistics.over_replications([1.0, 2.0, 3.0], (0.0, math.inf))
    assert (metric.value, metric.n) == (2.0, 3)
    # standard deviation 1, t(2) = 4.3027, so +- 4.3027 / sqrt(3) = 2.484; cut at 0. Of the
    # logarithm it is 2.484 / 2, and its upper end is the farther one.
    assert metric.low == 0.0
    assert metric.high == pytest.approx(2.0 * math.exp(4.30265 / math.sqrt(3.0) / 2.0), rel=1e-5)


def test_a_share_near_one_by_hand() -> None:
    """Of 0.99 and 1: ± 0.0635 of the mean, cut at 1; of the logit ± 12.8, which is 1.6e-3."""
    metric = statistics.over_replications([0.99, 1.0], (0.0, 1.0))
    half = 12.7062 * 0.005
    assert metric.high == 1.0
    odds = 0.995 / 0.005 * math.exp(-half / (0.995 * 0.005))
    assert metric.low == pytest.approx(min(0.995 - half, odds / (1.0 + odds)), rel=1e-3)


def test_the_mean_of_unequal_replications_is_that_of_all_packets() -> None:
    """10 packets of 1 s and 990 of 3 s: 2.98 s, and not the 2 s of the two means."""
    metric = statistics.over_replications([1.0, 3.0], (0.0, math.inf), [10.0, 990.0])
    assert metric.value == pytest.approx(2.98)
    residual = 10.0 * (1.0 - 2.98)  # and as much above
    half = 12.7062 * math.sqrt(2.0 * residual**2) / math.sqrt(2.0) / 500.0
    assert metric.low == pytest.approx(2.98 - half, rel=1e-4)
    assert metric.high == pytest.approx(2.98 * math.exp(half / 2.98), rel=1e-4)
    assert statistics.over_replications([1.0, 3.0], (0.0, math.inf), [7.0, 7.0]) == (
        statistics.over_replications([1.0, 3.0], (0.0, math.inf))
    )


def test_rounding_puts_no_share_above_one() -> None:
    for values in ([1.0 + 4e-16], [1.0 + 4e-16, 1.0 + 2e-16], [1.0 + 4e-16, 0.5, 0.9]):
        metric = statistics.over_replications(values, (0.0, 1.0))
        assert metric.value <= 1.0
    defect = statistics.over_replications([1.001], (0.0, 1.0))
    assert defect is not None and defect.value == 1.001  # for the invariants to see


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_replications_that_agree_tell_nothing_of_others(value: float) -> None:
    metric = statistics.over_replications([value] * 5, (0.0, 1.0))
    assert (metric.low, metric.high, metric.n) == (None, None, 5)


def test_a_ratio_of_equal_denominators_is_a_mean_and_of_proportional_batches_exact() -> None:
    values = np.array([0.2, 0.4, 0.9, 0.7])
    expected = statistics.half_width(values)
    assert statistics.ratio_half_width(values * 8.0, np.full(4, 8.0)) == pytest.approx(expected)
    arrivals = np.array([10.0, 0.0, 30.0, 500.0])
    assert statistics.ratio_half_width(arrivals * 0.1, arrivals) == pytest.approx(0.0, abs=1e-12)
