"""The answer from the crossing of the link itself, or extrapolated from smaller links."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from forebay.budget.cost import Speed
from forebay.budget.crossing import seeds_of_crossing
from forebay.budget.extrapolate import Carried, extrapolate
from forebay.budget.ladder import Climb, climb, confirm
from forebay.budget.notes import notes_of
from forebay.budget.scale import is_one_process, why_not
from forebay.budget.sharpen import sharpen
from forebay.budget.usable import loss_warning
from forebay.budget.whole import as_whole
from forebay.outcome import (
    Buffer,
    Interval,
    Metric,
    Scaled,
    ScaledLink,
    SizeResult,
    Verdict,
)
from forebay.scenario import Long
from forebay.sizing import Interrupted, goals_of
from forebay.sizing.assemble import interrupted, result_of
from forebay.sizing.evidence import Evidence
from forebay.sizing.goals import Goal
from forebay.sizing.question import (
    LawLike,
    Question,
    RegimeLike,
    Trial,
    Trials,
    law_result,
    regime,
    upper_limit,
)

if TYPE_CHECKING:
    from forebay.budget.sawtooths import Sawtooths
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Scenario


def answer(
    scenario: Scenario,
    engine: Engine,
    budget_s: float,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    threads: int,
    progress: Progress | None,
    laws: Sequence[LawLike],
    governs: RegimeLike | None,
    clock: Callable[[], float],
    speed: Speed | None = None,
    sawtooths: Sawtooths | None = None,
) -> tuple[SizeResult, float]:
    """Return the result and its predicted time in seconds; see `size_within`."""
    known = tuple(law_result(law) for law in laws)
    question = Question(
        scenario, engine.name, _no_trials(scenario, engine, seeds), goals_of(scenario),
        upper_limit(scenario), known, None if governs is None else regime(governs),
    )  # fmt: skip
    state = climb(
        scenario, engine, seeds_of_crossing(seeds, threads), budget_s,
        jobs=threads, progress=progress, clock=clock, why_whole=why_not(scenario),
        speed=speed, sawtooths=sawtooths,
    )  # fmt: skip
    sharpen(state, max_seeds)
    confirm(state)
    result = _answer(question, state, sawtooths)
    if state.stopped:
        raise Interrupted(interrupted(result, "the links simulated so far give"))
    if progress is not None:
        progress(1.0)
    return result, state.predicted_s


def _no_trials(scenario: Scenario, engine: Engine, seeds: Sequence[int]) -> Trials:
    return Trials(
        scenario, engine, goals_of(scenario),
        seeds=seeds, max_seeds=len(seeds), jobs=1, progress=None, limit=upper_limit(scenario),
    )  # fmt: skip


def _answer(question: Question, state: Climb, sawtooths: Sawtooths | None) -> SizeResult:
    """Assemble the result from the simulated rungs."""
    top = state.rungs[0]
    if top.found.reached == "above":
        return _unreachable(question, state)
    carried = _carried(state, question)
    safe = max(1, math.ceil(top.meets))
    ratio = carried.packets / top.found.packets
    packets = max(1, math.ceil(safe * ratio))
    _record(question, state, ratio)
    there = question.trials.done[packets]
    missed = [g for g in question.down if g.judge(there.metric(g)) is Verdict.MISSED]
    if missed:
        reason = _contradiction(question, there, missed)
        return result_of(question, there, (*question.up, *missed), reason=reason).model_copy(
            update={"scaled": _scaled(state, carried, packets)}
        )
    octets = packets * int(question.scenario.packet)
    low, high = max(1, math.floor(carried.low)), max(packets, math.ceil(carried.high))
    buffer = Buffer(
        packets=packets, bytes=octets, seconds=octets * 8 / float(question.scenario.link.capacity),
        low=min(low, packets), high=high,
    )  # fmt: skip
    return result_of(
        question, there, question.not_met_below(packets),
        buffer=buffer, region=(_region(question, packets),),
        warning=loss_warning(question, state, there),
        notes=notes_of(question, state, buffer, sawtooths),
    ).model_copy(
        update={"scaled": _scaled(state, carried, packets), "aqm": _aqm(question, packets)}
    )  # fmt: skip


def _carried(state: Climb, question: Question) -> Carried:
    """Return the whole link's buffer: the top rung's if it needs the same, else extrapolated."""
    top = state.rungs[0]
    if top.factor == 1.0 or (is_one_process(question.scenario) and not _by_time(question)):
        found = top.found
        return Carried(found.packets, found.low, found.high, 0.0, 0.0, 0.0)
    carried = extrapolate(
        [rung.factor for rung in state.rungs],
        [rung.found for rung in state.rungs],
        steepest(question, state),
        gentlest=state.path.gentlest,
        proportional=is_proportional(question.scenario, question.up),
    )
    return _bounded(carried, question, state)


def _bounded(carried: Carried, question: Question, state: Climb) -> Carried:
    """Limit an answer from smaller windows to one BDP, which keeps any link busy."""
    most = question.scenario.bdp_packets
    if not state.path.shrinks_windows or carried.high <= most:
        return carried
    ends = {"packets": min(carried.packets, most), "low": min(carried.low, most), "high": most}
    return replace(carried, **ends)


def steepest(question: Question, state: Climb) -> float:
    """Return the largest lasting exponent; it is 1 for a target in time and for a loss goal."""
    lossy = any("loss" in goal.kind.name for goal in question.up)
    return 1.0 if _by_time(question) or lossy else state.path.steepest


def _by_time(question: Question) -> bool:
    """Whether a target in time is sized, and not a number of packets."""
    return question.trials.knob.guard_packets is not None


def is_proportional(scenario: Scenario, up: Sequence[Goal]) -> bool:
    """Whether only long flows' loss needs a buffer, which is then proportional to the rate."""
    lossy = all(goal.kind.name == "loss_rate" for goal in up)
    return lossy and all(isinstance(group, Long) for group in scenario.traffic)


