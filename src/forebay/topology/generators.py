"""Generators of networks from a few parameters."""

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from forebay.scenario import ScenarioError
from forebay.scenario.topology import FatTree, Isp, TwoLevel
from forebay.topology.graph import Adjacency

_MOST_SETS = 2_000_000
"""Sets of chords that are looked at, at most: a few seconds."""
_ENTRIES_AT_ONCE = 3_000_000
Pair = tuple[int, int]


def draw_chords(
    routers: int, joined: Sequence[Pair], links: int, diameter: int | None, chance: Generator
) -> list[Pair]:
    """Draw the links that a graph lacks, each set that fits with the same probability.

    Parameters
    ----------
    joined : the links that it has, both directions or one.
    links : the number that it shall have.
    diameter : the hops between the two routers that are farthest apart; None for any.

    Raises ScenarioError: it has more links already; no set of chords gives that diameter; there are
    too many sets to look at.
    """
    known = {(min(pair), max(pair)) for pair in joined}
    free = [pair for pair in combinations(range(routers), 2) if pair not in known]
    more = links - len(known)
    if not 0 <= more <= len(free):
        raise ScenarioError(
            "topology.core-links", field="topology.two_level.core_links", links=links,
            own=len(known), room=len(free), most=len(known) + len(free),
        )  # fmt: skip
    if diameter is None:
        return [free[i] for i in sorted(chance.choice(len(free), more, replace=False))]
    if comb(len(free), more) > _MOST_SETS:
        field, sets_ = "topology.two_level.core_links", comb(len(free), more)
        raise ScenarioError("topology.too-many-sets", field=field, sets=sets_, chords=more)
    sets = _of_diameter(routers, sorted(known), free, more, diameter)
    if not sets:
        field = "topology.two_level.core_diameter"
        raise ScenarioError("topology.no-such-core", field=field, chords=more, diameter=diameter)
    return list(sets[int(chance.integers(len(sets)))])


