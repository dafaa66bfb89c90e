"""Find the buffer of acceptable loss in a few runs above the answer."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import TYPE_CHECKING

from forebay.search.acceptable_loss import (
    ACCEPTABLE,
    guess,
    is_acceptable,
    loss_value,
)
from forebay.search.problem import most_by_delay, square_root_rule

if TYPE_CHECKING:
    from forebay.search.evaluations import Evaluation
    from forebay.search.evaluator import Evaluator

_MOST_RUNS = 6
_NEAR = 1.1
_MARGIN = sqrt(_NEAR)
_FLOOR = 1e-6


def look_above(evaluator: Evaluator, there: Evaluation) -> None:
    """Find a buffer of acceptable loss above ``there``, then close in on the smallest one.

    Where there is none, and no goal limits the delay, the size of the square-root rule is tried.
    """
    low = there.packets
    if not _acceptable(evaluator, low) and not _reached(evaluator, low):
        return
    if not _acceptable(evaluator, low) and most_by_delay(evaluator.problem) is None:
        rule = square_root_rule(evaluator.problem.scenario)
        if rule > low and rule not in evaluator.done:
            _ran(evaluator, rule)
    for _ in range(_MOST_RUNS):
        enough = _acceptable(evaluator, low)
        if not enough:
            return
        below = max([b for b in evaluator.done if b < enough[0]], default=low)
        if enough[0] <= max(below * _NEAR, below + 1):
            return
        if not _ran(evaluator, _between(evaluator, below, enough[0])):
            return


def _reached(evaluator: Evaluator, low: int) -> bool:
    """Try the buffer that the law gives, then the largest; False if the engine refuses one."""
    top = evaluator.done[max(evaluator.done)]
    limit = evaluator.problem.limit
    law = guess(evaluator.problem.scenario, top.packets, loss_value(top.outcome))
    wanted = {min(round(_MARGIN * law), limit), limit}
    for packets in sorted(b for b in wanted if b > top.packets):
        if not _ran(evaluator, packets):
            return False
        if _acceptable(evaluator, low):
            return True
    return True


def _between(evaluator: Evaluator, lossy: int, enough: int) -> int:
    """Return a buffer slightly above the crossing of the bound, or just below ``enough``.

    Loss falls as a power of the window, which is the packets in path and buffer (`laws.loss`).
    """
    path, done = evaluator.problem.scenario.bdp_packets, evaluator.done
    ends = [
        (log(path + b), log(max(loss_value(done[b].outcome), _FLOOR) / ACCEPTABLE))
        for b in (lossy, enough)
    ]
    share = ends[0][1] / max(ends[0][1] - ends[1][1], _FLOOR)
    window = ends[0][0] + min(max(share, 0.1), 0.9) * (ends[1][0] - ends[0][0])
    packets = _MARGIN * (exp(window) - path)
    if packets * _MARGIN > enough:
        packets = enough / _NEAR * 1.01
    return max(lossy + 1, min(enough - 1, round(packets)))


def _ran(evaluator: Evaluator, packets: int) -> bool:
    """Try a buffer; False if the engine refuses it, because the answer does not need it."""
    try:
        evaluator.at(packets)
    except Exception as error:
        if getattr(error, "exit_status", None) is None:  # a bug, and no refusal
            raise
        return False
    return True


def _acceptable(evaluator: Evaluator, low: int) -> list[int]:
    """Return the evaluated buffers above ``low`` with acceptable loss, sorted."""
    done = evaluator.done
    return sorted(b for b, each in done.items() if b > low and is_acceptable(each.outcome))
