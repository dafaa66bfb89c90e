"""Which law governs a link: bursts, one flow, few that march in step, or many that do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.laws import burst_law, mix, single_flow, synchronized, utilization
from forebay.laws.answer import Law
from forebay.laws.assumptions import COMMONLY_SYNCHRONIZED

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def governing_law(scenario: Scenario) -> Law | None:
    """The law to believe first; None where no law of this room covers the traffic.

    Bursts where nothing else queues (paper A, §4). Else by the number of long flows (§3.2):
    fewer than 100 are taken as synchronized, which asks for more buffer than they may need;
    from 100 on eq. 6 is taken, and says so itself up to 250 where it may promise too much;
    beside short flows as §5.1.3 has it.
    """
    if burst_law.governs(scenario):
        return burst_law.LAW
    if scenario.n_flows <= 1:
        return single_flow.LAW if scenario.n_flows else None
    if scenario.n_flows < COMMONLY_SYNCHRONIZED:
        return synchronized.LAW
    return mix.LAW if mix.covers(scenario) else utilization.LAW
