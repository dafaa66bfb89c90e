"""Events with independent gaps: arrivals of a Poisson process, datagrams, files and thoughts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from forebay.workload.spread import PS_PER_S
from forebay.workload.streams import uniforms

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def poisson_arrivals(seed: int, name: str, traffic_class: int, rate: float, end_ps: int) -> _Ints:
    """Return the times in [0, end) of a Poisson process of ``rate`` a second.

    A later end adds times behind and changes none before it.
    """
    expected = rate * end_ps / PS_PER_S
    n = int(expected + 8 * expected**0.5) + 16
    while True:
        gaps = exponential_gaps(uniforms(seed, name, traffic_class, n), 1 / rate, end_ps)
        at = np.cumsum(gaps)
        if at[-1] >= end_ps:
            return at[at < end_ps]
        n *= 2


def exponential_gaps(u: _Floats, mean_s: float, most_ps: int) -> _Ints:
    """Return exponential gaps; one that would reach past the run ends is cut to that."""
    gaps: _Ints = np.rint(np.minimum(-np.log1p(-u) * (mean_s * PS_PER_S), most_ps)).astype(np.int64)
    return gaps


def until(
    end_ps: int, start_ps: _Ints, steps: Iterator[tuple[_Ints, ...]]
) -> tuple[_Ints, tuple[_Ints, ...]]:
    """Take blocks of steps until every flow has passed the end of the run.

    Each block is a tuple of arrays of one shape, (flows, width): first how long each step takes,
    then whatever belongs to it. Returns the time at which each step begins, and the tuple with
    all blocks side by side. Times beyond the end mean only that they are beyond it.
    """
    taken: list[tuple[_Ints, ...]] = []
    begins: list[_Ints] = []
    now = start_ps
    while not taken or (now < end_ps).any():
        block = next(steps)
        after = _after(now, block[0], end_ps)
        begins.append(np.concatenate([now[:, None], after[:, :-1]], axis=1))
        taken.append(block)
        now = after[:, -1]
    parts = tuple(np.concatenate(arrays, axis=1) for arrays in zip(*taken, strict=True))
    return np.concatenate(begins, axis=1), parts


def _after(now: _Ints, steps: _Ints, end_ps: int) -> _Ints:
    """Return when each step ends; what is far beyond the end stays there and cannot overflow."""
    far = 2 * end_ps + 1
    rough = now[:, None] + np.cumsum(steps, axis=1, dtype=np.float64)
    exact = now[:, None] + np.cumsum(steps, axis=1)
    return np.where(rough > far, far, exact)
