"""What an engine has played is not played again; what is told of a part adds up to the whole."""

from __future__ import annotations

from forebay.progress import part
from forebay.replication.readings import CACHE_SIZE, SeedCache


def test_results_are_known_by_scenario_and_seed() -> None:
    cache = SeedCache[str]()
    cache.put("a", 1, "first")
    cache.put("a", 2, "second")
    cache.put("b", 1, "other")
    assert cache.known("a", [3, 2, 1]) == {2: "second", 1: "first"}
    assert cache.known("c", [1]) == {}
    cache.clear()
    assert cache.known("a", [1, 2]) == {}


def test_the_oldest_goes_where_there_are_too_many() -> None:
    cache = SeedCache[int]()
    for seed in range(CACHE_SIZE + 3):
        cache.put("a", seed, seed)
    known = cache.known("a", range(CACHE_SIZE + 3))
    assert list(known) == list(range(3, CACHE_SIZE + 3))


def test_parts_fill_their_own_share_of_the_whole() -> None:
    seen: list[float] = []
    for index in range(2):
        each = part(seen.append, index, 2)
        assert each is not None
        each(0.5)
        each(1.0)
    wide = part(seen.append, 2, 8, width=4)
    assert wide is not None
    wide(0.5)
    assert seen == [0.25, 0.5, 0.75, 1.0, 0.5]
    assert part(None, 0, 2) is None
