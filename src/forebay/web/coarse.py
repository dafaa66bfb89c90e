"""The windows of a curve that has to be there while a slider moves."""

from __future__ import annotations

from dataclasses import dataclass

import forebay
from forebay.web.shorter import shorter, wire_s

_MOST_PACKETS = 1_500_000
"""Packets of one replication: some 0.1 to 0.4 s of a processor."""
_ROUND_TRIPS, _LEAST_S = 15.0, 0.1
"""The shortest run: so many round trips, and so many seconds."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """A scenario for one quick replication of each buffer.

    Attributes
    ----------
    is_whole : whether it is the question's own window.
    """

    scenario: forebay.Scenario
    is_whole: bool

    @property
    def words(self) -> str:
        """How long is simulated, for the page."""
        measure = self.scenario.measure
        if self.is_whole:
            return f"one replication of {measure.warmup + measure.duration:g} s"
        return (
            f"one replication of {measure.duration:.2g} s after {measure.warmup:.2g} s, shorter "
            "than the search's: flows may not have settled"
        )


def coarse(scenario: forebay.Scenario) -> Coarse | None:
    """Return a scenario whose replication is quick; None if its window would say nothing."""
    short = shorter(scenario, _MOST_PACKETS)
    if short is None:
        return Coarse(scenario, True)
    needed_s = max(_LEAST_S, wire_s(scenario, _ROUND_TRIPS * scenario.bdp_packets))
    return None if wire_s(scenario, _MOST_PACKETS) < needed_s else Coarse(short, False)
