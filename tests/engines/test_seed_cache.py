"""Finished replications are not run again; the progress of parts adds up to the whole."""

from typing import Any

import pytest
from tests.scenarios import scenario

from forebay import _core, engines
from forebay.effort import Effort
from forebay.engines.footprint import TooMuchMemory
from forebay.engines.replication import CACHE_SIZE, SeedCache
from forebay.engines.simulation import runs
from forebay.progress import part
from forebay.scenario import Scenario
from forebay.workload import Workload, draw


def test_results_are_known_by_scenario_and_seed_and_the_oldest_goes_where_there_are_too_many():
    cache = SeedCache[int]()
    for seed in range(CACHE_SIZE + 3):
        cache.put("a", seed, seed)
    known = cache.known("a", range(CACHE_SIZE + 3))
    assert known == {seed: seed for seed in range(3, CACHE_SIZE + 3)}
    cache.put("b", 9, 1)
    assert cache.known("a", [9]) == {9: 9} and cache.known("c", [9]) == {}
    cache.clear()
    assert cache.known("a", [9]) == {}


def test_parts_fill_their_own_share_of_the_whole():
    seen: list[float] = []
    for index in range(2):
        each = part(seen.append, index, 2)
        each(0.5)
        each(1.0)
    wide = part(seen.append, 2, 8, width=4)
    wide(0.5)
    assert seen == [0.25, 0.5, 0.75, 1.0, 0.5]
    assert part(None, 0, 2) is None


def mixed(flows: int = 3, seconds: int = 2) -> Scenario:
    udp = {"kind": "udp", "flows": 2, "load": 0.3, "arrivals": "poisson", "start": "0 s"}
    traffic = [{"flows": flows}, udp]
    return scenario(
        {"link.rate": "5 Mbit/s", "traffic": traffic, "measure.duration": f"{seconds} s"}
    )


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the seeds that are drawn from now on."""
    seeds: list[int] = []

    def noting(scenario: Scenario, seed: int) -> Workload:
        seeds.append(seed)
        return draw(scenario, seed)

    monkeypatch.setattr(runs, "draw", noting)
    return seeds


def test_each_seed_is_drawn_once_for_all_buffers_and_answers_the_same(drawn):
    engine = engines.get("simulation")
    for packets in (10, 20, 40):
        engine.run(mixed().with_buffer(packets), [1, 2])
    engine.run(mixed().with_buffer(20), [1, 2, 3])
    asked, fresh = mixed().with_buffer(30), engines.get("simulation")
    used = engine.run(asked, [1, 2])
    assert drawn == [1, 2, 3]
    again = fresh.run(asked, [1, 2])
    assert (used.links, used.classes) == (again.links, again.classes)


def test_other_traffic_or_another_time_is_drawn_anew(drawn):
    engine = engines.get("simulation")
    for asked in (mixed(), mixed(flows=4), mixed(seconds=3), mixed(seconds=3).with_buffer(7)):
        engine.run(asked, [1])
    assert drawn == [1, 1, 1]


def test_workloads_beyond_their_share_of_the_memory_are_drawn_again(drawn):
    one = draw(mixed(), 1)
    own = one.packets
    assert one.array_bytes > own.at_ps.nbytes + own.bytes.nbytes + one.rtt_ps.nbytes
    assert one.without_own().array_bytes < own.at_ps.nbytes
    draws = runs.Draws(int(1.5 * one.array_bytes / runs.DRAWS_SHARE))
    for seed in (2, 3, 2, 3):
        draws.draw(mixed(), seed)
    assert drawn == [2, 3, 3]


def test_the_oldest_goes_where_all_take_too_much_memory_and_the_latest_stays():
    cache = SeedCache[str](most_bytes=100.0)
    for seed in (1, 2, 3):
        cache.put("a", seed, "some", 40.0)
    assert list(cache.known("a", [1, 2, 3])) == [2, 3]
    assert cache.held_bytes == 80.0
    cache.put("a", 4, "much", 500.0)
    assert list(cache.known("a", [1, 2, 3, 4])) == [4]


def test_replications_that_take_more_than_was_estimated_run_one_at_a_time(monkeypatch):
    at_once: list[int] = []
    simulate = _core.simulate

    def small_machine(made: list[_core.Run], **more: Any) -> list[Any]:
        at_once.append(len(made))
        if len(made) > 1:
            raise TooMuchMemory("two do not fit")
        return simulate(made, **more)

    usual = engines.get("simulation").run(mixed(), [1, 2, 3], Effort(jobs=2))
    monkeypatch.setattr(_core, "simulate", small_machine)
    alone = engines.get("simulation").run(mixed(), [1, 2, 3], Effort(jobs=2))
    assert at_once == [3, 1, 1, 1]
    assert alone.links == usual.links
