"""Which connections gain or lose where a link's buffer changes: the steady state's derivative.

At rest F(s, B) = 0, so that ds / dlog B = -J^-1 dF / dlog B; what a class gets follows from both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from forebay.engines.network.slopes import Slopes
from forebay.engines.network.solver import Solution
from forebay.network.errors import refuse
from forebay.network.graph import Floats, Ints

MOST_LINKS = 2000
_STEP = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Elasticities: by how many per cent a mean throughput goes up where a buffer grows by one.

    Attributes
    ----------
    hops : shape (groups,), hops of the connections of each group, fewest first.
    throughput : shape (groups, links used), d log throughput / d log buffer.
    total : shape (links used,), likewise of all connections together.
    """

    hops: Ints
    throughput: Floats
    total: Floats


def sensitivity(solution: Solution) -> Sensitivity:
    """Return how throughputs respond to buffers.

    Raises
    ------
    ScenarioError
        More links than a dense matrix is made for.
    """
    if len(solution.s) > MOST_LINKS:
        wrong = (
            f"{len(solution.s)} links are more than the {MOST_LINKS} of which buffers are weighed"
        )
        raise refuse(wrong, "ask a smaller network")
    balance, flow = solution.balance, solution.flow
    at_rest = balance.slopes(solution.s, solution.state, flow)
    by_buffer = _by_buffer(solution, at_rest)
    change = -_solved(at_rest.dense(), by_buffer.dense())
    hazard = at_rest.hazard[:, None] * change + np.diag(by_buffer.hazard)
    wait = at_rest.wait[:, None] * change + np.diag(by_buffer.wait)
    hops = np.unique(balance.problem.hops)
    got = balance.problem.share * flow.sent_bps * flow.delivered
    groups = np.stack([np.where(balance.problem.hops == each, got, 0.0) for each in hops])
    groups /= np.maximum(groups.sum(axis=1, keepdims=True), 1e-300)
    throughput = np.stack([_of(at_rest, hazard, wait, each) for each in groups])
    return Sensitivity(hops, throughput, _of(at_rest, hazard, wait, got / max(got.sum(), 1e-300)))


def _by_buffer(solution: Solution, at_rest: Slopes) -> Slopes:
    """Return the slopes along the log of each link's own buffer instead of along its state.

    `Windows` and `Slides` count s in their own scale, which may hang on the buffer: it does not at
    rest, for the scale is looked up at the buffer that is asked about in both.
    """
    balance, state = solution.balance, solution.state
    queueing = balance.queueing
    more = queueing.with_buffers(1.0 + _STEP)
    ahead = more.state(solution.s * queueing.scale / more.scale)
    felt = balance.log_hazard(ahead.log_loss) - solution.flow.log_hazard
    return replace(
        at_rest,
        hazard=felt / _STEP * np.exp(solution.flow.log_hazard),
        wait=(ahead.queue - state.queue) / _STEP * balance.packet_s,
        own=(ahead.log_load - state.log_load) / _STEP,
    )


def _solved(matrix: Floats, right: Floats) -> Floats:
    """Solve with the least solution where links at both ends of the same connections are full."""
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    found = np.linalg.lstsq(matrix / scale, right, rcond=1e-12)[0]
    return np.asarray(found / scale[:, None])


def _of(slopes: Slopes, hazard: Floats, wait: Floats, weight: Floats) -> Floats:
    """Return the weighted mean change of the log of what paths deliver, for each buffer."""
    by_loss = slopes.heard @ (weight * slopes.elastic * slopes.by_hazard)
    by_wait = slopes.incidence @ (weight * slopes.elastic * slopes.by_wait)
    total = by_loss @ hazard + by_wait @ wait
    if slopes.packets is not None:
        lost, n = np.zeros(len(slopes.own) + 1), len(slopes.own)
        for row, packets in zip(slopes.paths, slopes.packets, strict=True):
            lost += np.bincount(row, weights=weight * packets, minlength=n + 1)
        total = total - lost[:n] @ hazard
    return np.asarray(total)
