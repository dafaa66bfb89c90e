"""Newton's method to the minimum of a potential: the length of a step and the curve it follows.

Let h be the links' hazards -log(1 - d), H = A' h the sums over paths, x(H) the rate of a path, and
C r(h) the load of a link in the state whose hazard is h. If only loss regulates, and all paths of a
link are exposed to all of its loss, the residual of the equations, A x(H) - C r(h), is minus the
gradient of

    V(h) = sum over paths of the integral of x from H on  +  sum over links of C integral of r.

x decreases with H and r increases with h, so V is convex. Its minimum is the only steady state
(network utility maximization; Kelly, Maulloo and Tan 1998, Low 2003). Along a Newton step V
decreases as long as the residual times the step is positive. Queues, thinning and exposure change
the gradient only slightly, so its sign still shows whether a step was too long. The norm of the
residual does not show this: it has local minima where links at both ends of the same connections
are full.

A step is solved for in s. A link whose loss matters then moves by the hazard that the step
implies, because the hazard is convex in s, and the residual is nearly linear in the hazard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forebay.engines.fixed_point.approach import at_loss
from forebay.engines.fixed_point.balance import Balance, Flow
from forebay.engines.fixed_point.queueing import State
from forebay.progress import enter
from forebay.topology.graph import Floats, Ints

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


def point(balance: Balance, s: Floats) -> Point:
    """Return the point of the state s."""
    state = balance.queueing.state(s)
    flow = balance.flow(state)
    return Point(s, state, flow, balance.left(state, flow))


def descend(
    balance: Balance,
    s: Floats,
    tolerance: float,
    most: int,
    progress: Callable[[float], None] | None = None,
) -> tuple[Point, int]:
    """Step until the largest residual is below the tolerance.

    Returns
    -------
    the point with the smallest residual, and the steps taken.
    """
    here, caution, steps = point(balance, s), 1.0, 0
    best = here
    while best.largest > tolerance and steps < most:
        here, caution = _next(balance, here, caution)
        steps += 1
        no_nearer = here.largest > 0.5 * best.largest
        best = min(best, here, key=lambda each: each.largest)
        if no_nearer and best.largest < _ROUNDING:
            break
        enter(progress, f"solve, step {steps}, residual {best.largest:.1e}")
        if progress is not None:
            progress(min(0.99, max(0.0, -np.log10(max(best.largest, 1e-12)) / 12.0)))
    return best, steps


def _next(balance: Balance, here: Point, caution: float) -> tuple[Point, float]:
    """Take a step, shortened if the full step is too long; return the next step's caution.

    Caution beyond what the largest damping needs would only delay its fall.
    """
    step = _Step(balance, here, caution)
    for tried in range(_TRIES):
        there = point(balance, step.to(step.part * _SHORTER**tried))
        if not step.is_too_far(there):
            break
    caution = min(caution, _MOST_DAMPING / max(_mean_size(here.left), 1e-12))
    return there, max(1.0, caution * (_WARIER if tried else _BOLDER))


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
        damping = _damping(here.left, caution) * own
        self.by_s = np.nan_to_num(balance.linear.step(slopes, here.left, damping))
        self.by_hazard = slopes.hazard * self.by_s
        sent = balance.problem.share * here.flow.sent_bps
        each = np.stack([sent, sent * np.exp(here.flow.log_total), sent / here.flow.rtt_s], axis=1)
        whole, usual, quicker = (balance.incidence @ each).T
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


def _damping(left: Floats, caution: float) -> float:
    """Reduce damping near the steady state: damped links that share a loss converge slowly."""
    return min(_MOST_DAMPING, caution * _mean_size(left))


def _mean_size(left: Floats) -> float:
    return float(np.sqrt(np.mean(left * left)))
