"""Moves from a distant state to near the steady state: each link corrects its loss by its overload.

A window is proportional to the root of the loss where losses are few. A link whose connections
lose packets nowhere else therefore converges if its loss is multiplied by the square of its load.
Only a part of that step is taken, because the connections also lose packets elsewhere. Where
timeouts make rates fall faster than that, each link's own slope is used instead. A link whose
loss affects no connection changes its queue instead, by the effect of the queueing delay on the
rates. A link whose queue would become negative is not full. Newton's method then begins at the
state with the smallest residual.
"""

from __future__ import annotations

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
        state = balance.queueing.state(s)
        flow = balance.flow(state)
        left = balance.left(state, flow)
        size = float(np.sqrt(np.mean(left * left))) if len(left) else 0.0
        if size < least:
            best, least = s, size
        if least > had[-_WINDOW] * (_STALLED if least > _FAR else _SLOW if own_slopes else 1.0):
            break
        had.append(least)
        s = links.moved(s, state, flow, left, own_slopes=own_slopes)
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

    def moved(
        self, s: Floats, state: State, flow: Flow, left: Floats, *, own_slopes: bool = False
    ) -> Floats:
        """Return the next state; ``own_slopes`` uses each link's slope, not the usual one."""
        felt, usual, slope = self._felt(s, flow)
        steep = np.maximum(self._slopes(flow), _USUAL_SLOPE) if own_slopes else _USUAL_SLOPE
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

    def _slopes(self, flow: Flow) -> Floats:
        """Return -(d log rate / d log loss) at each link."""
        balance = self.balance
        sent = balance.problem.share * flow.sent_bps
        answers = balance.incidence @ (sent * np.abs(balance.by_loss(flow)))
        return np.asarray(answers / np.maximum(balance.incidence @ sent, 1e-300))


def at_loss(queueing: Queueing, log_loss: Floats) -> Floats:
    """Return s >= 0 at which the log loss is `log_loss` (at most -0.1), by bisection."""
    wanted = np.minimum(log_loss, -0.1)
    low, high = np.zeros(len(wanted)), queueing.most()
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        below = queueing.log_loss(middle) < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
