"""What watches whether a search ends in time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from forebay.search.stopping import OutOfTime
from forebay.search.watch import _Watch


def watch(spent_s: float, seen: list[float]) -> _Watch:
    time: Any = SimpleNamespace(spent_s=spent_s, seconds=10.0)
    return _Watch(time, fallback=None, all_or_nothing=False, progress=seen.append)


def test_progress_is_the_time_that_is_spent_and_never_above_one() -> None:
    seen: list[float] = []
    for spent_s, fraction in ((2.0, 0.5), (8.0, 0.5), (30.0, 1.0)):
        watch(spent_s, seen).tick(fraction)
    assert seen == [0.5, 0.8, 1.0]


def test_it_has_stopped_the_search_once_the_time_is_over() -> None:
    late = watch(30.0, [])
    assert not late.stopped
    with pytest.raises(OutOfTime):
        late.tick(0.5)
    assert late.stopped
