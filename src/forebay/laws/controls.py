"""What congestion controls are in kind, for laws that know windows cut by losses only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.scenario import Tcp

if TYPE_CHECKING:
    from forebay.scenario import Scenario

MODEL_BASED = frozenset({"bbr", "bbr3"})
"""Paced by a model of the path: no window is cut at each loss, so there is no sawtooth."""

HALVING = frozenset({"reno", "dctcp", "prague", "compound"})
"""Cut to a half at a loss; dctcp and prague where nothing marks (RFC 8257, section 3.5)."""


def controls(scenario: Scenario) -> dict[str, float]:
    """Congestion controls of the classes that cross the link, with the flows that last of each."""
    found: dict[str, float] = {}
    for group in scenario.crossing:
        if isinstance(group, Tcp):
            for name, share in group.shares.items():
                found[name] = found.get(name, 0.0) + group.flows * share
    return found


def paced(scenario: Scenario) -> list[str]:
    """Those of them that follow a model."""
    return sorted(controls(scenario).keys() & MODEL_BASED)


def halves(scenario: Scenario) -> bool:
    """Whether every flow that lasts halves its window at a loss."""
    return {name for group in scenario.persistent for name in group.shares} <= HALVING
