"""Results by scenario and seed, so that no replication is made twice."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    pass


CACHE_SIZE = 64


T = TypeVar("T")


class SeedCache(Generic[T]):
    """The latest results by scenario and seed, at most CACHE_SIZE of them.

    Parameters
    ----------
    most_bytes : memory for all of them, but for the latest, which stays.
    """

    def __init__(self, most_bytes: float = math.inf) -> None:
        self._results: dict[tuple[str, int], T] = {}
        self._octets: dict[tuple[str, int], float] = {}
        self._most = most_bytes

    @property
    def held_bytes(self) -> float:
        """Bytes of all of them."""
        return sum(self._octets.values())

    def known(self, scenario_sha256: str, seeds: Iterable[int]) -> dict[int, T]:
        """Return the stored results of these seeds."""
        keys = {seed: (scenario_sha256, seed) for seed in seeds}
        return {seed: self._results[key] for seed, key in keys.items() if key in self._results}

    def put(self, scenario_sha256: str, seed: int, result: T, octets: float = 0.0) -> None:
        """Store a result of about so many bytes; the oldest ones that do not fit are removed."""
        key = (scenario_sha256, seed)
        self._results[key], self._octets[key] = result, octets
        while len(self._results) > 1 and (
            len(self._results) > CACHE_SIZE or self.held_bytes > self._most
        ):
            oldest = next(iter(self._results))
            del self._results[oldest], self._octets[oldest]

    def clear(self) -> None:
        """Remove all results."""
        self._results.clear()
        self._octets.clear()
