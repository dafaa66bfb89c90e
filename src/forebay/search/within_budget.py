"""A sizing within a time limit: the bisection if it fits, else a cheaper strategy.

The strategies, in order: the bisection, which tests for each buffer whether it meets the goals; the
crossing of the whole link's curve; the crossings of smaller links of the same kind, extrapolated.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult
from forebay.progress import never_less, rest
from forebay.search.ask import ask
from forebay.search.cost import TooLittleTime, predict_search
from forebay.search.recommended import too_few_transfers
from forebay.search.result import with_cost
from forebay.search.sawtooths import measures_too_short, too_short
from forebay.search.settled import MOST_TRIES, NotSettled, Settling, later, notes_of, some_note
from forebay.search.strategies.bisection import Bisection
from forebay.search.watch import Fallback, again_within, search_within

if TYPE_CHECKING:
    from forebay.scenario import Scenario
    from forebay.search.problem import Problem
    from forebay.search.shorten import Shortened
    from forebay.search.strategies.protocol import Session


_WORTH_BEGINNING = 5.0
"""Predicted time of a bisection, over the time left, up to which it is worth a beginning: it finds
a size that meets the goals in about a third of its runs, and the rest brings that down."""
_UNKNOWN: tuple[str, ...] = ("",)
"""Stands for the notes of a search that a run ended."""


def search_within_budget(problem: Problem, given: Session) -> SizeResult:
    """Find the smallest buffer that meets the goals in about the session's time.

    Raises
    ------
    TooLittleTime
        Neither the link nor a smaller one of its kind can be simulated in that time.
    """
    session, budget_s = given.with_progress(never_less(given.options.progress)), given.time.seconds
    only = _why_only_bisection(problem)
    fixed, whole = _is_fixed(problem), _long_enough(problem, session, only)
    whole_s, notes = _predicted_s(whole, session), tuple[str, ...]()
    if whole_s > budget_s and not fixed and (shorter := _in_short_runs(problem, session)):
        problem = whole = shorter.problem
        notes = (shorter.note,)
        whole_s = _predicted_s(whole, session)
    if session.options.expect is not None:
        session.options.expect(min(whole_s, budget_s))
    fits = whole_s <= budget_s
    if fits:
        whole, found = _settled(whole, session, only, fixed=fixed)
        if found is not None:
            found = _noted(_with_more_seeds(found, whole, given), notes)
            return with_cost(_with_short_windows(whole, found), whole_s, session.time)
    elif only is not None:
        refused = TooLittleTime(only, whole_s, budget_s)
        found = _noted(_best_in_time(whole, session, whole_s, refused), notes)
        return with_cost(found, whole_s, session.time)
    try:
        result, predicted_s = _scaled(problem, session)
    except TooLittleTime as refused:
        result, predicted_s = _best_in_time(whole, session, whole_s, refused), whole_s
    result = _noted(result, (*notes, *notes_of(problem, result)))
    return with_cost(result, whole_s if fits else predicted_s, session.time)


def _predicted_s(problem: Problem, session: Session) -> float:
    return predict_search(problem.scenario, session.speed, len(session.options.seeds))


def _in_short_runs(problem: Problem, session: Session) -> Shortened | None:
    """Return the problem with runs as short as its round trips allow, where that helps.

    Smaller links of many flows, which keep their windows, answer with what the usual runs measure.
    """
    from forebay.search.shorten import shortened

    shorter = shortened(problem)
    if shorter is None:
        return None
    fits = _predicted_s(shorter.problem, session) <= session.time.seconds
    return shorter if fits or not _all_scale(problem) else None


def _best_in_time(
    problem: Problem, session: Session, whole_s: float, refused: TooLittleTime
) -> SizeResult:
    """Return the best that a bisection finds before the time ends, where nothing else can answer.

    Raises ``refused`` where it would hardly begin, or has found nothing.
    """
    if whole_s > _WORTH_BEGINNING * session.time.left_s:
        raise refused
    try:
        found = _bisected(problem, session, refused.why)
    except TooLittleTime:
        raise refused from None
    if found is None:
        raise refused
    return found


def _why_only_bisection(problem: Problem) -> str | None:
    """Return why only the bisection can answer; None where the crossing of a curve can."""
    if problem.non_monotone:
        goal = problem.non_monotone[0]
        return f"{goal} may be met between two buffers that miss, which needs a search"
    if not problem.increasing:
        return "no goal needs a buffer"
    rate = next((goal for goal in problem.increasing if goal.kind.unit), None)
    return None if rate is None else f"{rate} is a rate, which needs a search"


def _long_enough(problem: Problem, session: Session, only: str | None) -> Problem:
    """Return the problem with windows that are long enough for its sawtooths."""
    sawtooths, scenario = problem.law_context.sawtooths, problem.scenario
    if not sawtooths or not measures_too_short(scenario, problem.first_guess, sawtooths):
        return problem
    from forebay.search.lengthen import lengthened

    wholly = only is None and _all_scale(problem)
    return lengthened(problem, session, wholly=wholly)


def _with_short_windows(problem: Problem, found: SizeResult) -> SizeResult:
    """Return a result with a note where its windows are too short for the sawtooths."""
    sawtooths, packets = problem.law_context.sawtooths, found.chosen or 1
    if not sawtooths or not measures_too_short(problem.scenario, packets, sawtooths):
        return found
    return _noted(found, too_short(problem.scenario, packets, sawtooths))


def _noted(found: SizeResult, notes: tuple[str, ...]) -> SizeResult:
    return found.model_copy(update={"notes": (*found.notes, *notes)}) if notes else found


def _is_fixed(problem: Problem) -> bool:
    """Whether the scenario sets the measured window."""
    return "measure" in problem.scenario.model_fields_set


def _settled(
    problem: Problem, session: Session, only: str | None, *, fixed: bool
) -> tuple[Problem, SizeResult | None]:
    """Return the bisection's answer, over windows in which its flows have settled if they fit.

    Also returns the problem with these windows. A run whose flows still change ends the search at
    once; whether they met losses and queues that grow is asked of the size that decides alone.
    """
    if fixed:
        found = _bisected(problem, session, only)
        return problem, None if found is None else _noted(found, notes_of(problem, found))
    watching = session.with_engine(Settling(session.engine))
    for _ in range(MOST_TRIES):
        try:
            found = _bisected(problem, watching, only)
        except NotSettled:
            found, notes = None, _UNKNOWN
        else:
            notes = () if found is None else notes_of(problem, found)
        if not notes:
            return _of_enough_transfers(problem, session, only, found)
        made = later(problem, session)
        if made is None:
            return problem, _with_notes(problem, session, only, found, notes)
        problem = made
    return problem, _with_notes(problem, session, only, None, _UNKNOWN)


def _of_enough_transfers(
    problem: Problem, session: Session, only: str | None, found: SizeResult | None
) -> tuple[Problem, SizeResult | None]:
    """Return the answer of a longer window where its transfers were too few, and there is time."""
    if found is None or too_few_transfers(problem, found) is None:
        return problem, found
    from forebay.search.transfers import with_more

    longer = with_more(problem, session)
    again = None
    if longer is not None:
        with suppress(TooLittleTime):
            again = _bisected(longer, session, only)
    return (problem, found) if longer is None or again is None else (longer, again)


def _with_notes(
    problem: Problem,
    session: Session,
    only: str | None,
    found: SizeResult | None,
    notes: tuple[str, ...],
) -> SizeResult | None:
    """Return a search's answer with its notes; where it ended without one, search as it is."""
    if found is None and notes:
        found = _bisected(problem, session, only)
        notes = () if found is None else notes_of(problem, found) or (some_note(problem),)
    return None if found is None else _noted(found, notes)


