"""To the steady state: each link corrects its loss by its overload, then Newton's method converges.

docs/explanation/network.md has the potential that bounds the steps. Near a full link the hazard of
a loss is convex in s and the residual nearly linear in it: a step changes the hazard, not s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forebay.engines.fixed_point.balance import Balance, Flow
from forebay.engines.fixed_point.queueing import Queueing, State
from forebay.progress import Progress, enter
from forebay.topology.graph import Floats, Ints

_PART = 0.3
_USUAL_SLOPE = 0.5  # d log rate / d log loss without timeouts
_FAR = 0.1  # residual of log load, root mean square
_DELAY_PART = 0.7
_UNFELT = 0.02
_FAR_BELOW = 12.0  # log of a loss that is negligible next to the others on the path
_BISECTIONS = 24
_WINDOW = 5  # steps over which the residual must fall
_STALLED, _SLOW = 0.9, 0.7  # to less than this far away; near, where Newton's method is quicker


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A state of all links, its flow and the residual of the equations."""

    s: Floats
    state: State
    flow: Flow
    left: Floats

    @property
    def largest(self) -> float:
        """Largest absolute residual, or infinity if one is NaN."""
        size = float(np.max(np.abs(self.left), initial=0.0))
        return size if np.isfinite(size) else np.inf

    @classmethod
    def of(cls, balance: Balance, s: Floats) -> Point:
        """Return the point of the state s."""
        state = balance.queueing.state(s)
        flow = balance.flow(state)
        return cls(s, state, flow, balance.left(state, flow))


def approach(
    balance: Balance, start: Floats | None, steps: int, progress: Progress | None = None
) -> Floats:
    """Return a state near the steady state, from ``start`` or from each link's fair share."""
    links = _Links(balance)
    s = links.fair() if start is None else np.array(start, dtype=np.float64)
    enter(progress, "first state")
    best, least = _approached(links, s, steps, progress, own_slopes=False)
    if least < _FAR:
        return best
    # At such high losses rates fall faster than their root, and the usual steps oscillate.
    enter(progress, "first state by own slopes")
    slower, size = _approached(links, s, 2 * steps, progress, own_slopes=True)
    return slower if size < least else best


def _approached(
    links: _Links, s: Floats, steps: int, progress: Progress | None, *, own_slopes: bool
) -> tuple[Floats, float]:
    """Return the best state in `steps` steps, and its residual, root mean square.

    Ends early if a large residual does not fall, and by own slopes if a small one falls slowly.
    """
    best, least, balance, had = s, np.inf, links.balance, [np.inf] * _WINDOW
    for step in range(steps):
        if progress is not None:
            progress(step / steps)
        here = Point.of(balance, s)
        size = _mean_size(here.left) if len(s) else 0.0
        if size < least:
            best, least = s, size
        if least > had[-_WINDOW] * (_STALLED if least > _FAR else _SLOW if own_slopes else 1.0):
            break
        had.append(least)
        s = links.moved(here, own_slopes=own_slopes)
    return best, least


