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
    fractional_brownian,
    general_decrease,
    heterogeneous,
    loss,
    partial_synchrony,
    rule_of_thumb,
    sawtooth,
    single_flow,
    sqrt_n,
    synchronized,
    tcp_and_link,
    tiny_buffers,
    uncertainty,
    utilization,
)
from forebay.laws.answer import Law, LawAnswer
from forebay.laws.flow_range import answer_over_range
from forebay.laws.governing import governing_law
from forebay.laws.regime import Regime, regime_of

if TYPE_CHECKING:
    from forebay.scenario import Scenario

LAWS: tuple[Law, ...] = (
    rule_of_thumb.LAW,
    single_flow.LAW,
    synchronized.LAW,
    sqrt_n.LAW,
    utilization.LAW,
    loss.LAW,
    heterogeneous.LAW,
    general_decrease.LAW,
)
"""Every law, in the order in which they are shown."""


def for_scenario(scenario: Scenario) -> list[LawAnswer]:
    """Answers of all laws that have anything to say about `scenario`, broken ones included.

    All of them are laws of flows that last; without any there is no n to put into them.
    """
    if not scenario.n_flows:
        return []
    answers = [answer_over_range(law, scenario) for law in LAWS]
    return [a for a in answers if a.packets is not None or a.utilization is not None]


__all__ = [
    "LAWS",
    "Law",
    "LawAnswer",
    "Regime",
    "burst_queue",
    "bursts",
    "completion_time",
    "desynchronized",
    "effective_bandwidth",
    "exact_bursts",
    "for_scenario",
    "fractional_brownian",
    "general_decrease",
    "governing_law",
    "heterogeneous",
    "loss",
    "partial_synchrony",
    "regime_of",
    "rule_of_thumb",
    "sawtooth",
    "single_flow",
    "sqrt_n",
    "synchronized",
    "tcp_and_link",
    "tiny_buffers",
    "uncertainty",
    "utilization",
]
