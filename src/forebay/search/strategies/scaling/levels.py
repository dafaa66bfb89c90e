"""Simulate level after level of a scaling study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from forebay.search import settling
from forebay.search.acceptable_loss import is_due
from forebay.search.cost import Speed, TooLittleTime
from forebay.search.stopping import RESERVE, OutOfTime
from forebay.search.strategies.crossing.crossing import find
from forebay.search.strategies.crossing.curve import LinkCurve, curve_of
from forebay.search.strategies.scaling.checkpoint import Checkpoint
from forebay.search.strategies.scaling.forecast import Forecast, first_buffer
from forebay.search.strategies.scaling.next_level import (
    first_level,
    next_level,
    smaller_level,
    trend_s,
)
from forebay.search.strategies.scaling.rule import TOP_FLOWS, ScalingRule, rule_of, why_not
from forebay.search.strategies.scaling.study import ROOM, STEP, Level, ScalingStudy
from forebay.search.timed import Timed

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.scenario import Measure
    from forebay.search.options import Options
    from forebay.search.problem import Problem
    from forebay.search.stopping import TimeLimit

_SETTLES_LATER = 4
"""Multiple of the first guess at which settling is watched: larger buffers settle more slowly."""
_LOSS_SHARE = 0.25
"""Share of the time for the buffer of acceptable loss, where that at the answer is not."""
_TOP = 1.4
"""Factor of the largest link that fits, relative to the time of the whole link over the budget."""
_TOO_FEW = "too few flows share it for a smaller link to behave in the same way"


def run_study(
    problem: Problem, engine: Engine, options: Options, time: TimeLimit, speed: Speed
) -> ScalingStudy:
    """Simulate increasingly large links of this kind for the given time.

    Parameters
    ----------
    options : with the seeds of every fine run; a multiple of the threads leaves none idle.
    speed : of this machine, as far as something ran before.

    Raises
    ------
    TooLittleTime
        There are fewer finished links than an answer needs.
    """
    study = ScalingStudy(
        problem, Timed(engine, speed, options.clock), options, time,
        Forecast(speed, problem.law_context.sawtooths),
        Checkpoint(engine, problem.scenario, options.seeds),
    )  # fmt: skip
    why_whole = why_not(problem.scenario)
    whole_s, alone = _plan(study, why_whole)
    try:
        _run_levels(study, 1.0 if alone or whole_s <= study.left_s / 2 else first_level(study))
    except KeyboardInterrupt:
        if _lacking(study) is not None:
            raise
        study.stopped = True
    except Exception as error:
        if getattr(error, "exit_status", None) is None or len(study.levels) < 2:
            raise  # a bug, or a refusal such as of its memory, before there is a trend
    if (why := _lacking(study)) is not None:
        why = (why_whole or _TOO_FEW) if alone else why
        scaled_s = None if alone else trend_s(study)
        whole_s = study.predict(problem.scenario)
        raise TooLittleTime(why, whole_s, time.seconds, scaled_s=scaled_s)
    return study


def _plan(study: ScalingStudy, why_whole: str | None) -> tuple[float, bool]:
    """Choose the rule of a study; return the predicted seconds of the whole link, and if it is
    the only level.

    Parameters
    ----------
    why_whole : why no smaller link may represent this one; None if one may.
    """
    scenario, budget_s = study.problem.scenario, study.time.seconds
    whole_s = study.predict(scenario)
    over = whole_s / budget_s
    study.rule = rule_of(scenario, max(STEP, ROOM * over), _TOP * over)
    study.predicted_s = min(whole_s, RESERVE * budget_s)
    fits = whole_s <= study.left_s
    few = 0 < scenario.n_flows < TOP_FLOWS
    alone = why_whole is not None or study.rule.largest < STEP or few
    if alone:
        study.rule = ScalingRule(1.0, 1.0)
    if alone and not fits and study.forecast.sawtooths is not None:
        study.forecast.sawtooths = None  # measure for less time: a note says so (`too_short`)
        fits = study.predict(scenario) <= study.left_s
    if alone and not (fits or _may_fit(study)):
        raise TooLittleTime(why_whole or _TOO_FEW, whole_s, budget_s)
    return whole_s, alone


def _may_fit(study: ScalingStudy) -> bool:
    """Whether the whole link fits if it settles as soon as its flows have started."""
    scenario = study.problem.scenario
    if settling.measure_stands(scenario):
        return False
    shortest = settling.measure_for(scenario, settling.Settling(0.0, 0.0))
    return study.predict(scenario, shortest) <= study.left_s


def _run_levels(study: ScalingStudy, first: float) -> None:
    """Simulate level after level; if the time stops the first or second, try a smaller one."""
    factor: float | None = first
    while factor is not None:
        try:
            study.levels.append(_run_level(study, factor))
        except OutOfTime:
            study.cut = factor
            factor = smaller_level(study, factor)
            continue
        study.levels.sort(key=lambda level: level.factor)
        study.reserved_s = _LOSS_SHARE * study.time.seconds if _loses(study) else 0.0
        factor = next_level(study)


def _loses(study: ScalingStudy) -> bool:
    """Whether the last level's loss is not acceptable, and holds for the whole link."""
    outcomes, scenario = study.levels[0].outcomes.values(), study.problem.scenario
    return not study.rule.shrinks_windows and any(is_due(scenario, each) for each in outcomes)


