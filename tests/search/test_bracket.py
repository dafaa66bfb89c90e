"""The search's next step is a pure function of the table of tried buffers."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forebay.search.strategies.bisection.bracket import (
    Side,
    bracket,
    conflicts,
    middle,
    next_buffer,
    steps_left,
)

B, U, A = Side.BELOW, Side.UNSURE, Side.ABOVE


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({}, 129),
        ({129: B}, 258),
        ({129: U}, 258),
        ({129: A}, 64),
        ({129: A, 64: B}, 91),  # 129 > 2 * 64: geometric
        ({100: A, 90: B}, 95),  # near: the arithmetic middle
        ({100: A, 99: B}, None),
        ({3000: B}, 5228),  # doubling stops at the limit
        ({5228: B}, None),
        ({1: A}, None),
        ({2: A}, 1),
        ({200: A, 150: U, 100: B}, 175),  # the sure upper end first
        ({152: A, 150: U, 100: B}, 125),  # then the sure lower one
        ({1080: A, 1040: U, 1000: B}, 1060),  # 40 is more than a 32nd of 1040
        ({152: A, 150: U, 147: B}, None),  # a 32nd of the buffer is fine enough
    ],
)
def test_next_buffer(table: dict[int, Side], expected: int | None) -> None:
    assert next_buffer(table, 129, 5228, {}) == expected


def test_a_start_outside_the_range_is_brought_inside() -> None:
    assert next_buffer({}, 9000, 5228, {}) == 5228
    assert next_buffer({}, 0, 5228, {}) == 1


def test_the_larger_of_two_buffers_out_of_order_is_believed() -> None:
    table = {50: A, 70: B, 100: A, 60: U}
    assert conflicts(table) == [50, 70]
    assert bracket(table) == bracket({70: B, 100: A})
    assert conflicts({50: B, 60: U, 70: A}) == []
    assert conflicts({50: A}) == []


def test_unsure_buffers_outside_the_bracket_do_not_count() -> None:
    assert bracket({10: U, 20: B, 30: U, 40: A, 50: U}).unsure == (30,)


@given(low=st.integers(0, 10_000), gap=st.integers(2, 10_000))
def test_the_middle_is_strictly_between(low: int, gap: int) -> None:
    assert low < middle(low, low + gap) < low + gap


@given(
    sides=st.dictionaries(st.integers(1, 500), st.sampled_from(Side)),
    start=st.integers(-5, 2000),
    ends=st.lists(st.floats(allow_nan=False), min_size=2, max_size=2),
)
def test_a_tried_buffer_is_never_named_again(
    sides: dict[int, Side], start: int, ends: list[float]
) -> None:
    sign = {B: -1.0, U: 0.0, A: 1.0}
    least, most = sorted(ends)
    margins = {b: (least + sign[side], most + sign[side]) for b, side in sides.items()}
    packets = next_buffer(sides, start, 500, margins)
    assert packets is None or (1 <= packets <= 500 and packets not in sides)
    assert steps_left(sides, 500) >= 0


@given(
    answer=st.integers(1, 4000),
    start=st.integers(1, 4000),
    below=st.floats(-8.0, -1e-9),
    above=st.floats(1e-9, 8.0),
)
@example(answer=4000, start=1, below=-1e-9, above=8.0)
def test_an_exact_step_is_found_exactly_in_few_tries(
    answer: int, start: int, below: float, above: float
) -> None:
    """The line through two margins says nothing about a step, and costs a few buffers."""
    table: dict[int, Side] = {}
    margins: dict[int, tuple[float, float]] = {}
    while (packets := next_buffer(table, start, 4000, margins)) is not None:
        table[packets] = A if packets >= answer else B
        margins[packets] = (above, above) if packets >= answer else (below, below)
    assert bracket(table).high == answer
    assert bracket(table).low == answer - 1
    assert len(table) <= 26


def test_the_next_buffer_is_where_the_line_through_the_margins_crosses_zero() -> None:
    """Margins log(b / 120) are a straight line: 120 is met next, for a bracket of 100 to 200."""
    margins = {b: (math.log(b / 120),) * 2 for b in (100, 200)}
    assert next_buffer({100: B, 200: A}, 129, 5228, margins) == 120


def test_beyond_an_unsure_buffer_it_is_where_noise_no_longer_hides_the_boundary() -> None:
    """With noise of +-0.1 a margin of log(b / 120) is positive from 120 exp(0.1) = 132.6 on."""
    margins = {b: (math.log(b / 120) - 0.1, math.log(b / 120) + 0.1) for b in (80, 120, 180)}
    assert next_buffer({80: B, 120: U, 180: A}, 129, 5228, margins) == 133
    margins |= {133: (0.003, 0.203), 131: (-0.01, 0.19)}
    assert next_buffer({80: B, 120: U, 133: A, 180: A}, 129, 5228, margins) == 131
    table = {80: B, 120: U, 131: U, 133: A, 180: A}
    assert next_buffer(table, 129, 5228, margins) == 109, "120 exp(-0.1) = 108.6"
