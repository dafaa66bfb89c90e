"""Evaluate a size of the whole link after a study, on the largest link for which there is time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forebay.search.evaluator import Evaluator
from forebay.search.stopping import END, RESERVE, OutOfTime

if TYPE_CHECKING:
    from forebay.outcome import Outcome
    from forebay.search.evaluations import Evaluation, Evaluations
    from forebay.search.options import Options
    from forebay.search.stopping import TimeLimit
    from forebay.search.strategies.protocol import Session
    from forebay.search.strategies.scaling.study import Level, ScalingStudy


def evaluate(
    study: ScalingStudy,
    evaluations: Evaluations,
    packets: int,
    whole_packets: float,
    session: Session,
) -> Evaluation | None:
    """Record the evaluation of a size of the whole link, and return it.

    Parameters
    ----------
    evaluations : of the whole link.
    whole_packets : the buffer that the study gives for it.

    Returns
    -------
    Evaluation or None
        None if no run fits into the session's time.
    """
    level = _largest_in_time(study, session.time)
    if level is None:
        return None
    here = round(packets * level.found.packets / whole_packets)
    outcome = _simulated(study, level, min(max(here, 1), level.curve.limit), session)
    if outcome is None:
        return None
    return evaluations.record(packets, study.as_whole(outcome, level.factor, packets))


def _largest_in_time(study: ScalingStudy, time: TimeLimit) -> Level | None:
    """Return the largest link of which a run fits into the time; None if none fits."""
    for level in study.levels:
        measure = level.link.measure
        simulated_s = float(measure.warmup + measure.duration)
        run_s = study.forecast.speed.wall_s(level.link, simulated_s, len(level.curve.seeds))
        if run_s <= RESERVE * time.left_s:
            return level
    return None


def _simulated(study: ScalingStudy, level: Level, packets: int, session: Session) -> Outcome | None:
    """Return the outcome of a size on one link; None if the time ends before."""
    evaluator = Evaluator(level.curve.evaluator.problem, study.engine, _ticking(session))
    try:
        return evaluator.simulate(packets, level.curve.seeds)
    except OutOfTime:
        return None


def _ticking(session: Session) -> Options:
    """Return options whose runs report the elapsed share of the time, and stop at its end."""
    time, report = session.time, session.options.progress

    def tick(_: float) -> None:
        spent = time.spent_s
        if report is not None:
            report(min(spent / time.seconds, 0.99))
        if spent > END * time.seconds:
            raise OutOfTime

    return session.options.with_progress(tick)
