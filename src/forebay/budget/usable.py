"""Which buffer would keep the loss usable, where time is left to look on one of the links played.

A loss is a matter of a flow's window, and so of what the path and the buffer hold for each flow:
of a link with as many flows fewer, the buffer is as much smaller.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

from forebay.budget.crossing import find
from forebay.budget.curve import Played, play
from forebay.budget.ladder import Climb, at, predict, ticking
from forebay.budget.timed import OutOfTime
from forebay.budget.whole import as_whole
from forebay.sizing.goals import Goal, GoalKind
from forebay.sizing.usable import USABLE_LOSS, is_due, is_usable, warning, worst_loss

if TYPE_CHECKING:
    from forebay.outcome import LossWarning, Outcome
    from forebay.scenario import Scenario
    from forebay.sizing.question import Question, Trial

_NEAR = 1.1
"""Times the crossing of a fitted line, where the loss there is still a little too much."""
_MORE_LOOKS = 1.5
"""Times those of a rung: the buffer may lie far from where the look begins."""
_USABLE = Goal(
    GoalKind("loss_rate", "at most", "up", "", lambda seen: worst_loss(seen.outcome)[1]),
    USABLE_LOSS,
)


def loss_warning(question: Question, state: Climb, there: Trial) -> LossWarning | None:
    """Return the warning of a loss that is not usable; None where none is due."""
    if not is_due(question.scenario, there.outcome):
        return None
    found = warning(question, there)
    if state.path.share != 1.0 or state.stopped:
        return found
    _look(question, state, found.loss)
    return warning(question, there)


def _look(question: Question, state: Climb, loss: float) -> None:
    """Record the buffer of usable loss: on the largest link for which there is time, if any."""
    state.reserved_s = 0.0
    for rung in state.rungs:
        link = at(state, rung.factor)
        if _MORE_LOOKS * predict(state, link) > state.left_s:
            continue
        played = play(link, state.engine, state.seeds, jobs=state.jobs, progress=ticking(state))
        played.goals = (_USABLE,)
        with suppress(OutOfTime):
            _play(played, _guess(link, loss, rung.found.packets))
        usable = [b for b, outcome in played.outcomes.items() if is_usable(outcome)]
        packets = min(usable, default=max(played.outcomes, default=0))
        if packets:
            _record(question, played.outcomes[packets], rung.factor, packets)
        return


def _guess(link: Scenario, loss: float, packets: float) -> int:
    """Return where to look first: the loss falls as the square of the window (`laws.loss`)."""
    path = link.bdp_packets
    return max(1, round((path + packets) * math.sqrt(loss / USABLE_LOSS) - path))


def _play(played: Played, start: int) -> None:
    """Play buffers until one is shown to keep the loss usable, or the largest does not."""
    found = find(played, start, played.limit)
    for wanted in (found.high, _NEAR * found.high):
        packets = max(1, min(math.ceil(wanted), played.limit))
        if packets not in played.outcomes:
            played.fine(packets)
        if is_usable(played.outcomes[packets]):
            return


def _record(question: Question, outcome: Outcome, factor: float, packets: int) -> None:
    there = math.ceil(packets * factor)
    if factor != 1.0:
        outcome = as_whole(outcome, question.scenario, factor, there)
    question.trials.record(there, outcome)
