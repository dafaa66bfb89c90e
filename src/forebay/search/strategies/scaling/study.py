"""A link simulated at increasing scales, called levels, until the time ends.

The smallest link is first: it costs almost nothing, shows the speed of this machine, and gives a
starting buffer for the next one. The whole link is the last level if it fits into the time. If it
does not, `extrapolate` estimates it from the smaller levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forebay.search.rescale import as_whole
from forebay.search.stopping import END, RESERVE, OutOfTime
from forebay.search.strategies.scaling.forecast import Forecast
from forebay.search.strategies.scaling.rule import ScalingRule, scaled

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import Outcome
    from forebay.scenario import Measure, Scenario
    from forebay.search.options import Options
    from forebay.search.problem import Problem
    from forebay.search.stopping import TimeLimit
    from forebay.search.strategies.crossing.crossing import Crossing
    from forebay.search.strategies.crossing.curve import LinkCurve
    from forebay.search.strategies.scaling.checkpoint import Checkpoint

STEP = 4.0
"""Factor from one level to the next."""
LEAST_STEP = 1.3
ROOM = 3.0
"""Least factor between the smallest link and one that would take all the time."""
FIRST_END = 0.5
"""Share of the time after which the first level is stopped, so that smaller ones still fit."""


@dataclass(slots=True)
class Level:
    """One link that was simulated to its crossing in ``took_s`` seconds.

    ``meets`` is a buffer that was found to meet the goals.
    """

    factor: float
    curve: LinkCurve
    found: Crossing
    took_s: float = 0.0
    meets: float = 0.0

    @property
    def link(self) -> Scenario:
        """The simulated link, with its warm-up and window."""
        return self.curve.evaluator.problem.scenario

    @property
    def outcomes(self) -> dict[int, Outcome]:
        """What ran over the whole window, by packets."""
        return {b: each.outcome for b, each in self.curve.evaluator.done.items()}


@dataclass(slots=True)
class ScalingStudy:
    """The state of a study, and its remaining time.

    Attributes
    ----------
    options : those of every level, with the seeds of its fine runs.
    levels : the finished levels, the largest link first.
    predicted_s : seconds that were predicted before the study began.
    reserved_s : seconds reserved for the buffer of acceptable loss (`loss`); no level may use them.
    stopped : Ctrl-C ended the study, and the finished levels are enough for an estimate.
    cut : the factor of a level that the end of the time stopped; None if there was none.
    started_at : seconds that were spent when the present level began.
    checkpoint : the levels that an earlier study had started; they come first.
    """

    problem: Problem
    engine: Engine
    options: Options
    time: TimeLimit
    forecast: Forecast
    checkpoint: Checkpoint
    rule: ScalingRule = field(default_factory=lambda: ScalingRule(1.0, 1.0))
    levels: list[Level] = field(default_factory=list)
    predicted_s: float = 0.0
    reserved_s: float = 0.0
    stopped: bool = False
    cut: float | None = None
    started_at: float = 0.0

    @property
    def seeds(self) -> Sequence[int]:
        """Seeds of every fine run."""
        return self.options.seeds

    @property
    def left_s(self) -> float:
        """Seconds that a further level may take by prediction."""
        return RESERVE * (self.time.seconds - self.reserved_s - self.time.spent_s)

    @property
    def end_s(self) -> float:
        """Seconds after the start at which the current run is stopped.

        Before there are two levels, this leaves time for a smaller one, if the rule has any.
        """
        most = END * (self.time.seconds - self.reserved_s)
        if not self.levels:
            share = FIRST_END if self.rule.largest >= STEP else 1.0
            return self.started_at + share * (most - self.started_at)
        alone = self.levels[0]
        if len(self.levels) > 1 or alone.factor == 1.0 or not self.shrinks(alone.factor):
            return most
        smaller = self.at(min(STEP * alone.factor, self.rule.largest))
        return most - max(ROOM * alone.took_s / STEP, self.predict(smaller) / RESERVE)

    def at(self, factor: float) -> Scenario:
        """Return the link, ``factor`` times smaller."""
        return scaled(self.problem.scenario, factor, self.rule.share)

    def as_whole(self, outcome: Outcome, factor: float, packets: int) -> Outcome:
        """Return a level's outcome as that of the whole link with a buffer of ``packets``."""
        if factor == 1.0:
            return outcome
        same = not self.rule.shrinks_windows
        return as_whole(outcome, self.problem.scenario, factor, packets, same_windows=same)

    def predict(self, link: Scenario, measure: Measure | None = None) -> float:
        """Return the predicted seconds of a level on this machine."""
        return self.forecast.level_s(link, len(self.seeds), measure)

    def shrinks(self, factor: float) -> bool:
        """Whether a sufficiently smaller link exists to form a trend with this one."""
        return self.rule.largest >= LEAST_STEP * factor

    @property
    def ticking(self) -> Options:
        """The options of a level, whose runs report to `tick`."""
        return self.options.with_progress(self.tick)

    def tick(self, _: float) -> None:
        """Report the elapsed share of the time; raise OutOfTime at its end."""
        spent = self.time.spent_s
        if self.options.progress is not None:
            self.options.progress(min(spent / self.time.seconds, 0.99))
        if spent > self.end_s:
            raise OutOfTime
