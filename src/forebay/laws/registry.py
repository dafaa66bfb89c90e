"""Every law, in the order of their display."""

from collections.abc import Collection
from numbers import Real
from typing import Any

from forebay import plugins
from forebay.laws import burst_law, incast, of_long_flows, short_flows
from forebay.laws.law import Law, LawAnswer
from forebay.scenario import Scenario

BURST_LAWS: tuple[Law, ...] = (short_flows.LAW, short_flows.FULL_LAW, burst_law.LAW)
"""Laws of bursts, which need no long flows and no n."""
LAWS: tuple[Law, ...] = (*of_long_flows(), *BURST_LAWS, incast.LAW)
"""Every law."""


GROUP = "forebay.laws"
_MOST_PACKETS = 1e15  # more than any memory holds
_PATIENCE_S = 10.0  # seconds after which a law is said to hang
_HUNG: set[str] = set()
"""Laws that are not asked again: each call would leave a thread that never ends."""


def answer_of(name: str, law: Law, scenario: Scenario, taken: Collection[str]) -> LawAnswer | None:
    """Return the answer of an entry point's law; None if the law has none to this scenario.

    ``taken`` are the names of the laws before it. Where something is wrong, the answer has no
    number, and says so.
    """
    answer: Any = plugins.NOTHING
    try:
        if name not in _HUNG:
            asked = plugins.Asked(_PATIENCE_S)
            answer = asked.of(lambda _: law.answer_over_range(scenario))
        if answer is plugins.NOTHING:
            _HUNG.add(name)
            wrong = f"has not answered within {_PATIENCE_S:g} s"
        elif law.name in taken:
            wrong = f"has the name of another law, {law.name}"
        else:
            wrong = _wrong(answer)
    except (Exception, SystemExit) as error:
        wrong = f"raises {type(error).__name__}: {error}"
    if wrong:
        broken = str(plugins.refuse(GROUP, name, wrong))
        return LawAnswer(name, None, None, (broken,), f"entry point {name} of {GROUP}")
    return None if answer.packets is None and answer.utilization is None else answer


def _wrong(answer: object) -> str:
    """Return what is wrong with an answer; empty if nothing is."""
    if not isinstance(answer, LawAnswer):
        return "gives no forebay.laws.LawAnswer"
    texts = (answer.law, answer.source, *answer.broken_assumptions)
    if not all(isinstance(text, str) for text in texts):
        return "gives something that is no text for its name, its source or a broken assumption"
    for packets in (answer.packets, *(answer.between or ())):
        if not _within(packets, _MOST_PACKETS):
            return f"gives {packets!r} packets"
    if not _within(answer.utilization, 1.0):
        return f"gives a utilization of {answer.utilization!r}"
    return ""


def _within(value: object, most: float) -> bool:
    """Whether a value is None or a number from 0 to ``most``."""
    if value is None:
        return True
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= most
