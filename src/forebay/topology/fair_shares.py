"""Max-min fair rates of a network's connections: about how many packets it carries, in no time."""

from __future__ import annotations

import numpy as np

from forebay.topology.graph import Floats
from forebay.topology.problem import Problem

MOST_ROUNDS = 30
_NO_ROOM = 1e-9  # of a capacity


def fair_rates(problem: Problem, rounds: int = MOST_ROUNDS) -> Floats:
    """Return the bit/s of all connections of each path that respond to loss, shape (paths,).

    Progressive filling: a path whose slowest link is the slowest of all that cross it keeps that
    link's equal share. What is not decided after ``rounds`` gets its share of that round, so that
    links are never overfilled. Traffic that does not respond comes first.
    """
    links, flows = problem.graph.links, problem.share * problem.long_flows
    offered = sum(kind.offered_bps for kind in problem.kinds)
    room = np.append(problem.graph.rate_bps, np.inf)
    room = np.maximum(room - _brought(problem, problem.share * offered), 0.0)
    rate, each, active = np.zeros(len(flows)), np.zeros(len(flows)), flows > 0.0
    for _ in range(rounds):
        if not active.any():
            break
        crossing = _brought(problem, flows * active)
        share = np.full(links + 1, np.inf)
        np.divide(room, crossing, out=share, where=crossing > 0.0)
        each = share[problem.paths].min(axis=0)
        slowest = np.full(links + 1, np.inf)
        for row in problem.paths:
            np.minimum.at(slowest, row[active], each[active])
        settled = slowest >= share * (1.0 - _NO_ROOM)
        at_it = (share[problem.paths] <= each * (1.0 + _NO_ROOM)) & settled[problem.paths]
        done = active & at_it.any(axis=0)
        rate[done] = (flows * each)[done]
        room = np.maximum(room - _brought(problem, np.where(done, rate, 0.0)), 0.0)
        active &= ~done
    rate[active] = (flows * each)[active]
    return rate


def _brought(problem: Problem, amount: Floats) -> Floats:
    """Return what the paths bring to each of an entry's links; nothing beyond the last hop."""
    total = np.zeros(problem.graph.links + 1)
    for row in problem.paths:
        total += np.bincount(row, weights=amount, minlength=len(total))
    total[-1] = 0.0
    total[:-1] /= problem.graph.count
    return total
