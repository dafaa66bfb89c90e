"""The smallest set of sizes, one for each class of links, that meets the goals of all of them.

The search starts with the largest sizes. It reduces one class at a time as far as the goals allow,
with the other classes fixed, beginning with the heaviest class. Rounds repeat until no class
shrinks by 5 %: then no class alone can be smaller by that much. Another order of classes may end at
another such set.

A set is not a `Problem`: its sizes are many numbers, and each try has an exact answer and no seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.progress import Progress

    Sizes = NDArray[np.float64]

_FINE = 1.05
"""Two sizes of a class with a smaller ratio count as equal."""


class Classes(Protocol):
    """Classes of links that can be tried with a size each."""

    @property
    def largest(self) -> Sizes:
        """The largest sizes, shape (classes,); they meet the goals."""

    def weight(self, place: int) -> float:
        """Return how much the largest size of a class weighs; heavy ones shrink first."""

    def least(self, place: int) -> float:
        """Return the smallest size that a class can have."""

    def meet(self, sizes: Sizes) -> bool:
        """Whether all links meet the goals with these sizes."""


def smallest_set(classes: Classes, progress: Progress | None = None) -> Sizes:
    """Return the smallest sizes, shape (classes,)."""
    sizes = classes.largest.copy()
    order = sorted(range(len(sizes)), key=lambda place: -classes.weight(place))
    before, left = np.full(len(sizes), np.inf), 1.0
    while (before >= _FINE * sizes).any():
        before = sizes.copy()
        for place in order:
            sizes[place] = _smallest(classes, place, sizes)
            left -= left / 2 / len(order)  # the first round is about half of the work
            if progress is not None:
                progress(1.0 - left)
    if progress is not None:
        progress(1.0)
    return sizes


def _smallest(classes: Classes, place: int, sizes: Sizes) -> float:
    """Return the smallest size of one class that meets the goals, the others being fixed."""
    low, high = classes.least(place), float(sizes[place])
    if low >= high or classes.meet(_with(sizes, place, low)):
        return min(low, high)
    while high > _FINE * low:
        between = float(np.sqrt(low * high))
        if classes.meet(_with(sizes, place, between)):
            high = between
        else:
            low = between
    return high


def _with(sizes: Sizes, place: int, size: float) -> Sizes:
    changed = sizes.copy()
    changed[place] = size
    return changed
