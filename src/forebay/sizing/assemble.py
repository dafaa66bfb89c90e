"""Puts the result together from what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import (
    Aqm,
    Buffer,
    CurvePoint,
    GoalAtPoint,
    GoalResult,
    Interval,
    LossWarning,
    Relaxation,
    SizeResult,
    Verdict,
)
from forebay.sizing.goals import Goal
from forebay.sizing.knob import notes_of
from forebay.sizing.question import Question
from forebay.sizing.trials import Trial, Trials, dropped
from forebay.sizing.usable import loss_warning
from forebay.sizing.wording import evidence, several, unlimited, width

if TYPE_CHECKING:
    from forebay.scenario import Scenario


def found(
    question: Question,
    region: Sequence[Interval],
    low: int,
    there: Trial,
    *,
    look: bool = True,
) -> SizeResult:
    """Return the result with the answer ``there``; noise leaves open what is from ``low`` on.

    Without ``look`` nothing more is run, and what is open was not looked at.
    """
    buffer = buffer_of(question.scenario, low, there.packets)
    binding = question.not_met_below(there.packets)
    warning = loss_warning(question, there, look=look)
    notes = width(question.trials, buffer.low, buffer.high) if look else ()
    return result_of(
        question,
        there,
        binding,
        warning=warning,
        buffer=buffer,
        region=region,
        notes=(*notes, *several(region), *_remarks(question, there)),
    )


def none(
    question: Question,
    reason: str,
    against: Sequence[Goal] = (),
    relaxations: Sequence[Relaxation] = (),
) -> SizeResult:
    """Return the result without an answer; the goals ``against`` it are marked binding."""
    tried = question.trials.done.values()
    nearest = min(tried, key=lambda t: (t.excess(), t.packets), default=None)
    return result_of(question, nearest, against, reason=reason, relaxations=relaxations)


def buffer_of(scenario: Scenario, low: int, packets: int) -> Buffer:
    """Return a size three ways; every size below ``low`` was shown to miss."""
    octets = packets * int(scenario.packet)
    seconds = octets * 8 / float(scenario.link.capacity)
    return Buffer(packets=packets, bytes=octets, seconds=seconds, low=low, high=packets)


def _remarks(question: Question, there: Trial) -> list[str]:
    notes = [
        f"{goal} is undecided at {there.packets} packets; more seeds would tell"
        for goal in question.down
        if goal.judge(there.metric(goal)) is Verdict.UNDECIDED
    ]
    notes += notes_of(question.scenario, question.engine, question.trials.knob)
    if not question.up and not question.either:
        notes.append("only delay goals are set, and the smallest buffer meets those best")
    reference = question.trials.unlimited
    if reference is not None:
        notes.append(unlimited(question.trials.unlimited_packets, dropped(reference)))
    return notes


def result_of(
    question: Question,
    there: Trial | None,
    binding: Sequence[Goal],
    *,
    buffer: Buffer | None = None,
    region: Sequence[Interval] = (),
    reason: str | None = None,
    relaxations: Sequence[Relaxation] = (),
    warning: LossWarning | None = None,
    notes: Sequence[str] = (),
) -> SizeResult:
    """Return the result with the answer, or the nearest miss, ``there``."""
    return SizeResult(
        scenario=question.scenario.name,
        engine=question.engine,
        buffer=buffer,
        goals=_goal_results(there, binding) if there is not None else (),
        laws=question.laws,
        curve=_curve(question.trials),
        nearest=there.packets if there is not None and buffer is None else None,
        largest=region[0].high if region else None,
        limit=question.limit,
        reason=reason,
        notes=tuple(notes),
        region=tuple(region),
        relaxations=tuple(relaxations),
        governs=question.governs,
        evidence=evidence(question.engine, there) if there is not None else (),
        loss_warning=warning,
        aqm=_aqm(question, there, buffer),
    )


def _aqm(question: Question, there: Trial | None, buffer: Buffer | None) -> Aqm | None:
    """Return what is to be configured where the aim of an AQM was sized; None elsewhere."""
    knob = question.trials.knob
    if knob.guard_packets is None or there is None:
        return None
    return knob.describe(there.packets if buffer is None else buffer.packets)


def _goal_results(there: Trial, binding: Sequence[Goal]) -> tuple[GoalResult, ...]:
    return tuple(
        GoalResult(
            name=goal.kind.name,
            sense=goal.kind.sense,
            pushes=goal.kind.pushes,
            unit=goal.kind.unit,
            target=goal.target,
            reached=there.metric(goal),
            verdict=goal.judge(there.metric(goal)),
            binding=goal in binding,
            title=goal.kind.title,
        )
        for goal in there.goals
    )


def _at_point(goal: Goal, trial: Trial) -> GoalAtPoint:
    metric = trial.metric(goal)
    return GoalAtPoint(name=goal.kind.name, reached=metric, verdict=goal.judge(metric))


def _curve(trials: Trials) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(
            packets=packets,
            seeds=trial.seeds,
            verdict=trial.verdict(trials.goals),
            goals=tuple(_at_point(goal, trial) for goal in trials.goals),
            outcome=trial.outcome,
        )
        for packets, trial in sorted(trials.done.items())
    )
