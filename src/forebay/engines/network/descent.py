"""Newton's method towards the least of a potential: how far a step goes, and along which curve.

Let h be the links' hazards -log(1 - d), H = A' h the sums over paths, x(H) what a path sends, and
C r(h) what a link carries in the state whose hazard is h. Where loss alone regulates and all on a
link hear all of its loss, what is left of the equations, A x(H) - C r(h), is minus the gradient of

    V(h) = sum over paths of the integral of x from H on  +  sum over links of C integral of r.

x falls with H and r grows with h, so V is convex: its least is the one state at rest (network
utility maximization; Kelly, Maulloo and Tan 1998, Low 2003). Along a Newton step V falls as long
as what is left, times the step, is positive. Queues, thinning and exposure change the gradient by
little, so that its sign still says whether a step went too far, which the size of what is left
does not: that has minima of its own where links at both ends of the same connections are full.

A step is solved for in s, and a link whose loss is felt then moves by the hazard that the step
gives it: the hazard bends upwards along s, and what is left is nearly straight in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forebay.engines.network.approach import at_loss
from forebay.engines.network.balance import Balance, Flow
from forebay.engines.network.linear import newton_step
from forebay.engines.network.queueing import State
from forebay.network.graph import Floats, Ints

_MOST_DAMPING = 0.1
_LEAST_SLOPE = 1e-7  # below it a link answers to nothing
_FARTHEST = 2.0  # of a link's hazard, in those of whole paths
_TRIES, _SHORTER = 6, 0.4
_WARIER, _BOLDER = 4.0, 0.5  # how the damping changes after a step too far, after a whole one
_PAST = 0.5  # of the slope at the beginning: so far beyond the least a step may end
_NEARER = 0.7  # of the norm of what is left: a step that leaves less is no step too far
_FELT, _WAKING = 1e-2, 0.1  # of the hazard of whole paths
_FALLEN = 0.1  # of a hazard: less than that it does not become in one step
_STRAIGHT = 0.1  # of a hazard: less than that along s and along the hazard is the same
_LEAST_HAZARD = 1e-15
_CLOSE = 3e-3  # of what is left: there a longer norm is gone again after the next step
_EMPTY = 1e-5  # s of a queue whose loss is above what is wanted even when it is empty
_ROUNDING = 1e-9  # below it a step that does not halve what is left is the last


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A state of all links, what flows, and what is left of the equations."""

    s: Floats
    state: State
    flow: Flow
    left: Floats

    @property
    def largest(self) -> float:
        """Largest part of what is left; infinite where one is no number."""
        size = float(np.max(np.abs(self.left), initial=0.0))
        return size if np.isfinite(size) else np.inf


def point(balance: Balance, s: Floats) -> Point:
    """Return the state s with what follows from it."""
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
    """Step until the largest part of what is left is below the tolerance.

    Returns
    -------
    the point where it is least, and the steps taken.
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
        if progress is not None:
            progress(min(0.99, max(0.0, -np.log10(max(best.largest, 1e-12)) / 12.0)))
    return best, steps


def _next(balance: Balance, here: Point, caution: float) -> tuple[Point, float]:
    """Take a step, shorter where the whole one goes too far; return the caution of the next."""
    step = _Step(balance, here, caution)
    for tried in range(_TRIES):
        there = point(balance, step.to(step.part * _SHORTER**tried))
        if not step.is_too_far(there):
            break
    return there, max(1.0, caution * (_WARIER if tried else _BOLDER))


class _Step:
    """A Newton step from a point.

    Attributes
    ----------
    by_s : shape (links,), the step along s.
    by_hazard : shape (links,), what it does to hazards along the tangent.
    usual : shape (links,), hazard of a whole path, weighted by what paths send over the link.
    part : how much of the step to try first.
    """

    def __init__(self, balance: Balance, here: Point, caution: float) -> None:
        self.balance, self.here = balance, here
        self.hazard = np.exp(here.flow.log_hazard)
        slopes = balance.slopes(here.s, here.state, here.flow)
        own = np.maximum(np.abs(slopes.diagonal()), _LEAST_SLOPE)
        damping = _damping(here.left, caution) * own
        self.by_s = np.nan_to_num(newton_step(slopes, here.left, damping))
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
        """Return s after so much of the step: no queue jumps below nothing, nor up at once."""
        s, along = self.here.s, self.here.s + part * self.by_s
        full = s > 0.0
        felt = full & (self.hazard > _FELT * self.usual)
        bent = np.flatnonzero(felt | ((along > 0.0) & (self.by_s > 0.0)))
        along[bent] = self._along_hazard(bent, along[bent], part)
        woken = 0.2 * self.balance.queueing.start()
        along = np.where(full, along, np.clip(along, s - 1.0, woken))
        return np.where(full & (along < 0.0), -1e-4, along)

    def _along_hazard(self, links: Ints, along: Floats, part: float) -> Floats:
        """Return s where the hazard is what the tangent says; up to where it is felt, along s."""
        s, hazard, usual = self.here.s[links], self.hazard[links], self.usual[links]
        more = part * self.by_hazard[links]
        felt = hazard > _FELT * usual
        wanted = np.where(felt, np.maximum(hazard + more, _FALLEN * hazard), _WAKING * usual)
        # 1 - exp(-h), which no link but one without connections has at 1
        log_loss = np.log(-np.expm1(-np.minimum(wanted, 30.0)))
        there = at_loss(self.balance.queueing.only(links), log_loss)
        bent = np.where(felt, there, np.minimum(along, np.maximum(there, s)))
        straight = felt & ((np.abs(more) < _STRAIGHT * hazard) | (there <= _EMPTY))
        return np.where(straight, along, bent)

    def is_too_far(self, there: Point) -> bool:
        """Whether V rises again there, more steeply than it fell at the beginning.

        A price is in parts of what paths feel: hazards of theirs, queues of their round trips.
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
        """Return what connections bring beyond what the links' states carry, bit/s."""
        balance = self.balance
        carried = balance.rate_bps * np.exp(at.state.log_load)
        return np.asarray(balance.count * (at.flow.carried_bps - carried))


def _damping(left: Floats, caution: float) -> float:
    """Less near rest: where two links share a loss, what is damped comes home slowly."""
    return min(_MOST_DAMPING, caution * float(np.sqrt(np.mean(left * left))))
