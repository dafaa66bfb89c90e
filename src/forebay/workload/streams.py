"""One random stream for each use, so that no draw depends on how much another one took."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

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
    words = PCG64(_sequence(seed, name, traffic_class)).random_raw(n)
    return np.asarray(words >> np.uint64(11), dtype=np.float64) * 2.0**-53


def normals(seed: int, name: str, traffic_class: int, n: int) -> NDArray[np.float64]:
    """Return n standard normal numbers, each from one word, by the inverse of their law."""
    from scipy.special import ndtri  # slow to import; most draws need no normal number

    numbers: NDArray[np.float64] = ndtri(uniforms(seed, name, traffic_class, n) + 2.0**-54)
    return numbers


def blocks(seed: int, name: str, traffic_class: int, flows: int) -> Iterator[NDArray[np.float64]]:
    """Yield endless numbers in [0, 1), a row a flow, in blocks of growing width.

    A flow's numbers depend neither on how many blocks are taken nor on how many flows follow it.
    """
    width, number = _FIRST_BLOCK, 0
    while True:
        drawn = uniforms(seed, f"{name}/{number}", traffic_class, flows * width)
        yield drawn.reshape(flows, width)
        width, number = width * 2, number + 1


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
