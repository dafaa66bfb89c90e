"""End a bisection in time, and give way to what is cheaper while there is time for it.

The duration of a search is not known before it ends: noise requires more seeds, and other programs
use the processors. So each run corrects the estimate. The crossing of the curve, which takes a
fifth of the runs, replaces a search that would not end in time, while there is still time for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.errors import ForebayError, option
from forebay.search.cost import TooLittleTime, in_words
from forebay.search.stopping import END, Interrupted, OutOfTime, TimeLimit
from forebay.search.timed import Timed

if TYPE_CHECKING:
    from forebay.outcome import SizeResult
    from forebay.progress import Progress
    from forebay.search.strategies.protocol import Session

_EARLY, _HOPELESS = 0.2, 2.0
"""After the first share of the time, a search that needs this many budgets is given up."""
_WANTED, _LEAST = 1.4, 1.15
"""Multiples of the crossing's predicted time: the time left at which it begins, and the minimum."""
_WANTED_SCALED, _LEAST_SCALED = 0.5, 0.15
"""The same for smaller links, as shares of the budget: they use all the time that they get."""
_UNSURE = 1.5
"""Factor on the expected time of a search that has no answer before its end."""


Search = Callable[["Session"], "SizeResult"]
"""A bisection whose engine and callback are those of the session."""


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

    time: TimeLimit
    fallback: Fallback | None
    all_or_nothing: bool
    progress: Progress | None
    expected_s: float = 0.0
    first_s: float | None = None
    stopped: bool = False

    def tick(self, fraction: float) -> None:
        """Estimate the search's time from its progress; raise OutOfTime if it has to stop."""
        spent = self.time.spent_s
        if self.progress is not None:
            self.progress(min(max(fraction, spent / self.time.seconds), 1.0))
        if fraction >= 1.0:
            return
        if self.first_s is None:
            self.first_s = spent
        self.expected_s = self.first_s + (spent - self.first_s) / max(fraction, 1e-6)
        self.stopped = spent > END * self.time.seconds or self._gives_way(spent)
        if self.stopped:
            raise OutOfTime

    def _gives_way(self, spent_s: float) -> bool:
        """Whether the fallback must begin now, because the search will not end in time."""
        budget_s = self.time.seconds
        expected = self.expected_s * (_UNSURE if self.all_or_nothing else 1.0)
        if self.fallback is None or expected <= budget_s:
            return False
        wanted, least = self.fallback.room_s(budget_s)
        left = budget_s - spent_s
        hopeless = expected > _HOPELESS * budget_s and spent_s > _EARLY * budget_s
        return least <= left and (left <= wanted or hopeless)


def search_within(
    search: Search, session: Session, fallback: Fallback | None, *, all_or_nothing: bool
) -> SizeResult | None:
    """Return the search's answer, or the best one at the end of the session's time.

    Parameters
    ----------
    session : its time begins now; the runs correct its speed.
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
    watch = _watch(session, fallback, all_or_nothing)
    try:
        return search(_watched(session, watch))
    except Interrupted as stop:
        if not watch.stopped:
            raise
        if watch.time.spent_s < END * watch.time.seconds:
            return None
        if stop.best_so_far is not None:
            return _stopped(stop.best_so_far, watch)
        why, budget_s = "no buffer was found to meet the goals by then", watch.time.seconds
        raise TooLittleTime(why, max(watch.expected_s, budget_s), budget_s) from None


def again_within(search: Search, session: Session) -> SizeResult | None:
    """Return the answer of a search that only improves a known one; None if it has no time.

    Also None if it needs more memory than it may take.
    """
    watch = _watch(session, None, all_or_nothing=True)
    try:
        return search(_watched(session, watch))
    except ForebayError as refused:
        if refused.code != "too-much-memory":
            raise
        return None
    except Interrupted:
        if not watch.stopped:
            raise
        return None


def _watch(session: Session, fallback: Fallback | None, all_or_nothing: bool) -> _Watch:
    return _Watch(session.time, fallback, all_or_nothing, session.options.progress)


def _watched(session: Session, watch: _Watch) -> Session:
    """Return the session of a search that the watch may stop; its runs are timed."""
    timed = Timed(session.engine, session.speed, session.options.clock)
    return session.with_engine(timed).with_progress(watch.tick)


def _stopped(result: SizeResult, watch: _Watch) -> SizeResult:
    """Add a note that the time ended the search, and which smaller buffers remain untested."""
    more = in_words(1.25 * max(watch.expected_s, watch.time.seconds))
    note = (
        "the search was stopped at the end of its time: this is the smallest buffer that was found "
        "to meet the goals by then"
    )
    found = result.buffer
    if found is not None and found.low < found.packets:
        last = found.packets - 1
        some = f"{found.low} to {last}" if found.low < last else f"{last}"
        note += f"; {some} packets may meet them too"
    notes = (f"{note}; {option('budget', more)} gives time for the whole search", *result.notes)
    return result.model_copy(update={"notes": notes})
