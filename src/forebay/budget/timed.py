"""Time the runs of an engine, and end a search in time.

The duration of a search is not known before it ends: noise requires more seeds, and other programs
use the processors. So each run corrects the estimate. The crossing of the curve, which takes a
fifth of the runs, replaces a search that would not end in time, while there is still time for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.budget.cost import Speed, TooLittleTime, cost_s, in_words
from forebay.engines.base import Decorator, Engine
from forebay.errors import ForebayError, option
from forebay.sizing import Interrupted

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.progress import Progress
    from forebay.scenario import Scenario

_CACHED = 0.05
"""A run that took less than this share of its prediction was cached, and corrects nothing."""
_TOO_SHORT_S = 0.2
"""A stopped run that lasted less corrects nothing."""
_START_S = 1.0
"""A first run with a shorter prediction corrects nothing: modules are imported during it."""

_END = 0.98
"""The last run is stopped after this share of the time; the rest is for the result."""
_EARLY, _HOPELESS = 0.2, 2.0
"""After the first share of the time, a search that needs this many budgets is given up."""
_WANTED, _LEAST = 1.4, 1.15
"""Multiples of the crossing's predicted time: the time left at which it begins, and the minimum."""
_WANTED_SCALED, _LEAST_SCALED = 0.5, 0.15
"""The same for smaller links, as shares of the budget: they use all the time that they get."""
_UNSURE = 1.5
"""Factor on the expected time of a search that has no answer before its end."""


class OutOfTime(KeyboardInterrupt):
    """The time ends in the middle of a run; an engine stops for it as for Ctrl-C."""


def replication_s(scenario: Scenario) -> float:
    """Return the predicted seconds of one replication."""
    return cost_s(scenario, float(scenario.measure.warmup + scenario.measure.duration))


