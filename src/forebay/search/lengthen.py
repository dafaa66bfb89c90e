"""Lengthen the measured window of a link for its sawtooths, as far as the time allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.search.cost import TooLittleTime, in_words, predict_search
from forebay.search.sawtooths import long_enough, measure_of
from forebay.search.strategies.crossing.crossing import seeds_of_crossing
from forebay.search.strategies.scaling.forecast import crossing_s

if TYPE_CHECKING:
    from forebay.scenario import Measure
    from forebay.search.problem import Problem, SawtoothTimes
    from forebay.search.strategies.protocol import Session

_SHARE = 0.5
"""Share of the budget that a search over a longer window may take by prediction."""


def lengthened(problem: Problem, session: Session, *, wholly: bool) -> Problem:
    """Return the problem with a warm-up and window for the sawtooths of its link.

    Those that the scenario sets are not changed.

    Parameters
    ----------
    wholly : no shorter ones will do, because smaller links replace a search that takes too long.

    Raises
    ------
    TooLittleTime
        A few flows, and no time for one sawtooth: a part of it says nothing about the buffer.
    """
    scenario, sawtooths = problem.scenario, problem.law_context.sawtooths
    if sawtooths is None or "measure" in scenario.model_fields_set:
        return problem
    times = sawtooths(scenario, problem.first_guess)
    longer = long_enough(scenario.measure, times)
    if not wholly:
        longer = _in_time(problem, longer, times, session)
    return problem.of(scenario.model_copy(update={"measure": longer}))


def _in_time(problem: Problem, longer: Measure, times: SawtoothTimes, session: Session) -> Measure:
    """Return as much of a longer measurement as the time allows, and no less than the usual."""
    scenario, budget_s = problem.scenario, session.time.seconds
    measure = scenario.measure
    wanted_s, usual_s = (float(each.warmup + each.duration) for each in (longer, measure))
    needs_s = (
        predict_search(scenario, session.speed, len(session.options.seeds)) * wanted_s / usual_s
    )
    share = min(1.0, _SHARE * budget_s / needs_s)
    duration = max(share * float(longer.duration), float(measure.duration))
    if times.window_s > times.period_s > duration and _would_run_whole(problem, session):
        why = f"its flows take {in_words(times.period_s)} from one loss to the next"
        raise TooLittleTime(why, needs_s / _SHARE, budget_s)
    return measure_of(max(share * float(longer.warmup), float(measure.warmup)), duration)


def _would_run_whole(problem: Problem, session: Session) -> bool:
    """Whether the usual windows fit; if not, the link is scaled down or refused anyway."""
    scenario, speed = problem.scenario, session.speed
    each = scenario.at_flows("low") if scenario.flows_uncertain else scenario
    many = len(seeds_of_crossing(session.options.seeds, speed.jobs))
    return crossing_s(each, speed, many) <= session.time.seconds
