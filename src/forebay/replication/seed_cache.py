"""What an engine object has played before, so that a search pays for new seeds only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

CACHE_SIZE = 64

T = TypeVar("T")


class SeedCache(Generic[T]):
    """The latest results by scenario and seed, at most CACHE_SIZE of them."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, int], T] = {}

    def known(self, scenario_sha256: str, seeds: Iterable[int]) -> dict[int, T]:
        """Return what there is of these seeds."""
        keys = {seed: (scenario_sha256, seed) for seed in seeds}
        return {seed: self._results[key] for seed, key in keys.items() if key in self._results}

    def put(self, scenario_sha256: str, seed: int, result: T) -> None:
        """Keep one result; the oldest goes where there are too many."""
        self._results[scenario_sha256, seed] = result
        while len(self._results) > CACHE_SIZE:
            del self._results[next(iter(self._results))]

    def clear(self) -> None:
        """Forget everything."""
        self._results.clear()
