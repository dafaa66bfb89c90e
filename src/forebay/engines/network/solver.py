"""The steady state: Newton's method, held back link by link, with a certificate.

`approach` comes near; then each step solves J ds = F (`linear`). A link moves a part of its
buffer at most, and no queue jumps below nothing in one step: where the links at both ends of the
same connections are full, J hardly tells which of the two must give way, and its solution is long.
Where that does not come to rest, `continuation` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from forebay.engines.network.approach import approach
from forebay.engines.network.balance import Balance, Flow
from forebay.engines.network.continuation import continue_from_wide, evaluate, largest
from forebay.engines.network.errors import NoSteadyState
from forebay.engines.network.linear import newton_step
from forebay.engines.network.queueing import State
from forebay.network.graph import Floats

TOLERANCE = 1e-10
"""Relative residual at which the solver stops."""
ACCEPTED = 1e-9
"""Relative residual above which there is no answer."""

_APPROACH = 30
_MOST_STEPS = 50
_DAMPING = 1e-3
_PART, _LEAST_PART = 0.25, 0.005
_NEARLY = 0.1
_ASTRAY = 20.0
_WORST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A state at rest, over the links that are used, and how well it is at rest.

    Attributes
    ----------
    residual : largest relative difference between what connections bring to a link and what the
        link's state carries.
    conservation : largest |carried by connections - carried by the link| over the capacity.
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
    balance: Balance,
    start: Floats | None = None,
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Find the state at rest.

    Parameters
    ----------
    start : shape (links used,), another state to begin from.

    Raises
    ------
    NoSteadyState
        With the links where most is left.
    """
    begun = time.process_time()
    with np.errstate(over="ignore", under="ignore"):
        s, steps = _newton(balance, approach(balance, start, _APPROACH), progress)
        state, flow, left = evaluate(balance, s)
        if not largest(left) < ACCEPTED:
            s, more = continue_from_wide(balance, newton_step, TOLERANCE, start)
            balance = replace(balance, queueing=balance.queueing.widened(0.0))
            state, flow, left = evaluate(balance, s)
            steps += more
    return _certified(balance, s, state, flow, left, steps, time.process_time() - begun)


def _newton(
    balance: Balance, s: Floats, progress: Callable[[float], None] | None
) -> tuple[Floats, int]:
    buffer, part, steps = 2.0 * balance.queueing.start(), _PART, 0
    state, flow, left = evaluate(balance, s)
    begin = float(np.linalg.norm(left))
    while largest(left) > TOLERANCE and steps < _MOST_STEPS:
        before = float(np.linalg.norm(left))
        if before > max(_ASTRAY * begin, 1.0):
            break
        if steps > _MOST_STEPS / 4 and before > max(0.1 * begin, _NEARLY):
            break
        step = newton_step(balance.slopes(s, state, flow), left, _damping(left))
        s = _moved(s, step, buffer, part)
        state, flow, left = evaluate(balance, s)
        after = float(np.linalg.norm(left))
        steps += 1
        if not after <= 1.5 * before:
            part = max(0.5 * part, _LEAST_PART)
        elif after < before:
            part = min(1.5 * part, _PART)
        if progress is not None:
            progress(min(0.99, max(0.0, -np.log10(max(largest(left), 1e-12)) / 12.0)))
        if largest(left) < ACCEPTED and after > 0.5 * before:
            break  # no better: rounding
    return s, steps


def _damping(left: Floats) -> Floats:
    """Less near rest: where two links share a loss, what is damped comes home slowly."""
    return np.full(len(left), min(_DAMPING, 0.1 * largest(left)))


def _moved(s: Floats, step: Floats, buffer: Floats, part: float) -> Floats:
    """Go a step: down a part of the buffer, or 1 where there is no queue; up likewise."""
    step = np.nan_to_num(step, nan=0.0)
    full = s > 0.0
    down = np.where(full, -part * buffer, -1.0)
    up = np.where(full, part * buffer, np.maximum(-s, 0.0) + 0.1 * buffer)
    new = s + np.clip(step, down, up)
    return np.where(full & (new < 0.0), -1e-4, new)


def _certified(
    balance: Balance, s: Floats, state: State, flow: Flow, left: Floats, steps: int, cpu_s: float
) -> Solution:
    residual = float(np.max(np.abs(np.expm1(left)), initial=0.0))
    if not residual < ACCEPTED:
        worst = np.argsort(-np.abs(np.nan_to_num(left, nan=np.inf)))[:_WORST]
        names = balance.problem.graph.link_names
        raise NoSteadyState(residual, [names[balance.used[each]] for each in worst])
    apart = np.abs(flow.carried_bps / balance.rate_bps - np.exp(state.log_load))
    return Solution(balance, s, state, flow, residual, float(apart.max(initial=0.0)), steps, cpu_s)
