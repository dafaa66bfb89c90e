"""Whether the loss at the answer is usable, and which buffer would make it usable.

A buffer that keeps a link busy may lose one packet in seven: without a goal on the loss, nothing
in the question forbids it. The bound comes from Cisco's design rules for interactive voice and
for interactive video: no more than 1 % of the packets (Cisco Press, QoS Basics, step 1,
informit.com article 352991). It applies to the traffic most sensitive to loss. It only causes a
warning, and does not change the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log, sqrt
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
_MARGIN = sqrt(_NEAR)
_FLOOR = 1e-6


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
    """Find a usable buffer, then close in on the smallest one."""
    if not _tried(question, low) and not _reached(question, low):
        return
    for _ in range(_MOST_RUNS):
        usable = _tried(question, low)
        if not usable:
            return
        below = max([b for b in question.trials.done if b < usable[0]], default=low)
        if usable[0] <= max(below * _NEAR, below + 1):
            return
        if not _played(question.trials, _between(question, below, usable[0])):
            return


def _reached(question: Question, low: int) -> bool:
    """Try the buffer that the law gives, then the largest; False if the engine refuses one."""
    top = question.trials.done[max(question.trials.done)]
    path, limit = question.scenario.bdp_packets, question.limit
    law = (path + top.packets) * sqrt(_value(top) / USABLE_LOSS) - path
    wanted = {min(round(_MARGIN * law), limit), limit}
    for packets in sorted(b for b in wanted if b > top.packets):
        if not _played(question.trials, packets):
            return False
        if _tried(question, low):
            return True
    return True


def _between(question: Question, lossy: int, usable: int) -> int:
    """Return a buffer slightly above the crossing of the usable loss, or just below ``usable``.

    Loss falls as a power of the window, which is the packets in path and buffer (`laws.loss`).
    """
    path, done = question.scenario.bdp_packets, question.trials.done
    ends = [
        (log(path + b), log(max(_value(done[b]), _FLOOR) / USABLE_LOSS)) for b in (lossy, usable)
    ]
    share = ends[0][1] / max(ends[0][1] - ends[1][1], _FLOOR)
    window = ends[0][0] + min(max(share, 0.1), 0.9) * (ends[1][0] - ends[0][0])
    packets = _MARGIN * (exp(window) - path)
    if packets * _MARGIN > usable:
        packets = usable / _NEAR * 1.01
    return max(lossy + 1, min(usable - 1, round(packets)))


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