class _Links:
    def __init__(self, balance: Balance) -> None:
        self.balance = balance
        self.empty = np.zeros(len(balance.used))
        self.least_log_loss = balance.queueing.log_loss(self.empty)

    def fair(self) -> Floats:
        """Return the state in which each link has the loss that its fair share needs."""
        problem, used = self.balance.problem, self.balance.used
        bdp = problem.graph.rate_bps[used] * problem.link_rtt_s[used] / (8 * problem.packet_bytes)
        window = np.maximum(bdp / np.maximum(problem.flows[used], 1.0), 1.0)
        log_loss = np.minimum(np.log(1.5) - 2.0 * np.log(window), -1.0)
        log_loss = np.maximum(log_loss, self.least_log_loss + 1.0)
        return self.at_loss(log_loss, np.arange(len(used)))

    def at_loss(self, log_loss: Floats, links: Ints) -> Floats:
        """Return s >= 0 at which these links have this loss."""
        wanted = np.maximum(log_loss, self.least_log_loss + 1e-9)[links]
        return at_loss(self.balance.queueing.only(links), wanted)

    def moved(self, here: Point, *, own_slopes: bool) -> Floats:
        """Return the next state; ``own_slopes`` uses each link's slope, not the usual one."""
        s, state, flow, left = here.s, here.state, here.flow, here.left
        felt, usual, slope = self._felt(s, flow)
        steep: Floats | float = _USUAL_SLOPE
        if own_slopes:  # -(d log rate / d log loss) at each link
            sent = self.balance.problem.share * flow.sent_bps
            answers = self.balance.incidence @ (sent * np.abs(self.balance.by_loss(flow)))
            whole = np.maximum(self.balance.incidence @ sent, 1e-300)
            steep = np.maximum(answers / whole, _USUAL_SLOPE)
        load = np.log(flow.carried_bps / self.balance.rate_bps)
        full = s > 0.0
        by_loss = state.log_loss + _PART * np.clip(left, -2.0, 2.0) / steep / np.maximum(felt, 0.3)
        unfelt = full & ((felt < _UNFELT) | (by_loss < usual - _FAR_BELOW))
        waking = ~full & (load > 0.0)
        queue_moves = unfelt | waking
        target = np.where(queue_moves, usual - 2.0 + 2.0 * np.clip(left, -2.0, 2.0), by_loss)
        at_loss = s.copy()  # only for links that have or soon get a queue; most have none
        moving = np.flatnonzero(full | waking)
        at_loss[moving] = self.at_loss(target, moving)
        at_delay = np.maximum(s, 0.0) + _DELAY_PART * left / slope
        # A queue rises by its delay until its loss matters; it falls by its delay only.
        rising = np.minimum(at_delay, np.maximum(at_loss, s))
        new = np.where(waking | (unfelt & (left > 0.0)), rising, at_delay)
        empties = by_loss < self.least_log_loss  # less loss than with an empty queue
        felt_ones = np.where(empties, load, at_loss)
        new = np.where(full & ~unfelt, felt_ones, np.where(queue_moves, new, load))
        return np.where(new <= 0.0, np.minimum(load, -1e-6), new)

    def _felt(self, s: Floats, flow: Flow) -> tuple[Floats, Floats, Floats]:
        """Return means weighted by path rates: the link's share of their loss, the log of that
        loss, and the decrease of their log rate by delay, per unit of s."""
        balance = self.balance
        sent = balance.problem.share * flow.sent_bps
        weights = (sent, sent * flow.log_loss, sent / flow.rtt_s, sent * np.exp(-flow.log_total))
        sums = balance.incidence @ np.stack(weights, axis=1)
        whole, usual, quicker, by_total = sums.T
        whole = np.maximum(whole, 1e-300)
        above = np.maximum(s, 0.0)
        step = 1e-4
        more = balance.queueing.state(above + step).queue - balance.queueing.state(above).queue
        slope = np.maximum(more / step * balance.packet_s * quicker / whole, 1e-9)
        return by_total * np.exp(flow.log_hazard) / whole, usual / whole, slope


