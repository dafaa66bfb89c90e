"""The smallest set of sizes, of classes whose goals are known."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from forebay.search.smallest_set import smallest_set


@dataclass
class Known:
    """Meets its goals where the weighted sum of the sizes' logarithms is at least ``need``."""

    weights: tuple[float, ...]
    need: float
    tried: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def largest(self) -> NDArray[np.float64]:
        return np.full(len(self.weights), 4.0)

    def weight(self, place: int) -> float:
        return self.weights[place]

    def least(self, place: int) -> float:
        return 0.01

    def meet(self, sizes: NDArray[np.float64]) -> bool:
        self.tried.append(tuple(sizes.tolist()))
        return float(np.log(sizes) @ np.array(self.weights)) >= self.need


def test_no_class_alone_can_be_smaller_by_five_percent() -> None:
    classes = Known((1.0, 2.0, 3.0), 0.5)
    sizes = smallest_set(classes)
    assert classes.meet(sizes)
    for place in range(3):
        smaller = sizes.copy()
        smaller[place] /= 1.05
        assert sizes[place] == 0.01 or not classes.meet(smaller)


def test_the_heaviest_class_shrinks_first_and_progress_ends_at_one() -> None:
    classes, reported = Known((1.0, 3.0), 0.0), list[float]()
    sizes = smallest_set(classes, reported.append)
    assert classes.tried[0] == (4.0, 0.01)
    assert sizes[1] < sizes[0]
    assert reported == sorted(reported) and reported[-1] == 1.0


def test_goals_that_the_least_sizes_meet_need_one_try_for_each_class() -> None:
    classes = Known((1.0, 1.0), -100.0)
    assert smallest_set(classes).tolist() == pytest.approx([0.01, 0.01])
    assert len(classes.tried) == 2
