"""Find the buffer of usable loss, if there is time to search on one of the smaller links.

Loss depends on a flow's window, and so on the packets in path and buffer per flow. On a link with
k times fewer flows, the buffer is k times smaller.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

from forebay.budget.crossing import find
from forebay.budget.curve import LinkCurve, curve_of
from forebay.budget.ladder import Climb, at, predict, ticking
from forebay.budget.timed import OutOfTime
from forebay.budget.whole import as_whole
from forebay.sizing.goals import Goal, GoalKind
from forebay.sizing.usable import USABLE_LOSS, is_due, is_usable, warning, worst_loss

if TYPE_CHECKING:
    from forebay.outcome import LossWarning, Outcome
    from forebay.scenario import Scenario
    from forebay.sizing.question import Question, Trial

_MARGINS = (1.05, 1.1)
"""Multiples of the crossing's upper end to try: rounding makes the whole link slightly other."""
_MORE_LOOKS = 1.5
"""Cost relative to a rung's runs: the buffer may lie far from the first one tried."""
_USABLE = Goal(
    GoalKind("loss_rate", "at most", "up", "", lambda seen: worst_loss(seen.outcome)[1]),
    USABLE_LOSS,
)


def loss_warning(question: Question, state: Climb, there: Trial) -> LossWarning | None:
    """Return the warning of a loss that is not usable; None if the loss is usable."""
    if not is_due(question.scenario, there.outcome):
        return None
    found = warning(question, there)
    if state.path.shrinks_windows or state.stopped:
        return found
    _look(question, state, found.loss)
    return warning(question, there)


def _look(question: Question, state: Climb, loss: float) -> None:
    """Record the buffer of usable loss, found on the largest link for which there is time."""
    state.reserved_s = 0.0
    for rung in state.rungs:
        link = at(state, rung.factor)
        if _MORE_LOOKS * predict(state, link) > state.left_s:
            continue
        curve = curve_of(link, state.engine, state.seeds, jobs=state.jobs, progress=ticking(state))
        curve.goals, least = (_USABLE,), 0.0
        with suppress(OutOfTime):
            least = find(curve, _guess(link, loss, rung.found.packets), curve.limit).high
            _try_above(curve, least)
        usable = [b for b, seen in curve.outcomes.items() if b >= least and is_usable(seen)]
        packets = min(usable, default=max(curve.outcomes, default=0))
        if packets:
            _record(question, curve.outcomes[packets], rung.factor, packets)
        return


def _guess(link: Scenario, loss: float, packets: float) -> int:
    """Return the first buffer to try: loss falls as the window's square (`laws.loss`)."""
    path = link.bdp_packets
    return max(1, round((path + packets) * math.sqrt(loss / USABLE_LOSS) - path))


def _try_above(curve: LinkCurve, least: float) -> None:
    """Simulate buffers slightly above the crossing until one has usable loss."""
    for margin in _MARGINS:
        packets = max(1, min(math.ceil(margin * least), curve.limit))
        if packets not in curve.outcomes:
            curve.fine(packets)
        if is_usable(curve.outcomes[packets]):
            return


def _record(question: Question, outcome: Outcome, factor: float, packets: int) -> None:
    there = math.ceil(packets * factor)
    if factor != 1.0:
        outcome = as_whole(outcome, question.scenario, factor, there)
    question.trials.record(there, outcome)