def at_loss(queueing: Queueing, log_loss: Floats) -> Floats:
    """Return s >= 0 at which the log loss is `log_loss` (at most -0.1), by bisection."""
    wanted = np.minimum(log_loss, -0.1)
    low, high = np.zeros(len(wanted)), queueing.most()
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = queueing.log_loss(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


_LEAST_SLOPE = 1e-7  # below it no rate responds to the link, and its step is only bounded
_MOST_DAMPING = 0.1
_FARTHEST = 2.0  # largest step of a hazard, in units of whole paths' hazards
_TRIES, _SHORTER = 6, 0.4
_WARIER, _BOLDER = 4.0, 0.5  # factors of the damping after a too long step and a full step
_PAST = 0.5  # of the initial slope: how far beyond the minimum a step may end
_NEARER = 0.7  # of the residual norm: a step that leaves less is not too long
_FELT, _WAKING = 1e-2, 0.1  # of the hazard of whole paths
_FALLEN = 0.1  # a step reduces a hazard at most to this share
_STRAIGHT = 0.1  # of a hazard: for smaller changes, s and hazard are equivalent
_LEAST_HAZARD = 1e-15
_CLOSE = 3e-3  # of the residual: below it a larger norm vanishes in the next step
_EMPTY = 1e-5  # s of a queue whose loss is too high even when it is empty
_ROUNDING = 1e-9  # below it a step that does not halve the residual is the last


def descend(
    balance: Balance,
    s: Floats,
    tolerance: float,
    most: int,
    progress: Callable[[float], None] | None = None,
) -> tuple[Point, int]:
    """Step until the largest residual is below the tolerance; return the best point and steps."""
    here, caution, steps = Point.of(balance, s), 1.0, 0
    best = here
    while best.largest > tolerance and steps < most:
        step = _Step(balance, here, caution)
        # Caution beyond what the largest damping needs would only delay its fall.
        caution = min(caution, _MOST_DAMPING / max(_mean_size(here.left), 1e-12))
        for tried in range(_TRIES):  # shortened if the full step is too long
            here = Point.of(balance, step.to(step.part * _SHORTER**tried))
            if not step.is_too_far(here):
                break
        caution = max(1.0, caution * (_WARIER if tried else _BOLDER))
        steps += 1
        no_nearer = here.largest > 0.5 * best.largest
        best = min(best, here, key=lambda point: point.largest)
        if no_nearer and best.largest < _ROUNDING:
            break
        done = min(0.99, max(0.0, -np.log10(max(best.largest, 1e-12)) / 12.0))
        enter(progress, f"solve, step {steps}, residual {best.largest:.1e}", done)
    return best, steps


class _Step:
    """A Newton step from a point.

    Attributes
    ----------
    by_s : shape (links,), the step along s.
    by_hazard : shape (links,), the change of hazards along the tangent.
    usual : shape (links,), hazard of a whole path, weighted by the paths' rates over the link.
    part : share of the step to try first.
    """

    def __init__(self, balance: Balance, here: Point, caution: float) -> None:
        self.balance, self.here = balance, here
        self.hazard = np.exp(here.flow.log_hazard)
        slopes = balance.slopes(here.s, here.state, here.flow)
        own = np.maximum(np.abs(slopes.diagonal()), _LEAST_SLOPE)
        # Damped links that share a loss converge slowly: less damping near the steady state.
        damping = min(_MOST_DAMPING, caution * _mean_size(here.left)) * own
        self.by_s = np.nan_to_num(balance.linear.step(slopes, here.left, damping))
        self.by_hazard = slopes.hazard * self.by_s
        sent = balance.problem.share * here.flow.sent_bps
        weights = (sent, sent * np.exp(here.flow.log_total), sent / here.flow.rtt_s)
        whole, usual, quicker = (balance.incidence @ np.stack(weights, axis=1)).T
        whole = np.maximum(whole, 1e-300)
        self.usual = np.maximum(np.maximum(usual / whole, self.hazard), _LEAST_HAZARD)
        self.by_wait = quicker / whole
        farthest = float(np.max(np.abs(self.by_hazard) / self.usual, initial=0.0))
        self.part = min(1.0, _FARTHEST / max(farthest, 1e-300))

    def to(self, part: float) -> Floats:
        """Return s after a part of the step, so that no queue becomes negative or jumps up."""
        s, along = self.here.s, self.here.s + part * self.by_s
        full = s > 0.0
        felt = full & (self.hazard > _FELT * self.usual)
        bent = np.flatnonzero(felt | ((along > 0.0) & (self.by_s > 0.0)))
        along[bent] = self._along_hazard(bent, along[bent], part)
        woken = 0.2 * self.balance.queueing.start()
        along = np.where(full, along, np.clip(along, s - 1.0, woken))
        return np.where(full & (along < 0.0), -1e-4, along)

    def _along_hazard(self, links: Ints, along: Floats, part: float) -> Floats:
        """Return s at the hazard of the tangent; below a hazard that matters, step along s."""
        s, hazard, usual = self.here.s[links], self.hazard[links], self.usual[links]
        more = part * self.by_hazard[links]
        felt = hazard > _FELT * usual
        wanted = np.where(felt, np.maximum(hazard + more, _FALLEN * hazard), _WAKING * usual)
        # 1 - exp(-h); it is 1 only at a link without connections
        log_loss = np.log(-np.expm1(-np.minimum(wanted, 30.0)))
        there = at_loss(self.balance.queueing.only(links), log_loss)
        bent = np.where(felt, there, np.minimum(along, np.maximum(there, s)))
        straight = felt & ((np.abs(more) < _STRAIGHT * hazard) | (there <= _EMPTY))
        return np.where(straight, along, bent)

    def is_too_far(self, there: Point) -> bool:
        """Whether V rises at the end of the step, more steeply than it fell at the start.

        A price is relative to the paths: a hazard to their hazards, a queue to their RTTs.
        """
        before, after = self.here, there
        hazard = np.exp(after.flow.log_hazard) - self.hazard
        queue = (after.state.queue - before.state.queue) * self.balance.packet_s
        price = hazard / self.usual + queue * self.by_wait
        fell = float(self._lacking(before) @ price)
        falls = float(self._lacking(after) @ price)
        nearer = np.linalg.norm(after.left) < _NEARER * np.linalg.norm(before.left)
        return not nearer and not after.largest < _CLOSE and not falls > -_PAST * abs(fell)

    def _lacking(self, at: Point) -> Floats:
        """Return the load by connections minus the load of the links' states, bit/s."""
        balance = self.balance
        carried = balance.rate_bps * np.exp(at.state.log_load)
        return np.asarray(balance.count * (at.flow.carried_bps - carried))


def _mean_size(left: Floats) -> float:
    return float(np.sqrt(np.mean(left * left)))
