"""The answer from the crossing of the link itself, or extrapolated from smaller links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult
from forebay.search.acceptable_loss import loss_warning
from forebay.search.add_seeds import add_seeds
from forebay.search.evaluations import Evaluation, Evaluations
from forebay.search.evidence import Evidence
from forebay.search.goals import Goal
from forebay.search.problem import most_by_delay
from forebay.search.result import (
    Answer,
    NoAnswer,
    answered,
    buffer_of,
    interrupted,
    nearest_miss,
    unanswered,
)
from forebay.search.stopping import Interrupted
from forebay.search.strategies.crossing.crossing import seeds_of_crossing
from forebay.search.strategies.scaling.carry import carry, described
from forebay.search.strategies.scaling.extrapolate import Carried
from forebay.search.strategies.scaling.levels import confirm, run_study
from forebay.search.strategies.scaling.loss import looking
from forebay.search.strategies.scaling.more_seeds import MoreSeeds
from forebay.search.strategies.scaling.notes import notes_of
from forebay.search.strategies.scaling.verify import evaluate
from forebay.search.without_offload import of_largest_level

if TYPE_CHECKING:
    from forebay.outcome import Interval
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Session
    from forebay.search.strategies.scaling.study import ScalingStudy


@dataclass(frozen=True, slots=True)
class Extrapolated:
    """What a scaling study found; it can evaluate further sizes on its largest link.

    Attributes
    ----------
    packets : the buffer of the whole link, not rounded; 0 if no buffer meets the goals.
    """

    problem: Problem
    result: SizeResult
    evaluations: Evaluations
    study: ScalingStudy
    packets: float

    @property
    def predicted_s(self) -> float:
        """Seconds that were predicted before the study began."""
        return self.study.predicted_s

    def evaluate(self, packets: int, session: Session) -> Evaluation | None:
        """Evaluate a size on the largest link for which there is time."""
        known = self.evaluations.done.get(packets)
        if known is not None or not self.packets:
            return known
        return evaluate(self.study, self.evaluations, packets, self.packets, session)


class Scaling:
    """Finds the crossings of ever larger links of the same kind, up to the link itself."""

    def answer(self, problem: Problem, session: Session) -> Extrapolated:
        """Return the crossing of the link, or what its smaller links extrapolate to."""
        options = session.options
        seeds = seeds_of_crossing(options.seeds, options.threads)
        study = run_study(
            problem, session.engine, options.with_seeds(seeds), session.time, session.speed
        )
        add_seeds(MoreSeeds(study, options.max_seeds))
        confirm(study)
        found = _found(problem, study)
        if study.stopped:
            raise Interrupted(interrupted(found.result, "the links simulated so far give"))
        result = of_largest_level(problem, found.result, study, session)
        return replace(found, result=result)


def _found(problem: Problem, study: ScalingStudy) -> Extrapolated:
    """Assemble the result from the simulated levels."""
    evaluations, top = Evaluations(problem.goals, problem.engine), study.levels[0]
    if top.found.reached == "above":
        _record(study, evaluations, problem.limit / top.curve.limit)
        there = nearest_miss(evaluations)
        against = problem.increasing if there is None else there.not_met(problem.increasing)
        why = NoAnswer(_unreachable(against, study), against)
        result = unanswered(problem, evaluations, why, there)
        return Extrapolated(problem, result, evaluations, study, 0.0)
    carried = carry(problem, study)
    ratio = carried.packets / top.found.packets
    packets = max(1, math.ceil(max(1, math.ceil(top.meets)) * ratio))
    _record(study, evaluations, ratio)
    there = evaluations.done[packets]
    missed = there.missed(problem.decreasing)
    if missed:
        result = _contradiction(problem, study, evaluations, there, missed, carried)
    else:
        result = _answer(problem, study, evaluations, there, carried)
    return Extrapolated(problem, result, evaluations, study, carried.packets)


def _answer(
    problem: Problem,
    study: ScalingStudy,
    evaluations: Evaluations,
    there: Evaluation,
    carried: Carried,
) -> SizeResult:
    packets = there.packets
    low, high = max(1, math.floor(carried.low)), max(packets, math.ceil(carried.high))
    buffer = buffer_of(problem.scenario, min(low, packets), packets, high)
    binding = evaluations.not_met_below(packets, problem.needing)
    region = (_region(problem, packets, binding),)
    look = looking(study, evaluations)
    warning = loss_warning(problem.scenario, evaluations, there, look)
    notes = notes_of(problem, study, buffer)
    scaled = described(study, carried, packets)
    answer = Answer(buffer, binding, region, warning, notes, scaled)
    return answered(problem, evaluations, answer)


def _record(study: ScalingStudy, evaluations: Evaluations, ratio: float) -> None:
    """Record the curve of the largest simulated link, scaled to the whole link."""
    top = study.levels[0]
    for packets, outcome in sorted(top.outcomes.items()):
        there = max(1, math.ceil(packets * ratio))
        evaluations.record(there, study.as_whole(outcome, top.factor, there))


def _unreachable(against: Sequence[Goal], study: ScalingStudy) -> str:
    """Return which goals the largest buffer of the largest link missed."""
    top = study.levels[0]
    limit = top.curve.limit
    seen = Evidence(top.outcomes[limit])
    reached = ((goal, goal.kind.read(seen)) for goal in against)
    goals = " and ".join(f"{goal} ({goal.says(metric)})" for goal, metric in reached if metric)
    at = "" if top.factor == 1.0 else f" of a link {top.factor:.3g} times smaller"
    return f"missed even with {limit} packets{at}: {goals}"


def _contradiction(
    problem: Problem,
    study: ScalingStudy,
    evaluations: Evaluations,
    there: Evaluation,
    missed: list[Goal],
    carried: Carried,
) -> SizeResult:
    packets, needing = there.packets, problem.increasing
    needed = " and ".join(str(goal) for goal in needing)
    says = " and ".join(f"{goal} is not met ({goal.says(there.metric(goal))})" for goal in missed)
    low, high = max(1, math.floor(carried.low)), max(packets, math.ceil(carried.high))
    most = most_by_delay(problem)
    is_open = study.levels[0].factor > 1.0 and most is not None and low <= most
    claim = "the goals may contradict" if is_open else "the goals contradict"
    between = f" ({low} to {high})" if is_open else ""
    reason = f"{claim} each other: {needed} needs {packets} packets{between}, where {says}"
    scaled = described(study, carried, packets)
    why = NoAnswer(reason, (*needing, *missed), scaled=scaled, undecided=is_open)
    return unanswered(problem, evaluations, why, there)


def _region(problem: Problem, packets: int, binding: tuple[Goal, ...]) -> Interval:
    """Return the sizes that meet the goals; no packet can exceed a delay goal at these sizes."""
    from forebay.outcome import Interval

    most = most_by_delay(problem)
    high = None if most is None else max(packets, most)
    names = tuple(goal.kind.name for goal in binding)
    return Interval(low=packets, high=high, binding_low=names, binding_high=())
