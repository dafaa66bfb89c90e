"""One random stream for each use, so that no draw depends on how much another one took."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

MAX_SEED = 2**64 - 1
_FIRST_BLOCK = 4


def uniforms(seed: int, name: str, traffic_class: int, n: int) -> NDArray[np.float64]:
    """Return n numbers in [0, 1) for one use (``"rtt"``, ``"start"``, …) in one traffic class.

    Made from PCG64's raw words, which NumPy keeps for ever (NEP 19); the methods of its
    Generator may change from version to version.
    """
    return _piece(seed, name, traffic_class, 0, n)


def normals(seed: int, name: str, traffic_class: int, n: int) -> NDArray[np.float64]:
    """Return n standard normal numbers, each from one word, by the inverse of their law."""
    from scipy.special import ndtri  # slow to import; most draws need no normal number

    numbers: NDArray[np.float64] = ndtri(uniforms(seed, name, traffic_class, n) + 2.0**-54)
    return numbers


@dataclass(frozen=True, slots=True)
class Block:
    """Columns of a block of endless streams, one stream a flow; each block is twice as wide.

    A flow's numbers depend neither on how many are taken nor on how many flows follow it, nor on
    the pieces in which they are taken.
    """

    number: int
    columns: range
    flows: NDArray[np.int64]

    def uniforms(self, seed: int, name: str, traffic_class: int) -> NDArray[np.float64]:
        """Return numbers in [0, 1), a row a flow."""
        width, taken = _FIRST_BLOCK << self.number, len(self.columns)
        first, last = int(self.flows[0]), int(self.flows[-1])
        use = f"{name}/{self.number}"
        if taken == width and last - first == len(self.flows) - 1:
            drawn = _piece(seed, use, traffic_class, first * width, len(self.flows) * width)
            return drawn.reshape(len(self.flows), width)
        generator, place = PCG64(_sequence(seed, use, traffic_class)), 0
        rows = np.empty((len(self.flows), taken))
        for row, flow in zip(rows, self.flows.tolist(), strict=True):
            first = flow * width + self.columns.start
            generator.advance(first - place)
            place = first + taken
            row[:] = _uniforms(generator, taken)
        return rows


def blocks(flows: NDArray[np.int64], most: int) -> Iterator[Block]:
    """Yield the endless blocks of some flows, in pieces of about ``most`` numbers."""
    for number in count():
        width = _FIRST_BLOCK << number
        # A few times as many are taken at once rather than row by row, which is slow.
        step = width if width * len(flows) <= 8 * most else max(most // len(flows), _FIRST_BLOCK)
        for first in range(0, width, step):
            yield Block(number, range(first, min(first + step, width)), flows)


def _piece(seed: int, name: str, traffic_class: int, first: int, n: int) -> NDArray[np.float64]:
    generator = PCG64(_sequence(seed, name, traffic_class))
    if first:
        generator.advance(first)
    return _uniforms(generator, n)


def _uniforms(generator: PCG64, n: int) -> NDArray[np.float64]:
    words = generator.random_raw(n)
    return np.asarray(words >> np.uint64(11), dtype=np.float64) * 2.0**-53


def word(seed: int, name: str) -> int:
    """Return one number of 64 bits for a use that keeps its own generator."""
    return int(_sequence(seed, name, 0).generate_state(1, np.uint64)[0])


def _sequence(seed: int, name: str, traffic_class: int) -> SeedSequence:
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed: {seed} is not from 0 to {MAX_SEED}")
    # Python's own hash of a text changes from run to run; this one never does.
    digest = hashlib.sha256(name.encode()).digest()
    key = (*np.frombuffer(digest[:16], dtype="<u4").tolist(), traffic_class)
    return SeedSequence(seed, spawn_key=key)
