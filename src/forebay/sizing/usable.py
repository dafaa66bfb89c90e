"""Whether the loss at the answer is usable, and which buffer would make it usable.

A buffer that keeps a link busy may lose one packet in seven: without a goal on the loss, nothing
in the question forbids it. The bound comes from Cisco's design rules for interactive voice and
for interactive video: no more than 1 % of the packets (Cisco Press, QoS Basics, step 1,
informit.com article 352991). It applies to the traffic most sensitive to loss. It only causes a
warning, and does not change the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING

from forebay.outcome import LINK, LossWarning, Verdict

if TYPE_CHECKING:
    from forebay.outcome import Metric, Outcome
    from forebay.scenario import Scenario
    from forebay.sizing.question import Question, Trial, Trials

USABLE_LOSS = 0.01
SOURCE = "Cisco's design rule for interactive voice and video"
_MOST_RUNS = 6
_NEAR = 1.1


def loss_warning(question: Question, there: Trial, *, look: bool = True) -> LossWarning | None:
    """Return the warning, after a short search (``look``) for the buffer; None if not needed.

    Also None if the engine does not report the loss, or if the scenario sets a goal on the link's
    loss, because the operator then defines what is usable.
    """
    if not is_due(question.scenario, there.outcome):
        return None
    if look:
        _search(question, there.packets)
    return warning(question, there)


def is_due(scenario: Scenario, outcome: Outcome) -> bool:
    """Whether the loss is not usable, and the scenario does not define what is."""
    return scenario.goals.loss_rate is None and not is_usable(outcome)


def warning(question: Question, there: Trial) -> LossWarning:
    """Return the warning at a buffer, from all tried buffers."""
    name, loss = worst_loss(there.outcome)
    assert loss is not None, "no warning is due where no loss is known"
    above = [trial for b, trial in sorted(question.trials.done.items()) if b > there.packets]
    last = above[-1] if above else there
    usable = next((trial for trial in above if is_usable(trial.outcome)), None)
    return LossWarning(
        loss=loss.value,
        of=name,
        usable=USABLE_LOSS,
        source=SOURCE,
        packets=None if usable is None else usable.packets,
        missed=() if usable is None else _missed(usable),
        largest=last.packets,
        loss_there=_value(last),
    )


def _search(question: Question, low: int) -> None:
    """Try the largest buffer, then bisect in ratio between a lossy buffer and a usable one."""
    trials = question.trials
    if not _tried(question, low) and not _played(trials, question.limit):
        return
    for _ in range(_MOST_RUNS):
        usable = _tried(question, low)
        if not usable:
            return
        high = usable[0]
        below = max([b for b in trials.done if b < high], default=low)
        if high <= max(below * _NEAR, below + 1):
            return
        if not _played(trials, max(below + 1, min(high - 1, round(sqrt(below * high))))):
            return


def _played(trials: Trials, packets: int) -> bool:
    """Try a buffer; False if the engine refuses it, because the answer does not need it."""
    try:
        trials.at(packets)
    except Exception as error:
        if getattr(error, "exit_status", None) is None:  # a bug, and no refusal
            raise
        return False
    return True


def _tried(question: Question, low: int) -> list[int]:
    """Return the tried buffers above ``low`` with usable loss, sorted."""
    done = question.trials.done
    return sorted(b for b, trial in done.items() if b > low and is_usable(trial.outcome))


def is_usable(outcome: Outcome) -> bool:
    """Whether the link and every class have usable loss, as far as the engine reports it."""
    return all(loss.value <= USABLE_LOSS for _, loss in _losses(outcome))


def worst_loss(outcome: Outcome) -> tuple[str, Metric | None]:
    """Return the class with the largest loss rate ("" for the link), and that rate."""
    found = list(_losses(outcome))
    return max(found, key=lambda each: each[1].value) if found else ("", None)


def _losses(outcome: Outcome) -> Iterator[tuple[str, Metric]]:
    """Yield the loss of the link under study, and of each class that crosses no other."""
    of_link = outcome.links[LINK].loss_rate
    if of_link is not None:
        yield "", of_link
    if len(outcome.links) > 1:  # a class's loss may be another link's
        return
    for each in outcome.classes:
        if each.loss_rate is not None:
            yield each.name, each.loss_rate


def _value(trial: Trial) -> float:
    loss = worst_loss(trial.outcome)[1]
    return 0.0 if loss is None else loss.value


def _missed(trial: Trial) -> tuple[str, ...]:
    return tuple(g.kind.name for g in trial.goals if g.judge(trial.metric(g)) is not Verdict.MET)
