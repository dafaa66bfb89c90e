"""Cores with chords, and hosts that are not spread evenly."""

from itertools import combinations

import numpy as np
import pytest
from tests.refused import refused
from tests.topology.build import distances

from forebay.scenario.topology import TwoLevel
from forebay.topology.generators import draw_chords, two_level


def core_of(table: TwoLevel) -> set[tuple[int, int]]:
    made = two_level(table)
    pairs = zip(made.source, made.target, made.link_class, strict=True)
    return {(min(a, b), max(a, b)) for a, b, kind in pairs if kind == "core"}


def diameter(routers: int, links: set[tuple[int, int]]) -> int:
    """Return the hops between the two farthest routers, by breadth-first search."""
    both = {(str(a), str(b)) for one, other in links for a, b in ((one, other), (other, one))}
    hops = [distances(both, str(start)) for start in range(routers)]
    assert all(len(each) == routers for each in hops), "connected"
    return max(max(each.values()) for each in hops)


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
    free = set(combinations(range(6), 2)) - {(min(pair), max(pair)) for pair in ring}
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
        ({"tail": 1.2, "spread": 0.5}, "tail and spread are both set"),
        ({"core_links": 17, "chords": ["Denver->Chicago"]}, "core_links and chords are both set"),
        ({"core_diameter": 3}, "holds for drawn chords alone"),
    ],
)
def test_what_cannot_be_built_is_refused(fields, says):
    with refused(says):
        two_level(TwoLevel(**fields))  # type: ignore[arg-type]


def test_chords_by_name_are_added():
    named = core_of(TwoLevel(chords=("Denver->Chicago", "Seattle->New York")))
    assert len(named) == 16


@pytest.mark.parametrize("tail", [1.0, 1.2, 3.0])
def test_hosts_have_a_heavy_tail_and_all_are_given(tail):
    made = two_level(TwoLevel(tail=tail, seed=7))
    hosts = sorted(n for n in made.hosts if n)
    assert sum(hosts) == 812 and len(hosts) == 106
    assert hosts[-1] > 8 * hosts[53] if tail <= 1.2 else hosts[-1] > 2 * hosts[53]
