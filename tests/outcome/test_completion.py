"""Completion times where some transfers had not ended: right-censored samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import CensoredData, ecdf

from forebay.outcome.completion import Lasted, Transfers, completion, lasted

NONE: NDArray[np.float64] = np.zeros(0)


def transfers(ended: list[float], unfinished: list[float] | None = None) -> Transfers:
    return np.array(ended, float), np.array(unfinished or [], float)


def test_all_that_ended_is_a_plain_sample():
    """Of 1 to 100 s the mean is 50.5 s, and the least time by which 99 % have ended 99 s."""
    seen = completion([transfers(list(range(1, 101)))], 200.0)
    assert seen.fct_s.mean.value == pytest.approx(50.5)
    assert seen.fct_s.p99.value == 99.0
    assert seen.fct_s.mean.low is None  # one run gives no interval
    assert (seen.fct_least_s, seen.fct_open) == (None, None)
    assert seen.unfinished.value == 0.0


def test_those_that_stall_are_not_left_out():
    """9 take 8 ms, 91 have not ended after half a second: not even the median is known."""
    seen = completion([transfers([0.008] * 9, [0.5] * 91)], 0.5)
    assert seen.fct_s is None
    assert seen.fct_least_s.p50.value == 0.5
    assert seen.unfinished.value == pytest.approx(0.91)
    assert seen.fct_open is not None and "91 of 100 transfers" in str(seen.fct_open)


def test_a_quantile_is_known_as_far_as_the_share_that_ended_reaches():
    seen = completion([transfers([1.0] * 95, [2.0] * 5)], 4.0)
    assert seen.fct_s.p95.value == 1.0
    assert seen.fct_s.p99 is None and seen.fct_s.mean is None
    assert seen.fct_least_s.p99.value == 2.0
    assert seen.fct_least_s.mean.value == pytest.approx(0.95 + 0.1)


@pytest.mark.parametrize(("watched", "known"), [(1.9, True), (2.0, False)])
def test_the_longest_may_be_cut_off_for_a_mean_if_it_had_just_begun(watched, known):
    """Of a window of 4 s; each of those that were watched for half of it must have ended."""
    seen = completion([transfers([1.0] * 9, [watched])], 4.0)
    part = seen.fct_s if known else seen.fct_least_s
    assert part.mean.value == pytest.approx(0.9 + 0.1 * watched)


def test_what_one_replication_leaves_open_all_may_know():
    alone, others = transfers([1.0] * 9, [2.0]), transfers([1.0] * 9 + [3.0])
    assert completion([alone], 4.0).fct_open is not None
    together = completion([alone, others], 4.0)
    assert together.fct_open is None
    # Of 20, 18 ended after 1 s; one of two was cut off at 2 s; the last ended after 3 s.
    assert together.fct_s.mean.value == pytest.approx(0.9 * 1.0 + 0.1 * 3.0)
    assert together.fct_s.mean.n == 2 and together.fct_s.mean.low is not None


_spans = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 7.0, 30.0]), min_size=0, max_size=30)


@given(_spans.filter(bool), _spans)
def test_it_is_scipy_s_estimate(ended, unfinished):
    """Another implementation of the product-limit estimate, ties and all."""
    own = lasted(transfers(ended, unfinished))
    theirs = ecdf(CensoredData(uncensored=ended, right=unfinished))
    for at, share in zip(theirs.sf.quantiles, theirs.sf.probabilities, strict=True):
        if at < own.times_s[-1]:
            ours = own.ended_share[own.times_s <= at]
            assert 1.0 - ours[-1] == pytest.approx(share, abs=1e-12)
    assert 1.0 - own.known == pytest.approx(theirs.sf.probabilities[-1], abs=1e-12)


@given(_spans, _spans)
def test_what_is_known_never_grows_with_what_is_not(ended, unfinished):
    seen = completion([transfers(ended, unfinished)], 30.0)
    for part in ("mean", "p50", "p95", "p99"):
        known = getattr(seen.fct_s, part, None)
        least = getattr(seen.fct_least_s, part, None)
        assert (known is None) or (least is None)
        if ended or unfinished:
            assert (known is None) != (least is None)
            value = (known or least).value
            assert 0.0 < value <= max(ended + unfinished) * (1 + 1e-12)


def test_beyond_the_share_that_ended_the_longest_time_is_a_bound():
    seen = Lasted(np.array([1.0, 2.0]), np.array([0.3, 0.5]), 0.5)
    assert [seen.quantile(of) for of in (0.2, 0.3, 0.4, 0.5, 0.9)] == [1.0, 1.0, 2.0, 2.0, 2.0]
