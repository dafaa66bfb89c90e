"""The smallest sizes of the links of a network, all found at once.

A place is a class of links with one size, or a link alone. All places are tried side by side: a try
has a size for each, and says which of them meet the goals. A place that does shrinks, one that does
not grows; its step halves where the verdict turns and grows where it stays, so that it follows the
others. The tries grow with the fineness of the answer, not with the number of places.

A set is not a `Problem`: its sizes are many numbers, and each try has an exact answer and no seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forebay.progress import Progress

    Sizes = NDArray[np.float64]
    Met = NDArray[np.bool_]

_FINE = 0.05
"""Two sizes of a place count as equal if their logarithms are this close."""
_MOST = 100
"""Most tries in which places shrink; where they still move then, the sizes only grow."""


class Places(Protocol):
    """Classes of links, or links, that can be tried with a size each."""

    @property
    def largest(self) -> Sizes:
        """The largest sizes, shape (places,); they meet the goals."""

    @property
    def least(self) -> Sizes:
        """The smallest sizes that places can have, shape (places,)."""

    def meet(self, sizes: Sizes) -> Met:
        """Whether the links of each place meet the goals with these sizes, shape (places,)."""


def smallest_set(places: Places, progress: Progress | None = None) -> Sizes:
    """Return the smallest sizes, shape (places,)."""
    low, high = np.log(np.minimum(places.least, places.largest)), np.log(places.largest)
    at, met, step = high, np.ones(len(high), bool), (high - low) / 2
    widest = left = float(step.max())
    for _ in range(_MOST):
        if (step <= _FINE).all():
            break
        at = np.clip(at + np.where(met, -step, step), low, high)
        before, met = met, places.meet(np.exp(at))
        turned = (met != before) | (met & (at <= low))
        step = np.clip(np.where(turned, step / 2, 1.5 * step), _FINE / 2, widest)
        left = min(left, float(step.max()))
        if progress is not None:
            progress(1.0 - left / widest if widest else 0.0)
    while not met.all():
        stuck = (~met & (at >= high)).any()  # then only larger sizes of others help
        at = np.minimum(np.where(met & ~stuck, at, at + _FINE / 2), high)
        met = places.meet(np.exp(at))
    if progress is not None:
        progress(1.0)
    return np.exp(at)