class Timed(Decorator):
    """An engine whose runs, stopped ones included, correct the predicted time of the next.

    Parameters
    ----------
    predict : seconds of one replication of a scenario, before `speed` corrects them.
    before_run : called with the expected seconds of each run; it may raise.
    """

    def __init__(
        self,
        engine: Engine,
        speed: Speed,
        clock: Callable[[], float],
        *,
        predict: Callable[[Scenario], float] = replication_s,
        before_run: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(engine)
        self._speed, self._clock = speed, clock
        self._predict, self._before_run = predict, before_run
        self._done: dict[str, set[int]] = {}
        self._started = False

    def run(
        self,
        scenario: Scenario,
        seeds: Sequence[int],
        *,
        jobs: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the engine."""
        predicted_s = self._predicted_s(scenario, seeds)
        if self._before_run is not None:
            self._before_run(self._speed.factor * predicted_s)
        begun = self._clock()
        first = last = (begun, 0.0)

        def report(fraction: float) -> None:
            nonlocal first, last
            last = (self._clock(), fraction)
            first = first if first[1] else last
            if progress is not None:
                progress(fraction)

        try:
            outcome = self.engine.run(scenario, seeds, jobs=jobs, progress=report)
        except KeyboardInterrupt:
            self._correct_by_part(predicted_s, last[1] - first[1], last[0] - first[0])
            raise
        self._correct(predicted_s, self._clock() - begun)
        self._done.setdefault(scenario.sha256(), set()).update(seeds)
        return outcome

    def _predicted_s(self, scenario: Scenario, seeds: Sequence[int]) -> float:
        """Return the predicted seconds of a run; replications run before are cached."""
        fresh = len(set(seeds) - self._done.get(scenario.sha256(), set()))
        return math.ceil(fresh / self._speed.jobs) * self._predict(scenario)

    def _correct(self, predicted_s: float, passed_s: float) -> None:
        """Correct the speed by a whole run."""
        is_first, self._started = not self._started, True
        if is_first and predicted_s < _START_S:
            return
        if passed_s > _CACHED * predicted_s > 0.0:
            self._speed.add(predicted_s, passed_s)

    def _correct_by_part(self, predicted_s: float, done: float, passed_s: float) -> None:
        """Correct the speed by the part of a stopped run between its first and last report."""
        if done > 0.0 and passed_s > _TOO_SHORT_S:
            self._speed.add(done * predicted_s, passed_s)


Search = Callable[["Engine", "Progress"], "SizeResult"]


@dataclass(frozen=True, slots=True)
class Fallback:
    """What replaces a search that would not end in time.

    Attributes
    ----------
    needs_s : seconds that the crossing of the whole link needs, as estimated when it is called.
    scales : whether smaller links may be simulated in the link's place.
    """

    needs_s: Callable[[], float]
    scales: Callable[[], bool]

    def room_s(self, budget_s: float) -> tuple[float, float]:
        """Return the seconds that should be left when it begins, and the fewest that must be."""
        needs = self.needs_s()
        wanted, least = _WANTED * needs, _LEAST * needs
        if not self.scales():
            return wanted, least
        return min(wanted, _WANTED_SCALED * budget_s), min(least, _LEAST_SCALED * budget_s)


@dataclass(slots=True)
class _Watch:
    """Stops a search that will not end in time.

    Attributes
    ----------
    fallback : what replaces the search; None where nothing can.
    all_or_nothing : the search has no answer before its end.
    expected_s : seconds that the whole search takes, by the latest estimate.
    first_s : seconds until the first report; modules are imported in them.
    stopped : whether the watch stopped the search.
    """

    budget_s: float
    clock: Callable[[], float]
    started: float
    fallback: Fallback | None
    all_or_nothing: bool
    progress: Progress | None
    expected_s: float = 0.0
    first_s: float | None = None
    stopped: bool = False

    def tick(self, fraction: float) -> None:
        """Estimate the search's time from its progress; raise OutOfTime if it has to stop."""
        spent = self.clock() - self.started
        if self.progress is not None:
            self.progress(min(max(fraction, spent / self.budget_s), 1.0))
        if fraction >= 1.0:
            return
        if self.first_s is None:
            self.first_s = spent
        self.expected_s = self.first_s + (spent - self.first_s) / max(fraction, 1e-6)
        self.stopped = spent > _END * self.budget_s or self._gives_way(spent)
        if self.stopped:
            raise OutOfTime

    def _gives_way(self, spent_s: float) -> bool:
        """Whether the fallback must begin now, because the search will not end in time."""
        expected = self.expected_s * (_UNSURE if self.all_or_nothing else 1.0)
        if self.fallback is None or expected <= self.budget_s:
            return False
        wanted, least = self.fallback.room_s(self.budget_s)
        left = self.budget_s - spent_s
        hopeless = expected > _HOPELESS * self.budget_s and spent_s > _EARLY * self.budget_s
        return least <= left and (left <= wanted or hopeless)


def search_within(
    search: Search,
    engine: Engine,
    budget_s: float,
    *,
    speed: Speed,
    clock: Callable[[], float],
    progress: Progress | None,
    fallback: Fallback | None,
    all_or_nothing: bool,
) -> SizeResult | None:
    """Return the search's answer, or the best one at the end of the time.

    Parameters
    ----------
    search : runs the search with an engine and a progress callback.
    speed : of this machine; the runs correct it.
    fallback : what replaces the search; None where nothing can.
    all_or_nothing : a stopped search has no answer.

    Returns
    -------
    SizeResult or None
        None where the fallback must take over.

    Raises
    ------
    TooLittleTime
        The time ended, no buffer was found to meet the goals, and there is no fallback.
    """
    watch = _Watch(budget_s, clock, clock(), fallback, all_or_nothing, progress)
    try:
        return search(Timed(engine, speed, clock), watch.tick)
    except Interrupted as stop:
        if not watch.stopped:
            raise
        if clock() - watch.started < _END * budget_s:
            return None
        if stop.best_so_far is not None:
            return _stopped(stop.best_so_far, watch)
        why = "no buffer was found to meet the goals by then"
        raise TooLittleTime(why, max(watch.expected_s, budget_s), budget_s) from None


def again_within(
    search: Search,
    engine: Engine,
    budget_s: float,
    *,
    speed: Speed,
    clock: Callable[[], float],
    progress: Progress | None,
) -> SizeResult | None:
    """Return the answer of a search that only improves a known one; None if it has no time.

    Also None if it needs more memory than it may take.
    """
    watch = _Watch(budget_s, clock, clock(), None, all_or_nothing=True, progress=progress)
    try:
        return search(Timed(engine, speed, clock), watch.tick)
    except ForebayError as refused:
        if refused.code != "too-much-memory":
            raise
        return None
    except Interrupted:
        if not watch.stopped:
            raise
        return None


def _stopped(result: SizeResult, watch: _Watch) -> SizeResult:
    """Add a note that the time ended the search, and which smaller buffers remain untested."""
    more = in_words(1.25 * max(watch.expected_s, watch.budget_s))
    note = (
        "the search was stopped at the end of its time: this is the smallest buffer that was found "
        "to meet the goals by then"
    )
    found = result.buffer
    if found is not None and found.low < found.packets:
        note += f"; {found.low} to {found.packets - 1} packets may meet them too"
    notes = (f"{note}; {option('budget', more)} gives time for the whole search", *result.notes)
    return result.model_copy(update={"notes": notes})
