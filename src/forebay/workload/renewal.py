"""Events with independent gaps: arrivals of a Poisson process, datagrams, files and thoughts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forebay.workload.spread import PS_PER_S
from forebay.workload.streams import Block, blocks, uniforms

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_AT_ONCE = 1 << 17
"""Numbers drawn together: a draw needs memory for what it keeps, and for a few times this."""


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


@dataclass(frozen=True, slots=True)
class Steps:
    """Some steps of some flows: when each begins, how long it takes, and what belongs to it.

    All arrays have a row a flow. Times beyond the end of the run mean only that they are beyond it.
    """

    flows: _Ints
    begins: _Ints
    parts: tuple[_Ints, ...]


def until(
    end_ps: int, start_ps: _Ints, expected: float, steps: Callable[[Block], tuple[_Ints, ...]]
) -> Iterator[Iterator[Steps]]:
    """Walk through the steps of flows, some flows at a time, each until it has passed the end.

    Parameters
    ----------
    expected
        About how many steps a flow takes; so many flows are taken together that it all fits.
    steps
        Makes of a block of streams a tuple of arrays, a row a flow: first how long each step
        takes, then whatever belongs to it.
    """
    together = int(max(1, min(_AT_ONCE // max(expected, 1), _AT_ONCE // 4)))
    for first in range(0, len(start_ps), together):
        flows = np.arange(first, min(first + together, len(start_ps)))
        yield _walk(end_ps, start_ps, flows, steps)


def _walk(
    end_ps: int, start_ps: _Ints, flows: _Ints, steps: Callable[[Block], tuple[_Ints, ...]]
) -> Iterator[Steps]:
    now = start_ps[flows]
    for block in blocks(flows, _AT_ONCE):
        taken = steps(block)
        after = _after(now, taken[0], end_ps)
        yield Steps(flows, np.concatenate([now[:, None], after[:, :-1]], axis=1), taken)
        now = after[:, -1]
        if not (now < end_ps).any():
            return


def _after(now: _Ints, steps: _Ints, end_ps: int) -> _Ints:
    """Return when each step ends; what is far beyond the end stays there and cannot overflow."""
    far = 2 * end_ps + 1
    rough = now[:, None] + np.cumsum(steps, axis=1, dtype=np.float64)
    exact = now[:, None] + np.cumsum(steps, axis=1)
    return np.where(rough > far, far, exact)