def _record(question: Question, state: Climb, ratio: float) -> None:
    """Record the curve of the largest simulated link, scaled to the whole link."""
    top = state.rungs[0]
    for packets, outcome in sorted(top.link.outcomes.items()):
        there = max(1, math.ceil(packets * ratio))
        known = outcome
        if top.factor != 1.0:
            known = as_whole(outcome, question.scenario, top.factor, there)
        question.trials.record(there, known)


def _unreachable(question: Question, state: Climb) -> SizeResult:
    top = state.rungs[0]
    seen = Evidence(top.link.outcomes[top.link.limit])
    reached = ((goal, goal.kind.read(seen)) for goal in question.up)
    goals = " and ".join(f"{goal} ({goal.says(metric)})" for goal, metric in reached if metric)
    at = "" if top.factor == 1.0 else f" of a link {top.factor:.3g} times smaller"
    reason = f"missed even with {top.link.limit} packets{at}: {goals}"
    return result_of(question, None, question.up, reason=reason)


def _contradiction(question: Question, there: Trial, missed: Sequence[Goal]) -> str:
    needed = " and ".join(str(goal) for goal in question.up)
    says = " and ".join(f"{goal} is not met ({goal.says(there.metric(goal))})" for goal in missed)
    return f"the goals contradict each other: {needed} needs {there.packets} packets, where {says}"


def _region(question: Question, packets: int) -> Interval:
    """Return the sizes that meet the goals; no packet can exceed a delay goal at these sizes."""
    knob = question.trials.knob
    delays = [goal.target for goal in question.down if goal.kind.unit == "s"]
    high = None
    if delays:
        high = max(packets, math.floor(min(delays) / knob.packet_s))
    binding = tuple(goal.kind.name for goal in question.not_met_below(packets))
    return Interval(low=packets, high=high, binding_low=binding, binding_high=())


def _aqm(question: Question, packets: int) -> object:
    knob = question.trials.knob
    return None if knob.guard_packets is None else knob.describe(packets)


def _scaled(state: Climb, carried: Carried, packets: int) -> Scaled | None:
    top = state.rungs[0]
    if top.factor == 1.0:
        return None
    seeds = top.found.seeds
    error = Metric(
        value=carried.packets / packets - 1, low=carried.low / packets - 1,
        high=carried.high / packets - 1, n=seeds,
    )  # fmt: skip
    exponent = Metric(
        value=carried.exponent, low=carried.exponent_low, high=carried.exponent_high, n=seeds
    )
    links = tuple(_link(state, index) for index in range(len(state.rungs)))
    return Scaled(
        factor=top.factor, error=error, links=links, exponent=exponent,
        flows_share=state.path.share,
    )  # fmt: skip


def _link(state: Climb, index: int) -> ScaledLink:
    rung = state.rungs[index]
    link, found = rung.link.scenario, rung.found
    return ScaledLink(
        factor=rung.factor,
        rate_bps=float(link.link.capacity),
        flows=link.n_flows,
        window_packets=link.bdp_packets / link.n_flows if link.n_flows else None,
        packets=Metric(value=found.packets, low=found.low, high=found.high, n=found.seeds),
    )
