"""The solver of the steady state. It returns a state only if its residual is small enough.

`approach` finds a state near it, and `descend` converges to it. If that fails, continuation starts
at widely varying queues, which any start solves, and narrows them in stages; its steps are damped
like an implicit Euler step along ds/dt = F (pseudo-transient continuation).
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from forebay.engines.errors import Unsupported
from forebay.engines.fixed_point.approach import _LEAST_SLOPE, Point, approach, at_loss, descend
from forebay.engines.fixed_point.balance import Balance, Flow, make_balance
from forebay.engines.fixed_point.linear import Slopes
from forebay.engines.fixed_point.queueing import State
from forebay.errors import ForebayError
from forebay.progress import Progress, enter
from forebay.scenario import Scenario, ScenarioError, Topology
from forebay.topology import Problem
from forebay.topology.graph import Floats, Ints, sums
from forebay.words import Fact


class NoNetwork(Unsupported):
    """The scenario has no topology, only a single link."""

    def __init__(self) -> None:
        super().__init__("network", Fact("unsupported.single-link"), "topology")
        self.hint = Fact("unsupported.without-network")


def topology_of(scenario: Scenario) -> Topology:
    """Return a scenario's topology. Raises NoNetwork."""
    if scenario.topology is None:
        raise NoNetwork
    return scenario.topology


class NoSteadyState(ForebayError):
    """The solver did not converge.

    Attributes
    ----------
    residual : largest residual of the equations, relative.
    worst : names of the links with the largest residuals.
    """

    exit_status = 3

    def __init__(self, residual: float, worst: Sequence[str]) -> None:
        self.residual, self.worst = residual, tuple(worst)
        super().__init__("no-steady-state", residual=residual, worst=", ".join(worst))


_FIRST_LOG_LOSS = -7.0
_NEAR, _CLOSE = 1e-2, 1e-5
_STAGE_STEPS, _LAST_STEPS = 25, 200
_QUICK = 8
_LEAST_WIDTH = 1e-3
_FELT = -25.0  # log of a hazard


def continue_from_wide(
    balance: Balance,
    tolerance: float,
    start: Floats | None = None,
    progress: Progress | None = None,
) -> tuple[Floats, int]:
    """Return the state at width 0 with the smallest residual reached, and the steps taken."""
    width, part = 1.0, 0.5
    wide = _widened(balance, width)
    losses = np.full(len(wide.used), _FIRST_LOG_LOSS)
    if start is not None:
        losses = np.maximum(balance.queueing.state(start).log_loss, 2.0 * _FIRST_LOG_LOSS)
    here, steps = rest(wide, at_loss(wide.queueing, losses), _NEAR, 2 * _STAGE_STEPS)
    while width > 0.0:
        enter(progress, f"continuation, step {steps}, width {width:.1e}", 1.0 - width)
        narrower = part * width if part * width > _LEAST_WIDTH else 0.0
        next_ = _widened(balance, narrower)
        goal = tolerance if narrower == 0.0 else _NEAR
        most = _LAST_STEPS if narrower == 0.0 else _STAGE_STEPS
        # A link with a queue keeps its loss, a link without one keeps its load.
        kept = at_loss(next_.queueing, wide.queueing.state(here.s).log_loss)
        load = here.s * wide.queueing.below / next_.queueing.below
        new, taken = rest(next_, np.where(here.s > 0.0, kept, load), goal, most)
        steps += taken
        if narrower > 0.0 and new.largest > 10.0 * _NEAR and part < 0.9:
            part = part**0.5  # the stage was too large
            continue
        part = max(part**1.5, 0.2) if taken <= _QUICK else part
        here, width, wide = new, narrower, next_
    return here.s, steps


