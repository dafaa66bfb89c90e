"""How the measured window is cut, and what is watched inside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from forebay.outcome import needs_round_trips
from forebay.scenario import ScenarioError

if TYPE_CHECKING:
    from forebay.scenario import Scenario

BATCHES = 20
"""Parts of the measured window that are read apart, for intervals from a single seed."""

_PICOSECONDS = 1e12
MOST_BINS = 4096
"""Bins of a link's histogram of the queue."""
_MOST_TO_READ = 100_000_000  # of them all, 8 bytes each


class Watched(NamedTuple):
    """What to sample: at which steps, and of which flows."""

    step_s: float
    flows: tuple[int, ...]

    def check(self, flows: int) -> None:
        """Refuse the number of a flow that is not there, or there twice."""
        for number in self.flows:
            if not 0 <= number < flows or self.flows.count(number) > 1:
                numbers = f"different numbers from 0 to {flows - 1}" if flows else "none"
                hint = f"the run has {flows} flows: write {numbers}"
                wrong = f"flow {number} is not there, or there twice"
                raise ScenarioError("out-of-range", wrong, hint, field="flows", value=number)


def n_parts(scenario: Scenario) -> int:
    """Return into how many equal parts an engine is to cut the measured window.

    Raises
    ------
    ScenarioError
        There are so many that their histograms of the queue would not fit in memory.
    """
    number = BATCHES * _round_trips_a_batch(scenario)
    if number > BATCHES and number * min(scenario.buffer_packets, MOST_BINS) > _MOST_TO_READ:
        raise ScenarioError(
            "out-of-range",
            f"{number} round trips, each read apart for a goal with a probability, are too many",
            "write a shorter one, or the goal without its probability",
            field="measure.duration",
        )
    return number


def _round_trips_a_batch(scenario: Scenario) -> int:
    """Return into how many round trips a batch is cut; 1 where no goal asks for them."""
    if not needs_round_trips(scenario.goals) or not scenario.mean_rtt:
        return 1
    return max(1, round(scenario.measure.duration / BATCHES / scenario.mean_rtt))


def picoseconds(seconds: float) -> int:
    """Return the nearest whole number of picoseconds."""
    return round(seconds * _PICOSECONDS)
