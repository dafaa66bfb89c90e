"""What a level of a scaling study should take on this machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.search import settling
from forebay.search.sawtooths import long_enough, measure_of
from forebay.search.strategies.crossing.curve import COARSE_SEEDS, COARSE_SHARE

if TYPE_CHECKING:
    from forebay.scenario import Measure, Scenario
    from forebay.search.cost import Speed
    from forebay.search.problem import Sawtooths

_COARSE_RUNS, _FINE_RUNS = 4.0, 4.5


@dataclass(slots=True)
class Forecast:
    """Predicts the time of levels.

    Attributes
    ----------
    sawtooths : what a level's sawtooths need; None leaves warm-up and window as they are measured.
    """

    speed: Speed
    sawtooths: Sawtooths | None = None

    def level_s(self, link: Scenario, seeds: int, measure: Measure | None = None) -> float:
        """Return the predicted seconds of a level with ``seeds`` per run."""
        lasting = self.lasting(link, link.measure if measure is None else measure)
        return crossing_s(link, self.speed, seeds, lasting)

    def lasting(self, link: Scenario, measure: Measure, packets: int | None = None) -> Measure:
        """Return a measurement, lengthened for a link's sawtooths unless the scenario sets it.

        Where settling is not watched, it begins when all flows have started and know their path.
        """
        if "measure" in link.model_fields_set:
            return measure
        if settling.measure_stands(link):
            warmup = max(float(measure.warmup), settling.least_warmup(link))
            return measure_of(warmup, float(measure.duration))
        if self.sawtooths is None:
            return measure
        return long_enough(measure, self.sawtooths(link, packets or first_buffer(link)))


def crossing_s(link: Scenario, speed: Speed, seeds: int, measure: Measure | None = None) -> float:
    """Return the predicted seconds for the crossing of a link's curve with ``seeds`` per run.

    ``measure`` replaces the scenario's measurement unless it is None.
    """
    of = link.measure if measure is None else measure
    warmup, window = float(of.warmup), float(of.duration)
    coarse = speed.wall_s(link, warmup + COARSE_SHARE * window, COARSE_SEEDS)
    fine = speed.wall_s(link, warmup + window, seeds)
    watched = 0.0 if settling.measure_stands(link) else speed.wall_s(link, settling.WATCHED_S, 1)
    return _COARSE_RUNS * coarse + _FINE_RUNS * fine + watched


def first_buffer(link: Scenario) -> int:
    """Return the first buffer of a level without smaller ones: BDP/sqrt(n) over two."""
    return max(1, round(link.bdp_packets / math.sqrt(max(1, link.n_flows)) / 2))
