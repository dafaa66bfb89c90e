"""A law's answer where the flows are only known to lie in a range."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.laws.answer import Law, LawAnswer

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def answer_over_range(law: Law, scenario: Scenario) -> LawAnswer:
    """Answer at the middle of the range of flows, with the packets at its ends as ``between``.

    The laws of papers A and D rise or fall in n, so their extremes lie at the ends: this is
    `forebay.laws.uncertainty.interval` of a monotone law, with n taken through the scenario.
    """
    answer = law.answer(scenario)
    if not scenario.flows_uncertain or answer.packets is None:
        return answer
    at_ends = (law.packets(scenario.at_flows("low")), law.packets(scenario.at_flows("high")))
    known = [packets for packets in at_ends if packets is not None]
    between = (min(known), max(known)) if len(known) == len(at_ends) else None
    return replace(answer, between=between)
