"""Which law governs a link: one flow, few that march in step, or many that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import single_flow, synchronized, utilization
from forebay.laws.answer import Law
from forebay.laws.assumptions import COMMONLY_SYNCHRONIZED

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def governing_law(scenario: Scenario) -> Law:
    """The law to believe first, chosen by the number of flows (paper A, §3.2).

    Fewer than 100 flows are taken as synchronized, which asks for more buffer than they may
    need; from 100 on eq. 6 is taken, and says so itself up to 250 where it may promise too much.
    """
    if scenario.n_flows == 1:
        return single_flow.LAW
    return synchronized.LAW if scenario.n_flows < COMMONLY_SYNCHRONIZED else utilization.LAW
