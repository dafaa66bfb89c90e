"""Whether the loss at the answer is acceptable, and which buffer would make it so.

A buffer that keeps a link busy may lose one packet in seven: without a goal on the loss, nothing
in the question forbids it. The bound comes from Cisco's design rules for interactive voice and
for interactive video: no more than 1 % of the packets (Cisco Press, QoS Basics, step 1,
informit.com article 352991). It is about real-time traffic, which does not send again what is lost:
if there is any, its loss decides, else that of the link and of all classes. It only causes a
warning, and does not change the least. Each strategy looks for the buffer in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import LossWarning
from forebay.scenario import OPEN_LOOP_KINDS
from forebay.search.goals import Goal, GoalKind

if TYPE_CHECKING:
    from forebay.outcome import Metric, Outcome
    from forebay.scenario import Scenario
    from forebay.search.evaluations import Evaluation, Evaluations

ACCEPTABLE = 0.01
SOURCE = "Cisco's design rule for interactive voice and video"


def loss_warning(
    scenario: Scenario,
    evaluations: Evaluations,
    there: Evaluation,
    look: Callable[[Evaluation], None] | None = None,
) -> LossWarning | None:
    """Return the warning; None if not needed.

    Also None if the engine does not report the loss, or if the scenario sets a goal on the link's
    loss, because the operator then defines what is acceptable.

    Parameters
    ----------
    look : adds evaluations above ``there`` until one has an acceptable loss; without it those that
        there are have to do.
    """
    if not is_due(scenario, there.outcome):
        return None
    if look is not None:
        look(there)
    return _warning(evaluations, there)


def is_due(scenario: Scenario, outcome: Outcome) -> bool:
    """Whether the loss is not acceptable, and the scenario does not define what is."""
    return scenario.goals.loss_rate is None and not is_acceptable(outcome)


def _warning(evaluations: Evaluations, there: Evaluation) -> LossWarning:
    """Return the warning at a buffer, from all evaluated buffers."""
    name, loss = worst_loss(there.outcome)
    assert loss is not None, "no warning is due where no loss is known"
    above = [each for b, each in evaluations.sorted() if b > there.packets]
    last = above[-1] if above else there
    enough = next((each for each in above if is_acceptable(each.outcome)), None)
    missed = () if enough is None else enough.not_met(enough.goals)
    return LossWarning(
        loss=loss.value,
        of=name,
        usable=ACCEPTABLE,
        source=SOURCE,
        packets=None if enough is None else enough.packets,
        missed=tuple(goal.kind.name for goal in missed),
        largest=last.packets,
        loss_there=loss_value(last.outcome),
    )


def guess(scenario: Scenario, packets: float, loss: float) -> float:
    """Return the buffer of acceptable loss by the law, from the loss at one buffer.

    Loss falls as the square of the window, which is the packets in path and buffer (`laws.loss`).
    """
    path = scenario.bdp_packets
    return (path + packets) * sqrt(loss / ACCEPTABLE) - path


def is_acceptable(outcome: Outcome) -> bool:
    """Whether the link and every class have acceptable loss, as far as the engine reports it."""
    return all(loss.value <= ACCEPTABLE for _, loss in _losses(outcome))


def worst_loss(outcome: Outcome) -> tuple[str, Metric | None]:
    """Return the class with the largest loss rate ("" for the link), and that rate."""
    found = list(_losses(outcome))
    return max(found, key=lambda each: each[1].value) if found else ("", None)


def loss_value(outcome: Outcome) -> float:
    """Return the largest loss rate of the link and of every class; 0 if it is unknown."""
    loss = worst_loss(outcome)[1]
    return 0.0 if loss is None else loss.value


def _losses(outcome: Outcome) -> Iterator[tuple[str, Metric]]:
    """Yield the loss of the link under study, and of each class that crosses no other.

    Of real-time classes alone, if their loss is known.
    """
    minding = [
        (each.name, each.loss_rate)
        for each in outcome.classes
        if each.kind in OPEN_LOOP_KINDS and each.loss_rate is not None
    ]
    if minding and len(outcome.links) == 1:
        yield from minding
        return
    of_link = outcome.links[BOTTLENECK].loss_rate
    if of_link is not None:
        yield "", of_link
    if len(outcome.links) > 1:  # a class's loss may be another link's
        return
    for each in outcome.classes:
        if each.loss_rate is not None:
            yield each.name, each.loss_rate


GOAL = Goal(
    GoalKind("loss_rate", "at most", "increasing", "", lambda seen: worst_loss(seen.outcome)[1]),
    ACCEPTABLE,
)
"""The bound as a goal, which a search can find the buffer of."""
