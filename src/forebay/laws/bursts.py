"""Burst sizes of flows in slow start (paper A, §4).

A flow of l packets sends bursts of w, 2w, 4w, ... packets, one in each round trip, and the rest in
the last one. Bursts of all flows arrive as one Poisson process, so the size of a burst is drawn
from the bursts of all flows with equal weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forebay.laws.arrays import Array, as_array

Integers = NDArray[np.int64]


def stable(load: ArrayLike) -> Array:
    """Return `load` as an array. Raises ValueError unless all values are between 0 and 1."""
    rho = as_array(load)
    if not np.all((rho > 0.0) & (rho < 1.0)):
        raise ValueError(f"load {rho}: an unlimited queue is stable only above 0 and below 1")
    return rho


def of_flow(length: int, initial_window: int = 2, max_window: int | None = None) -> list[int]:
    """Bursts in which a flow of `length` packets is sent, in order; they sum to `length`.

    No burst is larger than the receiver's `max_window`, if given.

    l = 16 gives 2, 4, 8, 2. The paper's remainder, l mod (2^n - 1), sums to something else,
    and its example, a remainder of 4 for l = 16, follows from neither.
    """
    single = _rounds(np.array([length]), as_array([1.0]), initial_window, max_window)
    return [int(size[0]) for size, weight in single if size.size for _ in range(round(weight[0]))]


@dataclass(frozen=True, slots=True, eq=False)
class Bursts:
    """Distribution of burst sizes in packets; both arrays of shape (k,), sizes ascending."""

    sizes: Integers
    probabilities: Array

    @classmethod
    def given(cls, sizes: ArrayLike, weights: ArrayLike = 1.0) -> Self:
        """Sizes that occur in proportion to `weights`; a size may be listed twice.

        Raises ValueError for a size below one packet or a negative weight.
        """
        listed = np.asarray(sizes, dtype=np.int64).ravel()
        if np.any(listed < 1) or np.any(as_array(weights) < 0.0):
            raise ValueError("a burst has at least one packet and a weight of at least zero")
        each = np.broadcast_to(as_array(weights), listed.shape)
        distinct, index = np.unique(listed, return_inverse=True)
        total = np.bincount(index, weights=each)
        present = total > 0.0
        return cls(distinct[present], (total / total.sum())[present])

    @classmethod
    def of_lengths(
        cls,
        lengths: ArrayLike,
        weights: ArrayLike = 1.0,
        initial_window: int = 2,
        max_window: int | None = None,
    ) -> Self:
        """Bursts of flows whose lengths (packets) occur in proportion to `weights`."""
        listed = np.asarray(lengths, dtype=np.int64).ravel()
        each = np.broadcast_to(as_array(weights), listed.shape)
        parts = list(_rounds(listed, each, initial_window, max_window))
        sizes = np.concatenate([size for size, _ in parts])
        return cls.given(sizes, np.concatenate([weight for _, weight in parts]))

    @property
    def mean(self) -> float:
        """E[X], packets."""
        return self.moment(1)

    def moment(self, order: int) -> float:
        """E[X^order]."""
        return float(np.dot(self.probabilities, self.sizes.astype(np.float64) ** order))


SINGLE_PACKETS = Bursts.given([1])
"""Bursts that slow access links have spaced: X = 1 and the queue is M/D/1 (§4, end)."""


def _rounds(
    lengths: Integers, weights: Array, initial_window: int, max_window: int | None
) -> Iterator[tuple[Integers, Array]]:
    """Yield size and weight of every flow's burst, for each round trip.

    Once the receiver's window limits all flows, the full windows are counted at once.
    """
    left, window = lengths, initial_window
    while left.size:
        if max_window is not None and window >= max_window:
            yield from _full_windows(left, weights, max_window)
            return
        yield np.minimum(left, window), weights
        more = left > window
        left, weights, window = left[more] - window, weights[more], 2 * window


def _full_windows(left: Integers, weights: Array, window: int) -> Iterator[tuple[Integers, Array]]:
    """Yield the full windows of the flows' remaining packets, and the rest of each flow."""
    full, rest = np.divmod(left, window)
    yield np.array([window]), np.array([float(np.dot(full, weights))])
    yield rest[rest > 0], weights[rest > 0]