def _bisected(problem: Problem, session: Session, only: str | None) -> SizeResult | None:
    """Return the bisection's answer; None if it gave way."""
    return search_within(
        partial(_bisect, problem), session.for_seconds(session.time.left_s),
        None if only else _fallback(problem, session),
        all_or_nothing=problem.scenario.flows_uncertain,
    )  # fmt: skip


def _with_more_seeds(found: SizeResult, problem: Problem, session: Session) -> SizeResult:
    """Return the answer with more seeds, if the options ask for it; its progress begins again."""
    if not session.options.open_ended:
        return found
    from forebay.search.add_seeds import MoreSearches, add_seeds

    def search(seeds: int, left: Session) -> SizeResult | None:
        options = replace(left.options, max_seeds=seeds)
        return again_within(partial(_bisect, problem), replace(left, options=options))

    more = MoreSearches(found, search, session, session.options.max_seeds)
    add_seeds(more)
    return more.found


def _bisect(problem: Problem, session: Session) -> SizeResult:
    return ask(problem, Bisection(), session).result


def _scaled(problem: Problem, session: Session) -> tuple[SizeResult, float]:
    """Return the answer of the crossings in the time that is left, and its predicted seconds."""
    from forebay.search.strategies.scaling.strategy import Scaling

    budget_s, left_s = session.time.seconds, session.time.left_s
    progress = rest(session.options.progress, 1.0 - left_s / budget_s)
    try:
        return ask(problem, Scaling(), session.with_progress(progress).for_seconds(left_s))
    except TooLittleTime as refused:  # of the part of the time that was left
        raise refused.but(budget_s=budget_s) from None


def _fallback(problem: Problem, session: Session) -> Fallback:
    """Return the search's fallback: crossings, at both ends where flows are a range."""

    def needs_s() -> float:
        from forebay.search.strategies.crossing.crossing import seeds_of_crossing
        from forebay.search.strategies.scaling.forecast import crossing_s

        many = len(seeds_of_crossing(session.options.seeds, session.speed.jobs))
        return sum(crossing_s(end, session.speed, many) for end in _ends(problem))

    return Fallback(needs_s, lambda: _all_scale(problem))


def _all_scale(problem: Problem) -> bool:
    """Whether smaller links may replace the link, at both ends where flows are a range."""
    from forebay.search.strategies.scaling.rule import scales

    return all(scales(end) for end in _ends(problem))


def _ends(problem: Problem) -> list[Scenario]:
    scenario = problem.scenario
    if not scenario.flows_uncertain:
        return [scenario]
    return [scenario.at_flows("low"), scenario.at_flows("high")]