def _of_diameter(
    routers: int, known: Sequence[Pair], free: Sequence[Pair], more: int, diameter: int
) -> list[tuple[Pair, ...]]:
    """Return the sets of so many chords with which the graph has exactly that diameter."""
    sets = list(combinations(free, more))
    base = np.eye(routers, dtype=np.int64)
    for a, b in known:
        base[a, b] = base[b, a] = 1
    chords = []
    step = max(1, _ENTRIES_AT_ONCE // routers**2)
    for first in range(0, len(sets), step):
        part = sets[first : first + step]
        fits = _spans(base, part, diameter)
        if diameter > 1:
            fits &= ~_spans(base, part, diameter - 1)
        chords += [part[i] for i in np.flatnonzero(fits)]
    return chords


def _spans(
    base: NDArray[np.int64], sets: Sequence[tuple[Pair, ...]], hops: int
) -> NDArray[np.bool_]:
    """Whether every router reaches every other one in so many hops, shape (sets,)."""
    graphs = np.repeat(base[None], len(sets), axis=0)
    for index, chords in enumerate(sets):
        for a, b in chords:
            graphs[index, a, b] = graphs[index, b, a] = 1
    reached = graphs
    for _ in range(hops - 1):
        reached = np.minimum(reached @ graphs, 1)
    return np.asarray(reached.all(axis=(1, 2)))


_HOSTS, _CHORDS = 1, 2
"""Streams of random numbers."""
CORE, MIDDLE, EDGE = "core", "middle", "edge"
Place = tuple[float, float]


def two_level(table: TwoLevel) -> Adjacency:
    """Paper C's network (slides 12 and 13), with the paper's numbers of nodes.

    11 core, 54 middle and 106 edge routers and 812 hosts, each connected to one router of the level
    above, need 54 + 106 + 812 links, plus 14 between core routers: 986. The slide says 901. A
    connected network of so many nodes has at least 982 links, so both counts cannot be right; with
    727 hosts the number of links would be.
    """
    network = Adjacency()
    cores = _cores(network, table)
    middles = _below(network, cores, table.middles, "middle", MIDDLE, [0] * table.middles)
    _below(network, middles, table.edges, "edge", EDGE, _hosts(table))
    return network


def _hosts(table: TwoLevel) -> list[int]:
    if table.tail is None:
        return _shared(table.hosts, table.edges, table.spread)
    if table.hosts < table.edges:
        raise ScenarioError("topology.few-hosts", field="topology.two_level.hosts", table=table)
    chance = np.random.default_rng([table.seed, _HOSTS])
    share = (np.arange(table.edges) + 0.5) / table.edges
    weights = chance.permutation((1.0 - share) ** (-1.0 / table.tail))
    return [1 + more for more in _in_proportion(table.hosts - table.edges, weights.tolist())]


def isp(table: Isp) -> Adjacency:
    """Core routers, metro routers at two of them, edge routers at one of those, and hosts."""
    network = Adjacency()
    cores = [network.router(f"core{i}", place=at) for i, at in enumerate(_circle(table.cores))]
    _join(network, cores, table.core)
    metros = []
    for i, at in enumerate(_circle(table.metros, 1.6)):
        metros.append(network.router(f"metro{i}", place=at))
        home = i * table.cores // table.metros
        for core in {cores[home], cores[(home + 1) % table.cores]}:
            network.link(metros[-1], core, MIDDLE)
    _below(network, metros, table.edges, "edge", EDGE, _shared(table.hosts, table.edges, 0.0))
    return network


def fat_tree(table: FatTree) -> Adjacency:
    """k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts."""
    network, half = Adjacency(), table.k // 2
    cores = [network.router(f"core{i}", place=(i / half, 3.0)) for i in range(half * half)]
    for pod in range(table.k):
        tops = [network.router(f"pod{pod}-{i}", place=(pod + i / half, 2.0)) for i in range(half)]
        for i, top in enumerate(tops):
            for core in cores[i * half : (i + 1) * half]:
                network.link(top, core, CORE)
        for i in range(half):
            edge = network.router(f"edge{pod}-{i}", half, (pod + i / half, 1.0))
            for top in tops:
                network.link(edge, top, EDGE)
    return network


def _cores(network: Adjacency, table: TwoLevel) -> list[int]:
    cores = _ringed(network, table)
    names = dict(zip((network.names[core] for core in cores), cores, strict=True))
    for chord in table.chords:
        here, _, there = chord.partition("->")
        unknown = [name for name in (here, there) if name not in names]
        if unknown or here == there:
            raise ScenarioError("topology.chord", field="topology.two_level.chords", value=chord)
        network.link(names[here], names[there], CORE)
    if table.core_links is not None:
        joined = [(cores.index(a), cores.index(b)) for a, b in network.ends]
        chance = np.random.default_rng([table.seed, _CHORDS])
        for a, b in draw_chords(len(cores), joined, table.core_links, table.core_diameter, chance):
            network.link(cores[a], cores[b], CORE)
    return cores


def _ringed(network: Adjacency, table: TwoLevel) -> list[int]:
    if table.core != "abilene":
        cores = [network.router(f"core{i}", place=at) for i, at in enumerate(_circle(table.cores))]
        _join(network, cores, table.core)
        return cores
    if table.cores != 11:
        field = "topology.two_level.cores"
        raise ScenarioError("topology.abilene", field=field, value=table.cores)
    data = abilene()
    known = {name: network.router(name, place=tuple(at)) for name, at in data["places"].items()}
    for here, there in data["links"]["between"]:
        network.link(known[here], known[there], CORE)
    return list(known.values())


@cache
def abilene() -> dict[str, Any]:
    """Return the shipped data: positions and links of Abilene's core."""
    return tomllib.loads(files(__package__).joinpath("abilene.toml").read_text("utf-8"))


def _join(network: Adjacency, cores: list[int], how: str) -> None:
    n = len(cores)
    if how == "mesh":
        pairs = {(i, j) for i in range(n) for j in range(i)}
    else:
        steps = (1, n // 3) if how == "chords" else (1,)
        pairs = {(max(i, j), min(i, j)) for i in range(n) for s in steps for j in ((i + s) % n,)}
    for i, j in sorted(pairs):
        if i != j:
            network.link(cores[j], cores[i], CORE)


def _below(
    network: Adjacency, above: list[int], count: int, name: str, link_class: str, hosts: list[int]
) -> list[int]:
    """Distribute routers evenly below others, and place them around those for a drawing."""
    added = []
    for i in range(count):
        top = i * len(above) // count
        fan = i - -(-top * count // len(above))
        width = max(count // len(above), 1)
        angle = 2 * math.pi * (fan + 0.5 * (top % 2)) / (width + 1)
        x, y = network.place[above[top]]
        reach = 2.2 if link_class == MIDDLE else 0.8
        at = (x + reach * math.cos(angle), y + reach * math.sin(angle))
        added.append(network.router(f"{name}{i}", hosts[i], at))
        network.link(added[-1], above[top], link_class)
    return added


def _shared(total: int, parts: int, spread: float) -> list[int]:
    """Split a number into whole parts from 1 - spread to 1 + spread times the mean, shuffled."""
    stride = next(s for s in range(int(parts * 0.618) or 1, parts + 2) if math.gcd(s, parts) == 1)
    steps = [(i * stride % parts) / max(parts - 1, 1) for i in range(parts)]
    return _in_proportion(total, [1.0 + spread * (2.0 * step - 1.0) for step in steps])


def _in_proportion(total: int, weights: list[float]) -> list[int]:
    """Split a number into whole parts in proportion to weights."""
    scale, given, shares = total / sum(weights), 0.0, []
    for weight in weights:
        before, given = round(given), given + weight * scale
        shares.append(round(given) - before)
    return shares


def _circle(count: int, radius: float = 1.0) -> list[Place]:
    angles = (2 * math.pi * i / count for i in range(count))
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
