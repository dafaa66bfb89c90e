"""Slowdown by size: the bins, and what transfers that have not ended leave open."""

import numpy as np
import pytest

from forebay.outcome.completion import NAMES, by_size
from forebay.outcome.reading import Slowdowns


def transfers(*each: tuple[float, float, int]) -> Slowdowns:
    """(bytes, slowdown, whether it is unfinished) of each."""
    size, slowdown, unfinished = zip(*each, strict=True)
    return Slowdowns(np.array(size), np.array(slowdown), np.array(unfinished, dtype=np.int64))


def test_a_size_at_the_end_of_a_bin_belongs_to_it_and_empty_bins_are_left_out():
    found = by_size([transfers((1e4, 2.0, 0), (1e4 + 1, 4.0, 0), (3e7, 1.0, 0))])
    assert list(found) == [NAMES[0], NAMES[1], NAMES[4]]
    assert [each.slowdown.mean.value for each in found.values()] == pytest.approx([2.0, 4.0, 1.0])
    assert found[NAMES[0]].up_to_bytes == found[NAMES[1]].above_bytes == 1e4
    assert found[NAMES[4]].up_to_bytes is None


def test_an_unfinished_transfer_leaves_what_lies_beyond_it_open():
    ended = [(5e4, float(slow), 0) for slow in range(1, 10)]
    found = by_size([transfers(*ended, (5e4, 9.5, 1))])[NAMES[1]]
    assert found.unfinished.value == pytest.approx(0.1)
    assert found.slowdown.mean is None
    assert found.least.mean.value >= np.mean(range(1, 10))
    assert found.slowdown.p50.value >= 5.0