def rest(balance: Balance, s: Floats, tolerance: float, most: int) -> tuple[Point, int]:
    """Step until the largest |F| is below the tolerance; return the best point and the steps."""
    damping, steps = 1.0, 0
    here = best = Point.of(balance, s)
    while here.largest > tolerance and steps < most:
        slopes = balance.slopes(here.s, here.state, here.flow)
        own = np.maximum(np.abs(slopes.diagonal()), _LEAST_SLOPE)
        damped = damping * own + _LEAST_SLOPE**2
        step = np.nan_to_num(balance.linear.step(slopes, here.left, damped))
        # A step changes a link's rate, loss and state by a small factor at most.
        by_loss = np.maximum(slopes.hazard * np.exp(-here.flow.log_hazard), 1e-9)
        felt = np.where(here.flow.log_hazard > _FELT, 3.0 / by_loss, np.inf)
        limit = np.minimum(np.minimum(1.5 / own, felt), np.maximum(1.0, 0.3 * np.abs(here.s)))
        before = _clipped_norm(here.left)
        here = Point.of(balance, here.s + np.clip(step, -limit, limit))
        damping = 0.3 * damping if _clipped_norm(here.left) < before else min(3.0 * damping, 10.0)
        damping = max(damping, 1e-9)
        if here.largest < _CLOSE:
            damping = min(damping, here.largest)  # undamped, this is a Newton step
        steps += 1
        best = here if here.largest < best.largest else best
    return best, steps


def _clipped_norm(left: Floats) -> float:
    return float(np.linalg.norm(np.clip(np.nan_to_num(left, nan=3.0), -3.0, 3.0)))


def _widened(balance: Balance, width: float) -> Balance:
    return replace(balance, queueing=balance.queueing.widened(width))


TOLERANCE = 1e-10
"""Relative residual at which the solver stops."""
ACCEPTED = 1e-9
"""Relative residual above which the solver raises NoSteadyState."""

