"""The whole search under the clock: given up for the crossing in time, or stopped at the end.

What a search takes is not known before it ends: noise asks for more seeds, and other work takes
the processors. So it is told from how far it has come, again and again. It gives way while the
crossing of the curve, which takes a fifth of the runs, still fits into what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.budget.duration import in_words
from forebay.budget.errors import TooLittleTime
from forebay.budget.timed import OutOfTime, Timed
from forebay.errors import option
from forebay.sizing import Interrupted

if TYPE_CHECKING:
    from forebay.budget.cost import Speed
    from forebay.engines.protocol import Engine
    from forebay.outcome import SizeResult
    from forebay.progress import Progress

Search = Callable[["Engine", "Progress"], "SizeResult"]

_END = 0.98
"""Of the time, when the last run is stopped: the rest puts the answer together."""
_EARLY, _HOPELESS = 0.2, 2.0
"""After this share of the time a search that needs so many budgets is given up."""
_WANTED, _LEAST = 1.4, 1.15
"""Times what the other way should need: when it begins, and when it is too late for it."""
_WANTED_SCALED, _LEAST_SCALED = 0.5, 0.15
"""Of the time, the same for smaller links, which take as long as there is."""
_UNSURE = 1.5
"""Times as long as it looks may a search take of which nothing is an answer before its end."""


@dataclass(frozen=True, slots=True)
class Instead:
    """What may take the search's place.

    Attributes
    ----------
    needs_s : seconds that the crossing of the whole link needs, as it looks at present.
    scales : whether smaller links may stand for it.
    """

    needs_s: Callable[[], float]
    scales: bool

    def room_s(self, budget_s: float) -> tuple[float, float]:
        """Return what should be left for it when it begins, and what must be, seconds."""
        needs = self.needs_s()
        wanted, least = _WANTED * needs, _LEAST * needs
        if not self.scales:
            return wanted, least
        return min(wanted, _WANTED_SCALED * budget_s), min(least, _LEAST_SCALED * budget_s)


@dataclass(slots=True)
class _Watch:
    """Stops a search that will not end in time.

    Attributes
    ----------
    instead : what may take its place; None where nothing can.
    all_or_nothing : the search shows nothing before its end.
    expected_s : seconds that the search takes in all, as it looks at present.
    first_s : seconds until it told for the first time; modules are read in them.
    ended : it was this that stopped it.
    """

    budget_s: float
    clock: Callable[[], float]
    started: float
    instead: Instead | None
    all_or_nothing: bool
    progress: Progress | None
    expected_s: float = 0.0
    first_s: float | None = None
    ended: bool = False

    def tick(self, fraction: float) -> None:
        """Take note of how far the search has come, and stop it where it has to be."""
        if self.progress is not None:
            self.progress(fraction)
        if fraction >= 1.0:
            return
        spent = self.clock() - self.started
        if self.first_s is None:
            self.first_s = spent
        self.expected_s = self.first_s + (spent - self.first_s) / max(fraction, 1e-6)
        self.ended = spent > _END * self.budget_s or self._gives_way(spent)
        if self.ended:
            raise OutOfTime

    def _gives_way(self, spent_s: float) -> bool:
        """Whether something else has to begin now, for the search will not end in time."""
        expected = self.expected_s * (_UNSURE if self.all_or_nothing else 1.0)
        if self.instead is None or expected <= self.budget_s:
            return False
        wanted, least = self.instead.room_s(self.budget_s)
        left = self.budget_s - spent_s
        hopeless = expected > _HOPELESS * self.budget_s and spent_s > _EARLY * self.budget_s
        return least <= left and (left <= wanted or hopeless)


def searched(
    search: Search,
    engine: Engine,
    budget_s: float,
    *,
    speed: Speed,
    clock: Callable[[], float],
    progress: Progress | None,
    instead: Instead | None,
    all_or_nothing: bool,
) -> SizeResult | None:
    """Return the search's answer, or what it had shown at the end of the time; None to go on.

    Parameters
    ----------
    search : runs the search with an engine and a callback.
    speed : of this machine; what runs corrects it.
    instead : what may take the search's place; None where nothing can.
    all_or_nothing : what a stopped search had shown is no answer.

    Raises
    ------
    TooLittleTime
        The time is over, no buffer was shown to meet the goals, and nothing takes its place.
    """
    watch = _Watch(budget_s, clock, clock(), instead, all_or_nothing, progress)
    try:
        return search(Timed(engine, speed, clock), watch.tick)
    except Interrupted as stop:
        if not watch.ended:
            raise
        if clock() - watch.started < _END * budget_s:
            return None
        if stop.shown is not None:
            return _until(stop.shown, watch)
        why = "no buffer was shown to meet the goals by then"
        raise TooLittleTime(why, max(watch.expected_s, budget_s), budget_s) from None


def _until(result: SizeResult, watch: _Watch) -> SizeResult:
    """Say that the time ended the search, and what it leaves open."""
    more = in_words(1.25 * max(watch.expected_s, watch.budget_s))
    note = "the time ended the search: the smallest buffer that was shown by then to meet the goals"
    found = result.buffer
    if found is not None and found.low < found.packets:
        note += f"; {found.low} to {found.packets - 1} packets may, too"
    notes = (f"{note}; {option('budget', more)} ends it", *result.notes)
    return result.model_copy(update={"notes": notes})
