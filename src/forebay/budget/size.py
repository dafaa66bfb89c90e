"""A sizing within a time limit: the whole search if it fits, else a cheaper method.

The methods, in order: the search, which tests for each buffer whether it meets the goals; the
crossing of the whole link's curve; the crossings of smaller links of the same kind, extrapolated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from forebay.budget.cost import Speed, TooLittleTime, predict_search
from forebay.budget.timed import Fallback, search_within
from forebay.outcome import Cost, SizeResult
from forebay.sizing import goals_of
from forebay.sizing import size as search
from forebay.sizing.question import first_guess

if TYPE_CHECKING:
    from forebay.budget.sawtooths import Sawtooths
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Scenario
    from forebay.sizing.question import LawLike, RegimeLike


def size_within(
    scenario: Scenario,
    engine: Engine,
    budget_s: float,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    jobs: int = 0,
    progress: Progress | None = None,
    laws: Sequence[LawLike] = (),
    governs: RegimeLike | None = None,
    expect: Callable[[float], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
    sawtooths: Sawtooths | None = None,
    open_ended: bool = False,
) -> SizeResult:
    """Find the smallest buffer that meets the goals in about ``budget_s`` seconds.

    Parameters
    ----------
    budget_s : elapsed seconds.
    expect : called once, before anything runs, with the predicted seconds.
    clock : returns seconds; tests replace it. `forebay.sizing.size` documents the others.
    sawtooths : `forebay.laws.assumptions.sawtooths_s`; without it no window is lengthened.
    open_ended : a search with a wide range uses the time that is left for more than ``max_seeds``.

    Returns
    -------
    SizeResult
        With ``cost``, and with ``scaled`` if smaller links were simulated in place of this one.

    Raises
    ------
    TooLittleTime
        Neither the link nor a smaller one of its kind can be simulated in that time.
    """
    threads = jobs or os.cpu_count() or 1
    begun, speed, shown, progress = clock(), Speed(threads), progress, _onward(progress)
    whole, reason = scenario, _why_only_search(scenario)
    if sawtooths and _too_short(scenario, first_guess(scenario, laws), sawtooths):
        from forebay.budget.sawtooths import lengthened

        wholly = reason is None and _all_scale(scenario)
        whole = lengthened(scenario, sawtooths, laws, speed, seeds, budget_s, wholly=wholly)
    whole_s = predict_search(whole, speed, len(seeds))
    if expect is not None:
        expect(min(whole_s, budget_s))
    if whole_s <= budget_s or not scenario.crossing:

        def full_search(most_seeds: int, timed: Engine, report: Progress) -> SizeResult:
            return search(
                whole, timed, seeds=seeds, max_seeds=most_seeds, jobs=jobs, progress=report,
                laws=laws, governs=governs,
            )  # fmt: skip

        result = search_within(
            partial(full_search, max_seeds), engine, budget_s,
            speed=speed, clock=clock, progress=progress,
            fallback=None if reason else _fallback(whole, speed, seeds),
            all_or_nothing=scenario.flows_uncertain,
        )  # fmt: skip
        if result is not None and open_ended:
            from forebay.budget.narrow import narrow

            result = narrow(
                result, full_search, engine, max_seeds,
                begun_s=begun, budget_s=budget_s, speed=speed, clock=clock, progress=shown,
            )  # fmt: skip
        if result is not None:
            if sawtooths and _too_short(whole, result.chosen or 1, sawtooths):
                from forebay.budget.sawtooths import too_short

                notes = (*result.notes, *too_short(whole, result.chosen or 1, sawtooths))
                result = result.model_copy(update={"notes": notes})
            return _with_cost(result, whole_s, clock() - begun, budget_s)
    elif reason is not None:
        raise TooLittleTime(reason, whole_s, budget_s)
    from forebay.budget.answer import answer

    left_s = budget_s - (clock() - begun)
    progress = _rest(progress, 1.0 - left_s / budget_s)

    def answer_end(
        end: Scenario, report: Progress | None, share: float = 0.5
    ) -> tuple[SizeResult, float]:
        return answer(
            end, engine, share * left_s,
            seeds=seeds, max_seeds=max_seeds, threads=threads, progress=report, laws=laws,
            governs=governs, clock=clock, speed=speed, sawtooths=sawtooths,
        )  # fmt: skip

    try:
        if scenario.flows_uncertain:
            from forebay.budget.ends import both_ends

            result, predicted_s = both_ends(scenario, answer_end, progress)
        else:
            result, predicted_s = answer_end(scenario, progress, 1.0)
    except TooLittleTime as refused:  # of the part of the time that was left
        raise refused.but(budget_s=budget_s) from None
    predicted_s = whole_s if whole_s <= budget_s else predicted_s
    return _with_cost(result, predicted_s, clock() - begun, budget_s)


def _too_short(scenario: Scenario, packets: int, sawtooths: Sawtooths) -> bool:
    """Whether the scenario measures too early or too briefly for the sawtooths at a buffer."""
    times = sawtooths(scenario, packets)
    return scenario.measure.warmup < times.warmup_s or scenario.measure.duration < times.window_s


def _onward(progress: Progress | None) -> Progress | None:
    """Return a callback that never reports less than before; None without one."""
    if progress is None:
        return None
    most = 0.0

    def report(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        progress(most)

    return report


def _rest(progress: Progress | None, done: float) -> Progress | None:
    """Return the callback of what is left after the fraction ``done``; None without one."""
    if progress is None:
        return None
    return lambda fraction: progress(done + (1.0 - done) * fraction)


def _fallback(scenario: Scenario, speed: Speed, seeds: Sequence[int]) -> Fallback:
    """Return the search's fallback: crossings, at both ends where flows are a range."""
    ends = _ends(scenario)

    def needs_s() -> float:
        from forebay.budget.crossing import seeds_of_crossing
        from forebay.budget.ladder import crossing_s

        many = len(seeds_of_crossing(seeds, speed.jobs))
        return sum(crossing_s(end, speed, many) for end in ends)

    return Fallback(needs_s, lambda: _all_scale(scenario))


def _all_scale(scenario: Scenario) -> bool:
    """Whether smaller links may replace the link, at both ends where flows are a range."""
    from forebay.budget.scale import scales

    return all(scales(end) for end in _ends(scenario))


def _ends(scenario: Scenario) -> list[Scenario]:
    if not scenario.flows_uncertain:
        return [scenario]
    return [scenario.at_flows("low"), scenario.at_flows("high")]


def _why_only_search(scenario: Scenario) -> str | None:
    """Return why only the search can answer; None where the crossing of a curve can."""
    goals = goals_of(scenario)
    either = [str(goal) for goal in goals if goal.kind.pushes == "either"]
    if either:
        return f"{either[0]} may be met between two buffers that miss, which needs a search"
    if not any(goal.kind.pushes == "up" for goal in goals):
        return "no goal needs a buffer"
    rates = [str(goal) for goal in goals if goal.kind.pushes == "up" and goal.kind.unit]
    return f"{rates[0]} is a rate, which needs a search" if rates else None


def _with_cost(
    result: SizeResult, predicted_s: float, spent_s: float, budget_s: float
) -> SizeResult:
    cost = Cost(predicted_s=predicted_s, spent_s=spent_s, budget_s=budget_s)
    return result.model_copy(update={"cost": cost})
