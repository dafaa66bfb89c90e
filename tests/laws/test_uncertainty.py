"""Intervals and gradients of laws whose inputs are known between bounds only."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.laws import heterogeneous, sqrt_n, utilization
from forebay.laws.uncertainty import Box, _places, gradient, interval


def test_flows_between_8000_and_12000():
    found = interval(sqrt_n.buffer, 1e5, Box(8_000, 12_000))
    assert (found.low, found.high) == pytest.approx((912.87, 1118.03), abs=0.01)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_corners_hold_every_point_of_a_monotone_law(x, y):
    found = interval(utilization.utilization, Box(100, 200), Box(900, 1100), n=Box(200, 400))
    inside = utilization.utilization(100 + 100 * x, 900 + 200 * y, 200 + 200 * x * y)
    assert found.low - 1e-12 <= inside <= found.high + 1e-12


def test_inside_is_looked_at_where_a_law_turns():
    def valley(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (x - 1.0) ** 2 + (y - 2.0) ** 2

    corners = interval(valley, Box(0, 3), Box(0, 3))
    sampled = interval(valley, Box(0, 3), Box(0, 3), monotone=False, samples=2000)
    assert corners.low == pytest.approx(2.0)
    assert 0.0 <= sampled.low < 0.01
    assert sampled.high == corners.high == pytest.approx(8.0)


def test_four_corners_and_256_places_are_looked_at():
    seen = []

    def law(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        seen.append(np.broadcast_shapes(np.shape(x), np.shape(y)))
        return x + y

    interval(law, Box(0, 3), Box(0, 3), monotone=False)
    assert seen == [(260,)]


def test_boxes_broadcast_with_arrays():
    n = np.array([100.0, 400.0, 900.0])
    found = interval(sqrt_n.buffer, Box(1000.0, 2000.0), Box(n, 1.1 * n))
    assert found.low == pytest.approx(1000.0 / np.sqrt(1.1 * n))
    assert found.high == pytest.approx(2000.0 / np.sqrt(n))
    grid = interval(sqrt_n.buffer, np.ones((4, 1)), Box(n, 2 * n))
    assert grid.low.shape == grid.high.shape == (4, 3)
    point = interval(sqrt_n.buffer, 1000.0, 100.0)
    assert point.low == point.high == 100.0


def test_bounds_the_wrong_way_round():
    with pytest.raises(ValueError, match=r"Box\(3, 1\): write the lower bound first"):
        Box(3, 1)


def test_gradient_of_a_law_known_in_closed_form():
    bdp, n = np.array([1000.0, 5000.0]), 400.0
    by_bdp, by_n = gradient(sqrt_n.buffer, bdp, n)
    assert by_bdp == pytest.approx(1.0 / np.sqrt(n), rel=1e-8)
    assert by_n == pytest.approx(-bdp / (2.0 * n**1.5), rel=1e-8)
    (alone,) = gradient(sqrt_n.buffer, bdp, n, with_respect_to=[1])
    assert alone == pytest.approx(by_n)


def test_a_million_evaluations_in_a_second():
    n = np.linspace(100.0, 1e5, 1_000_000)
    heterogeneous.for_utilization_and_drops(1e5, 0.19, n[:10], 0.99, 0.01, 0.99)  # warm
    started = time.process_time()
    heterogeneous.for_utilization_and_drops(1e5, 0.19, n, 0.99, 0.01, 0.99)
    interval(heterogeneous.for_utilization, 1e5, 0.19, Box(n[::4], 1.1 * n[::4]), 0.99)
    assert time.process_time() - started < 1.0


def test_points_inside_one_box_are_multiples_of_the_golden_section():
    golden = (5**0.5 - 1) / 2
    inside = _places(1, 3)[2:, 0]
    assert inside == pytest.approx([golden % 1.0, 2 * golden % 1.0, 3 * golden % 1.0])
