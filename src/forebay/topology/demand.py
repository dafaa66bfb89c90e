"""Traffic demand: the gravity model of paper C (slide 8), or a given matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forebay.topology.errors import refuse
from forebay.topology.graph import Floats, Graph, Ints

_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of routers and their share of the connections; shares sum to 1.

    ``drawn`` means that they are a sample of more pairs, by weight.
    """

    source: Ints
    target: Ints
    share: Floats
    drawn: bool = False


def pairs(graph: Graph, most: int) -> Pairs:
    """Return at most ``most`` pairs of a network.

    A router's weight is its number of hosts, a pair's weight is the product of both (slide 8).
    Connections between hosts of one router are omitted: slide 19 has none of two hops.
    """
    if graph.demands is not None:
        source, target, weight = graph.demands
        return Pairs(source, target, weight / weight.sum())
    with_hosts = np.flatnonzero(graph.hosts > 0)
    if len(with_hosts) < 2:
        wrong = "fewer than two routers have hosts"
        raise refuse(wrong, "write hosts for two at least", "nodes")
    if len(with_hosts) * (len(with_hosts) - 1) > most:
        return _drawn(graph, with_hosts, most)
    here, there = np.meshgrid(with_hosts, with_hosts, indexing="ij")
    apart = here != there
    source, target = here[apart], there[apart]
    weight = graph.hosts[source].astype(np.float64) * graph.hosts[target]
    return Pairs(source, target, weight / weight.sum())


def _drawn(graph: Graph, with_hosts: Ints, most: int) -> Pairs:
    """Draw pairs by weight; each end alone follows the hosts closely (systematic sampling)."""
    random = np.random.default_rng(_SEED)
    ends = np.cumsum(graph.hosts[with_hosts], dtype=np.float64)
    comb = (np.arange(most) + 0.5) / most * ends[-1]
    source = with_hosts[np.searchsorted(ends, comb)]
    target = source[random.permutation(most)]
    apart = source != target
    if not apart.any():
        wrong = f"{most} drawn pairs are all of one router with itself"
        raise refuse(wrong, "write more, or leave it out", "max_pairs")
    both = np.stack([source[apart], target[apart]])
    key, times = np.unique(both[0] * len(graph.names) + both[1], return_counts=True)
    return Pairs(key // len(graph.names), key % len(graph.names), times / times.sum(), drawn=True)
