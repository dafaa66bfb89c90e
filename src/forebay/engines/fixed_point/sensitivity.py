"""Derivative of the steady state by a link's buffer: which connections gain, which lose.

In the steady state F(s, B) = 0, so ds / dlog B = -J^-1 dF / dlog B. The derivative of throughputs
follows by the chain rule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from forebay.engines.fixed_point.linear import Slopes, sums
from forebay.engines.fixed_point.solver import Solution
from forebay.topology.graph import Floats, Ints, refuse

MOST_LINKS = 2000
_STEP = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Elasticities: by how many per cent a mean throughput rises if a buffer grows by one per cent.

    Attributes
    ----------
    hops : shape (groups,), hops of the connections of each group, fewest first.
    throughput : shape (groups, links used), d log throughput / d log buffer.
    total : shape (links used,), the same of all connections together.
    """

    hops: Ints
    throughput: Floats
    total: Floats


def sensitivity(solution: Solution) -> Sensitivity:
    """Return how throughputs respond to buffers.

    Raises ScenarioError: the network has more links than the largest dense matrix.
    """
    if len(solution.s) > MOST_LINKS:
        many = f"{len(solution.s)} links are more than the maximum of {MOST_LINKS}"
        raise refuse(f"{many} for sensitivities", "use a smaller network")
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
    """Return the slopes by the log of each link's own buffer instead of by its state.

    The unit of s in `Windows` and `Slides` may depend on the buffer. s is therefore converted to
    the unit of the larger buffer, so that only the buffer changes.
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
    """Solve by least squares: singular if full links carry exactly the same connections."""
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    found = np.linalg.lstsq(matrix / scale, right, rcond=1e-12)[0]
    return np.asarray(found / scale[:, None])


def _of(slopes: Slopes, hazard: Floats, wait: Floats, weight: Floats) -> Floats:
    """Return d log(delivered rate) / d log(buffer), a weighted mean over paths, for each buffer."""
    by_loss = slopes.heard @ (weight * slopes.elastic * slopes.by_hazard)
    by_wait = slopes.incidence @ (weight * slopes.elastic * slopes.by_wait)
    total = by_loss @ hazard + by_wait @ wait
    if slopes.packets is not None:
        lost = sums(slopes.paths, weight * slopes.packets, len(slopes.own) + 1)
        total = total - lost[:-1] @ hazard
    return np.asarray(total)
