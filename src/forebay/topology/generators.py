"""Generators of networks from a few parameters."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from forebay.topology.adjacency import Adjacency
from forebay.topology.core_links import draw_chords
from forebay.topology.errors import refuse

if TYPE_CHECKING:
    from forebay.scenario import FatTree, Isp, TwoLevel

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
    made = Adjacency()
    cores = _cores(made, table)
    middles = _below(made, cores, table.middles, "middle", MIDDLE, [0] * table.middles)
    _below(made, middles, table.edges, "edge", EDGE, _hosts(table))
    return made


def _hosts(table: TwoLevel) -> list[int]:
    """Return the hosts of each edge router."""
    if table.tail is None:
        return _shared(table.hosts, table.edges, table.spread)
    if table.hosts < table.edges:
        wrong = f"{table.hosts} hosts are fewer than the {table.edges} edge routers"
        raise refuse(wrong, "write more hosts, or leave tail out", "two_level.hosts")
    chance = np.random.default_rng([table.seed, _HOSTS])
    share = (np.arange(table.edges) + 0.5) / table.edges
    weights = chance.permutation((1.0 - share) ** (-1.0 / table.tail))
    return [1 + more for more in _in_proportion(table.hosts - table.edges, weights.tolist())]


def isp(table: Isp) -> Adjacency:
    """Core routers, metro routers at two of them, edge routers at one of those, and hosts."""
    made = Adjacency()
    cores = [made.router(f"core{i}", place=at) for i, at in enumerate(_circle(table.cores))]
    _join(made, cores, table.core)
    metros = []
    for i, at in enumerate(_circle(table.metros, 1.6)):
        metros.append(made.router(f"metro{i}", place=at))
        home = i * table.cores // table.metros
        for core in {cores[home], cores[(home + 1) % table.cores]}:
            made.link(metros[-1], core, MIDDLE)
    _below(made, metros, table.edges, "edge", EDGE, _shared(table.hosts, table.edges, 0.0))
    return made


def fat_tree(table: FatTree) -> Adjacency:
    """k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts."""
    made, half = Adjacency(), table.k // 2
    cores = [made.router(f"core{i}", place=(i / half, 3.0)) for i in range(half * half)]
    for pod in range(table.k):
        tops = [made.router(f"pod{pod}-{i}", place=(pod + i / half, 2.0)) for i in range(half)]
        for i, top in enumerate(tops):
            for core in cores[i * half : (i + 1) * half]:
                made.link(top, core, CORE)
        for i in range(half):
            edge = made.router(f"edge{pod}-{i}", half, (pod + i / half, 1.0))
            for top in tops:
                made.link(edge, top, EDGE)
    return made


def _cores(made: Adjacency, table: TwoLevel) -> list[int]:
    """Add the core's routers and links, with its chords."""
    cores = _ringed(made, table)
    names = dict(zip((made.names[each] for each in cores), cores, strict=True))
    for chord in table.chords:
        here, _, there = chord.partition("->")
        unknown = [name for name in (here, there) if name not in names]
        if unknown or here == there:
            wrong = f"{chord!r} does not join two core routers"
            raise refuse(wrong, 'write two of their names, "A->B"', "two_level.chords")
        made.link(names[here], names[there], CORE)
    if table.core_links is not None:
        joined = [
            (cores.index(a), cores.index(b)) for a, b in zip(made.source, made.target, strict=True)
        ]
        chance = np.random.default_rng([table.seed, _CHORDS])
        for a, b in draw_chords(len(cores), joined, table.core_links, table.core_diameter, chance):
            made.link(cores[a], cores[b], CORE)
    return cores


def _ringed(made: Adjacency, table: TwoLevel) -> list[int]:
    if table.core != "abilene":
        cores = [made.router(f"core{i}", place=at) for i, at in enumerate(_circle(table.cores))]
        _join(made, cores, table.core)
        return cores
    if table.cores != 11:
        wrong = f"Abilene has 11 core routers, not {table.cores}"
        raise refuse(wrong, 'leave cores out, or write core = "ring"', "two_level.cores")
    data = abilene()
    known = {name: made.router(name, place=tuple(at)) for name, at in data["places"].items()}
    for here, there in data["links"]["between"]:
        made.link(known[here], known[there], CORE)
    return list(known.values())


@cache
def abilene() -> dict[str, Any]:
    """Return the shipped data: positions and links of Abilene's core."""
    return tomllib.loads(files(__package__).joinpath("abilene.toml").read_text("utf-8"))


def _join(made: Adjacency, cores: list[int], how: str) -> None:
    n = len(cores)
    if how == "mesh":
        pairs = {(i, j) for i in range(n) for j in range(i)}
    else:
        steps = (1, n // 3) if how == "chords" else (1,)
        pairs = {(max(i, j), min(i, j)) for i in range(n) for s in steps for j in ((i + s) % n,)}
    for i, j in sorted(pairs):
        if i != j:
            made.link(cores[j], cores[i], CORE)


def _below(
    made: Adjacency, above: list[int], count: int, name: str, link_class: str, hosts: list[int]
) -> list[int]:
    """Distribute routers evenly below others, and place them around those for a drawing."""
    added = []
    for i in range(count):
        top = i * len(above) // count
        fan = i - -(-top * count // len(above))
        width = max(count // len(above), 1)
        angle = 2 * math.pi * (fan + 0.5 * (top % 2)) / (width + 1)
        x, y = made.place[above[top]]
        reach = 2.2 if link_class == MIDDLE else 0.8
        at = (x + reach * math.cos(angle), y + reach * math.sin(angle))
        added.append(made.router(f"{name}{i}", hosts[i], at))
        made.link(added[-1], above[top], link_class)
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
