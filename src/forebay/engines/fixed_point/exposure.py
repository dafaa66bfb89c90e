"""Loss by path at a full queue: packets in bursts are lost more often than single packets.

A full drop-tail queue accepts one packet in each packet time of its link: the first to arrive.
Senders whose receivers acknowledge every second packet send two at once (RFC 5681, section 4.2),
and a full queue drops at least one of them. Packets that have crossed a link as slow as this one
arrive a packet time apart, and are dropped only if another packet has taken the free place.

Let m be the number of bursts that arrive in a packet time of a link that is just full, and let a
packet arrive at a uniform time within it. The place is taken with probability t = m' / 2, where m'
excludes what comes through the same previous link, as far as that link is no faster. Of a burst of
b packets the share 1 - (1 - t) / b is lost, and at least one packet of it with probability
t + (1 - t) min(1, b - 1).
"""

from __future__ import annotations

import numpy as np

from forebay.topology.graph import BETWEEN, Floats, Ints
from forebay.topology.problem import Problem


def exposures(problem: Problem, paths: Ints) -> tuple[Floats, Floats]:
    """Return each path's loss relative to the link's, shapes (hops, paths), 0 beyond the last link.

    Parameters
    ----------
    paths : shape (hops, paths), links, ``graph.links`` beyond the last.

    Returns
    -------
    events : loss events per sent packet, over the link's loss rate.
    packets : lost packets per sent packet, over the same; the mean over a link's connections is 1.
    """
    graph = problem.graph
    rate = np.append(graph.rate_bps, np.inf)
    burst = _bursts(mean_burst(problem), rate, paths)
    taken = 0.5 * _others(problem, paths, rate, burst)
    packets = 1.0 - (1.0 - taken) / burst
    events = (taken + (1.0 - taken) * np.minimum(1.0, burst - 1.0)) / burst
    mean = _mean_on(problem.share, paths, packets, graph.links)[paths]
    real = paths < graph.links
    alike = real & (mean < 1e-9)  # one link feeds this one, no faster: all paths are exposed alike
    mean = np.where(mean < 1e-9, 1.0, mean)
    return (
        np.where(alike, 1.0, np.where(real, events / mean, 0.0)),
        np.where(alike, 1.0, np.where(real, packets / mean, 0.0)),
    )


def mean_burst(problem: Problem) -> float:
    """Return the mean packets that senders that respond to loss send at once."""
    kinds = [kind for kind in problem.kinds if kind.control]
    total = sum(kind.flows for kind in kinds)
    return sum(kind.flows * kind.burst for kind in kinds) / total if total else 1.0


def _bursts(first: float, rate: Floats, paths: Ints) -> Floats:
    """Return burst size in packets within one packet time; a slower link before spreads bursts."""
    slowest, made = np.full(paths.shape[1], np.inf), np.empty(paths.shape)
    for hop, row in enumerate(paths):
        made[hop] = 1.0 + (first - 1.0) * np.maximum(0.0, 1.0 - rate[row] / slowest)
        slowest = np.minimum(slowest, rate[row])
    return np.where(np.isfinite(made), made, 1.0)


def _others(problem: Problem, paths: Ints, rate: Floats, burst: Floats) -> Floats:
    """Return the number of bursts of others in a packet time of a full link."""
    n = problem.graph.links
    before = np.vstack([np.full(paths.shape[1], n), paths[:-1]])
    key = paths.astype(np.int64) * (n + 1) + before
    _, place = np.unique(key, return_inverse=True)
    place = place.reshape(paths.shape)
    weight = problem.share / burst
    whole = np.maximum(_sums(paths, np.broadcast_to(problem.share, paths.shape), n + 1), 1e-300)
    every = _sums(paths, weight, n + 1) / whole
    same = _sums(place, weight, int(place.max(initial=0)) + 1)[place] / whole[paths]
    count = np.append(np.where(problem.graph.kind == BETWEEN, 1, problem.graph.count), 1)
    # One of the links of equal hosts is the packet's own; a first link has no previous one.
    real = (before < n) & (paths < n)
    alone = np.zeros(paths.shape)
    alone[real] = np.minimum(1.0, rate[paths[real]] / rate[before[real]]) / count[before[real]]
    return np.asarray(np.maximum(every[paths] - same * alone, 0.0))


def _sums(place: Ints, weight: Floats, length: int) -> Floats:
    total = np.zeros(length)
    for row, each in zip(place, weight, strict=True):
        total += np.bincount(row, weights=each, minlength=length)
    return total


def _mean_on(share: Floats, paths: Ints, value: Floats, n: int) -> Floats:
    whole = np.maximum(_sums(paths, np.broadcast_to(share, paths.shape), n + 1), 1e-300)
    return _sums(paths, share * value, n + 1) / whole
