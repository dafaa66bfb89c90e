"""The windows of a curve that has to be there while a slider moves."""

from __future__ import annotations

from dataclasses import dataclass

import forebay

_MOST_PACKETS = 1_500_000
"""Packets of one replication: some 0.1 to 0.4 s of a processor."""
_ROUND_TRIPS, _LEAST_S = 15.0, 0.1
"""The shortest run: so many round trips, and so many seconds."""
_WARMUP = 0.5


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
    measure = scenario.measure
    whole_s = float(measure.warmup + measure.duration)
    packet_s = 8 * float(scenario.packet) / float(scenario.link.capacity)
    seconds = _MOST_PACKETS * packet_s
    if whole_s <= seconds:
        return Coarse(scenario, True)
    if seconds < max(_LEAST_S, _ROUND_TRIPS * scenario.bdp_packets * packet_s):
        return None
    warmup = _WARMUP * seconds
    shorter = {"warmup": f"{warmup:.6f} s", "duration": f"{seconds - warmup:.6f} s"}
    return Coarse(scenario.replace({"measure": shorter}), False)
