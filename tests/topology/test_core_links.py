"""Cores with chords, and hosts that are not spread evenly."""

from itertools import combinations

import numpy as np
import pytest

from forebay.scenario import ScenarioError, TwoLevel
from forebay.topology.generators import draw_chords, two_level


def core_of(table: TwoLevel) -> set[tuple[int, int]]:
    made = two_level(table)
    pairs = zip(made.source, made.target, made.link_class, strict=True)
    return {(min(a, b), max(a, b)) for a, b, kind in pairs if kind == "core"}


def diameter(routers: int, links: set[tuple[int, int]]) -> int:
    """Return the hops between the two farthest routers, by breadth-first search."""
    near: dict[int, set[int]] = {i: set() for i in range(routers)}
    for a, b in links:
        near[a].add(b)
        near[b].add(a)
    most = 0
    for start in near:
        seen, front, hops = {start}, {start}, 0
        while len(seen) < routers:
            front = {other for one in front for other in near[one]} - seen
            assert front, "connected"
            seen, hops = seen | front, hops + 1
        most = max(most, hops)
    return most


def test_abilene_is_as_it_was():
    assert len(core_of(TwoLevel())) == 14 and diameter(11, core_of(TwoLevel())) == 5


@pytest.mark.parametrize("seed", [1, 2, 3, 40])
def test_drawn_chords_give_the_links_and_the_diameter(seed):
    core = core_of(TwoLevel(core_links=17, core_diameter=3, seed=seed))
    assert len(core) == 17 and diameter(11, core) == 3
    assert core > core_of(TwoLevel())


def test_draws_differ_by_seed_and_are_the_same_for_one():
    cores = [core_of(TwoLevel(core_links=17, core_diameter=3, seed=seed)) for seed in (1, 1, 2)]
    assert cores[0] == cores[1] != cores[2]


def test_every_set_that_fits_can_be_drawn():
    """A ring of six and one chord."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    free = [
        pair for pair in combinations(range(6), 2) if pair not in {(min(p), max(p)) for p in ring}
    ]
    fits = {pair for pair in free if diameter(6, {*ring, pair}) == 3}
    drawn = {draw_chords(6, ring, 7, 3, np.random.default_rng(seed))[0] for seed in range(200)}
    assert drawn == fits and fits


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"core_links": 13}, "13 links, where the core has 14"),
        ({"core_links": 56}, "room for 41 more"),
        ({"core_links": 15, "core_diameter": 1}, "no 1 chords make a core"),
        ({"core_links": 30, "core_diameter": 2}, "too many to choose from"),
        ({"chords": ["Denver->Paris"]}, "does not join two core routers"),
        ({"chords": ["Denver->Denver"]}, "does not join two core routers"),
        ({"hosts": 100, "tail": 1.2}, "100 hosts are fewer than the 106 edge routers"),
    ],
)
def test_what_cannot_be_built_is_refused(fields, says):
    with pytest.raises(ScenarioError, match=says):
        two_level(TwoLevel(**fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"tail": 1.2, "spread": 0.5},
        {"core_links": 17, "chords": ["Denver->Chicago"]},
        {"core_diameter": 3},
    ],
)
def test_what_contradicts_itself_is_refused(fields):
    with pytest.raises(ScenarioError):
        TwoLevel(**fields)  # type: ignore[arg-type]


def test_chords_by_name_are_added():
    named = core_of(TwoLevel(chords=("Denver->Chicago", "Seattle->New York")))
    assert len(named) == 16


@pytest.mark.parametrize("tail", [1.0, 1.2, 3.0])
def test_hosts_have_a_heavy_tail_and_all_are_given(tail):
    made = two_level(TwoLevel(tail=tail, seed=7))
    hosts = sorted(n for n in made.hosts if n)
    assert sum(hosts) == 812 and len(hosts) == 106
    assert hosts[-1] > 8 * hosts[53] if tail <= 1.2 else hosts[-1] > 2 * hosts[53]
