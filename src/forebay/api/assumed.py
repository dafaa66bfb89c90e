"""What an answer assumes: of the network first, then of the traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario.assumptions import assumptions

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def assumed(scenario: Scenario) -> tuple[str, ...]:
    """Return every default that nobody chose and that moves the answer, in words."""
    if scenario.topology is None:
        return assumptions(scenario)
    from forebay.topology.assumed import assumed as of_network

    return (*of_network(scenario), *assumptions(scenario))
