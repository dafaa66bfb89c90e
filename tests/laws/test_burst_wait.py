"""What a packet of a burst waits for: Little's law for the mean, Crommelin's M/D/1 for the rest."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from forebay.laws import bursts
from forebay.laws.bursts import SINGLE_PACKETS, Bursts
from forebay.laws.finite_queue import exact_queue

ENDLESS = 10**9


@settings(max_examples=examples(30))
@given(st.floats(0.05, 0.9), st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_mean_wait_is_little_s_law(load, sizes):
    found = Bursts.given(sizes)
    waited = bursts.mean(exact_queue(load, found), found, ENDLESS)
    assert waited == pytest.approx(float(bursts.mean_waiting(load, found)) / load, rel=1e-6)


def test_single_packets_wait_as_crommelin_says():
    """P(W <= t) = (1 - rho) e^(rho t) for t below a packet time (M/D/1, Crommelin 1932)."""
    queue = exact_queue(0.5, SINGLE_PACKETS)
    at = math.log(1.5) / 0.5  # where that is 3/4; the wire taken as independent costs 0.04
    assert bursts.quantile(queue, SINGLE_PACKETS, 0.75, ENDLESS) == pytest.approx(at, abs=0.05)
    assert bursts.quantile(queue, SINGLE_PACKETS, 0.4, ENDLESS) == 0.0


@settings(max_examples=examples(30))
@given(st.floats(0.001, 0.99), st.floats(0.001, 0.99), st.integers(1, 60))
def test_quantiles_rise_and_end_at_a_full_buffer(one, other, size):
    found = Bursts.given([2, 4, 8])
    queue = exact_queue(0.8, found)
    low, high = (bursts.quantile(queue, found, p, size) for p in sorted((one, other)))
    assert 0.0 <= low <= high <= size