def _lacking(study: ScalingStudy) -> str | None:
    """Return why the levels give no answer: too few links for a trend, or too few flows."""
    if not study.levels or (study.levels[0].factor > 1.0 and len(study.levels) < 2):
        return "two smaller links do not fit into the time"
    flows = study.levels[0].link.n_flows
    if study.levels[0].factor > 1.0 and 0 < flows < TOP_FLOWS:
        return f"the largest link that fits has {flows} flows, too few to represent many"
    return None


def _run_level(study: ScalingStudy, factor: float) -> Level:
    """Simulate one link to its crossing, with a suitable warm-up and window."""
    study.started_at, link = study.time.spent_s, study.at(factor)
    first = curve_of(link, study.engine, study.ticking)
    start = _start(study, first, factor)
    measured = link.model_copy(update={"measure": _measure(study, factor, first, start)})
    curve = curve_of(measured, study.engine, study.ticking)
    found = find(curve, start, curve.limit)
    return Level(factor, curve, found, study.time.spent_s - study.started_at)


def _measure(study: ScalingStudy, factor: float, curve: LinkCurve, start: int) -> Measure:
    """Return a level's warm-up and window: as an earlier study measured them, or measured now."""
    problem, share = curve.evaluator.problem, study.rule.share
    known = study.checkpoint.measure_of(factor, share)
    if known is not None:
        return known
    link = problem.scenario
    measure, trace = link.measure, study.engine.capabilities.trace
    if trace is not None and not settling.measure_stands(link):
        large = min(_SETTLES_LATER * start, curve.limit)
        seen = settling.watch(link, trace, problem.parameter, large, study.seeds[0], study.tick)
        measure = settling.measure_for(link, seen)
    measure = study.forecast.lasting(link, measure, start)
    study.checkpoint.add(factor, share, measure)
    return measure


def _start(study: ScalingStudy, curve: LinkCurve, factor: float) -> int:
    """Return the first buffer: extrapolated from smaller levels, or BDP/sqrt(n) over two."""
    below = study.levels[:2]
    if not below:
        return first_buffer(curve.evaluator.problem.scenario)
    exponent = study.rule.likely
    if len(below) == 2:
        rise = math.log(below[0].found.packets / below[1].found.packets)
        exponent = rise / math.log(below[1].factor / below[0].factor)
    exponent = min(max(exponent, 0.0), study.rule.steepest)
    guess: float = below[0].found.packets * (below[0].factor / factor) ** exponent
    return max(1, round(guess))


def confirm(study: ScalingStudy) -> None:
    """Simulate the buffer that meets the goals, unless it was simulated or no time is left."""
    top = study.levels[0]
    wanted = min(max(1, math.ceil(top.found.high)), top.curve.limit)
    try:
        if wanted not in top.outcomes and not study.stopped:
            top.curve.fine(wanted)
    except KeyboardInterrupt as end:
        study.stopped = not isinstance(end, OutOfTime)
    if wanted not in top.outcomes:
        above = [b for b in top.outcomes if b >= top.found.high]
        wanted = min(above, default=max(top.outcomes))
    top.meets = wanted
