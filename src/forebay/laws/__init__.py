"""Published laws of buffer sizing, one a file: pure functions of arrays, and a `LAW` each.

The functions can be used alone: ``laws.sqrt_n.buffer(bdp, n)``. `for_scenario` asks every
law about a scenario; each says which of its assumptions the scenario breaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import (
    burst_queue,
    bursts,
    completion_time,
    desynchronized,
    effective_bandwidth,
    exact_bursts,
    loss,
    rule_of_thumb,
    sawtooth,
    single_flow,
    sqrt_n,
    synchronized,
    utilization,
)
from forebay.laws.answer import Law, LawAnswer
from forebay.laws.governing import governing_law

if TYPE_CHECKING:
    from forebay.scenario import Scenario

LAWS: tuple[Law, ...] = (
    rule_of_thumb.LAW,
    single_flow.LAW,
    synchronized.LAW,
    sqrt_n.LAW,
    utilization.LAW,
    loss.LAW,
)
"""Every law, in the order in which they are shown."""


def for_scenario(scenario: Scenario) -> list[LawAnswer]:
    """Answers of all laws that have anything to say about `scenario`, broken ones included.

    All of them are laws of flows that last; without any there is no n to put into them.
    """
    if not scenario.n_flows:
        return []
    answers = [law.answer(scenario) for law in LAWS]
    return [a for a in answers if a.packets is not None or a.utilization is not None]


__all__ = [
    "LAWS",
    "Law",
    "LawAnswer",
    "burst_queue",
    "bursts",
    "completion_time",
    "desynchronized",
    "effective_bandwidth",
    "exact_bursts",
    "for_scenario",
    "governing_law",
    "loss",
    "rule_of_thumb",
    "sawtooth",
    "single_flow",
    "sqrt_n",
    "synchronized",
    "utilization",
]