_APPROACH = 30
_MOST_STEPS = 160
_WORST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A steady state, over the links that are used, and its residual.

    Attributes
    ----------
    residual : largest relative difference between a link's load by its connections and the load of
        its state.
    conservation : largest |rate of the connections - rate of the link's state| over the capacity.
    """

    balance: Balance
    s: Floats
    state: State
    flow: Flow
    residual: float
    conservation: float
    steps: int
    cpu_s: float


def solve(
    balance: Balance, start: Floats | None = None, progress: Progress | None = None
) -> Solution:
    """Find the steady state.

    ``start``, shape (links used,), is a state to start from; by default each link's fair share.

    Raises NoSteadyState: the solver did not converge.
    """
    begun = time.process_time()
    # Far from the steady state a link may overflow; a NaN counts as an infinite residual.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        near = approach(balance, start, _APPROACH, progress)
        point, steps = descend(balance, near, TOLERANCE, _MOST_STEPS, progress)
        if not point.largest < ACCEPTED:
            s, more = continue_from_wide(balance, TOLERANCE, start, progress)
            balance = _widened(balance, 0.0)
            point = Point.of(balance, s)
            steps += more
    state, flow, left = point.state, point.flow, point.left
    residual = float(np.max(np.abs(np.expm1(left)), initial=0.0))
    if not residual < ACCEPTED:
        worst = np.argsort(-np.abs(np.nan_to_num(left, nan=np.inf)))[:_WORST]
        names = balance.problem.graph.link_names
        raise NoSteadyState(residual, [names[balance.used[place]] for place in worst])
    apart = np.abs(flow.carried_bps / balance.rate_bps - np.exp(state.log_load))
    conservation, cpu_s = float(apart.max(initial=0.0)), time.process_time() - begun
    return Solution(balance, point.s, state, flow, residual, conservation, steps, cpu_s)


def solve_with(
    problem: Problem,
    topology: Topology,
    links: Ints,
    packets: Floats | int,
    progress: Progress | None = None,
) -> Solution:
    """Find the steady state with other buffers before some links of the problem."""
    buffers = problem.buffer_packets.copy()
    buffers[links] = packets
    changed = replace(problem, buffer_packets=buffers)
    return solve(make_balance(changed, topology), progress=progress)


_ALIKE = 1e-6
_SEED = 1


@dataclass(frozen=True, slots=True)
class FixedPoints:
    """Steady states found from random starts.

    Attributes
    ----------
    starts : number of random starts.
    not_converged : number of starts from which the solver did not converge.
    points : number of distinct steady states, including the first solution. Two are distinct if
        a path's rate (relative) or a link's loss rate (absolute) differs by more than 1e-6.
    rate_difference : largest difference of a path's rate, relative to the smaller.
    loss_difference : largest difference of a link's loss rate.
    residual : largest residual of all solutions.
    """

    starts: int
    not_converged: int
    points: int
    rate_difference: float
    loss_difference: float
    residual: float


def fixed_points(first: Solution, starts: int) -> FixedPoints:
    """Solve again from `starts` random states: queues up to the buffer, links from idle to full."""
    random = np.random.default_rng(_SEED)
    balance, points, lost = first.balance, [first], 0
    rate = loss = 0.0
    residual = first.residual
    for _ in range(starts):
        start = balance.queueing.start() * random.uniform(-0.2, 2.0, len(first.s))
        try:
            again = solve(balance, start)
        except NoSteadyState:
            lost += 1
            continue
        rates = [np.log(again.flow.sent_bps) - np.log(other.flow.sent_bps) for other in points]
        losses = [np.exp(again.state.log_loss) - np.exp(other.state.log_loss) for other in points]
        rates_apart = np.expm1(np.abs(rates).max(axis=1, initial=0.0))
        losses_apart = np.abs(losses).max(axis=1, initial=0.0)
        rate, loss = max(rate, float(rates_apart.max())), max(loss, float(losses_apart.max()))
        residual = max(residual, again.residual)
        if np.maximum(rates_apart, losses_apart).min() > _ALIKE:
            points.append(again)
    return FixedPoints(starts, lost, len(points), rate, loss, residual)


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
        raise ScenarioError(
            "topology.sensitivities", field="topology", links=len(solution.s), most=MOST_LINKS
        )
    balance, flow = solution.balance, solution.flow
    at_rest = balance.slopes(solution.s, solution.state, flow)
    by_buffer = _by_buffer(solution, at_rest)
    # By least squares: singular if full links carry exactly the same connections.
    matrix = at_rest.dense()
    scale = np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    change = np.linalg.lstsq(matrix / scale, by_buffer.dense(), rcond=1e-12)[0] / -scale[:, None]
    hazard = at_rest.hazard[:, None] * change + np.diag(by_buffer.hazard)
    wait = at_rest.wait[:, None] * change + np.diag(by_buffer.wait)
    hops = np.unique(balance.problem.hops)
    got = balance.problem.share * flow.sent_bps * flow.delivered
    groups = np.stack([np.where(balance.problem.hops == hop, got, 0.0) for hop in hops])
    groups /= np.maximum(groups.sum(axis=1, keepdims=True), 1e-300)
    throughput = np.stack([_of(at_rest, hazard, wait, group) for group in groups])
    return Sensitivity(hops, throughput, _of(at_rest, hazard, wait, got / max(got.sum(), 1e-300)))


def _by_buffer(solution: Solution, at_rest: Slopes) -> Slopes:
    """Return the slopes by the log of each link's own buffer instead of by its state.

    The unit of s in `Windows` and `Slides` may depend on the buffer. s is therefore converted to
    the unit of the larger buffer, so that only the buffer changes.
    """
    balance, state = solution.balance, solution.state
    queueing = balance.queueing
    more = replace(queueing, buffer=(1.0 + _STEP) * queueing.buffer)
    ahead = more.state(solution.s * queueing.scale / more.scale)
    felt = balance.log_hazard(ahead.log_loss) - solution.flow.log_hazard
    return replace(
        at_rest,
        hazard=felt / _STEP * np.exp(solution.flow.log_hazard),
        wait=(ahead.queue - state.queue) / _STEP * balance.packet_s,
        own=(ahead.log_load - state.log_load) / _STEP,
    )


def _of(slopes: Slopes, hazard: Floats, wait: Floats, weight: Floats) -> Floats:
    """Return d log(delivered rate) / d log(buffer), a weighted mean over paths, for each buffer."""
    by_loss = slopes.heard @ (weight * slopes.elastic * slopes.by_hazard)
    by_wait = slopes.incidence @ (weight * slopes.elastic * slopes.by_wait)
    total = by_loss @ hazard + by_wait @ wait
    if slopes.packets is not None:
        lost = sums(slopes.paths, weight * slopes.packets, len(slopes.own) + 1)
        total = total - lost[:-1] @ hazard
    return np.asarray(total)
