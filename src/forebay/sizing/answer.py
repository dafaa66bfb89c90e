"""Find the answer from goals and an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.outcome import LINK, SizeResult, Verdict
from forebay.sizing import region
from forebay.sizing.assemble import contradiction, found, none, nowhere, started_again, unreachable
from forebay.sizing.goals import Goal, NobodyCrosses, SizingError, goals_of
from forebay.sizing.question import (
    LawLike,
    Question,
    RegimeLike,
    Trials,
    first_guess,
    law_result,
    regime,
    upper_limit,
)

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Scenario


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or the end of a budget, in the middle of a sizing.

    Attributes
    ----------
    result : the findings so far, without an answer.
    best_so_far : the answer with the smallest buffer found so far to meet the goals; None if
        there is none.
    """

    def __init__(self, result: SizeResult, best_so_far: SizeResult | None = None) -> None:
        super().__init__(result.reason)
        self.result, self.best_so_far = result, best_so_far


def size(
    scenario: Scenario,
    engine: Engine,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    jobs: int = 0,
    progress: Progress | None = None,
    laws: Sequence[LawLike] = (),
    governs: RegimeLike | None = None,
    limit: int | None = None,
) -> SizeResult:
    """Find the buffers that meet the scenario's goals; the smallest is the answer.

    Parameters
    ----------
    engine : runs a scenario; it runs every buffer with the same seeds.
    seeds, max_seeds : seeds of each first run, and the most that a buffer may use in total if
        its 95 % interval does not clear a target (no effect below ``len(seeds)``).
    jobs : passed on to the engine.
    progress : called with the fraction done, an estimate that never decreases.
    laws : published laws' answers; the result shows them, and the search starts from them.
    governs : which law governs the link, in words; the result shows it.
    limit : largest buffer to try, packets; None derives it from the link's bdp.

    Returns
    -------
    SizeResult
        If no buffer meets all goals, ``buffer`` is None, with ``reason`` and ``relaxations``.
        If flows are a range, the answer serves both of its ends (`forebay.sizing.ends`).

    Raises
    ------
    SizingError
        Bad seeds; NoGoals if the scenario has no goal; GoalNotAnswered if this engine does not
        give the metric of a goal.
    Interrupted
        Ctrl-C; the exception contains the findings so far.
    """
    _check(seeds)
    if not scenario.crossing:
        raise NobodyCrosses(LINK)

    known = tuple(law_result(law) for law in laws)
    governing = None if governs is None else regime(governs)

    def question_of(each: Scenario, report: Progress | None) -> Question:
        goals, most = goals_of(each), upper_limit(each) if limit is None else limit
        trials = Trials(
            each, engine, goals,
            seeds=seeds, max_seeds=max_seeds, jobs=jobs, progress=report, limit=most,
        )  # fmt: skip
        return Question(each, engine.name, trials, goals, most, known, governing)

    if scenario.flows_uncertain:
        from forebay.sizing.ends import serve_both

        try:
            result = serve_both(scenario, question_of, _answer, progress)
        except Interrupted as stop:  # the result of one end is no answer for both
            raise Interrupted(stop.result) from None
    else:
        result = _answer(question_of(scenario, progress))
    if progress is not None:
        progress(1.0)
    return result


def _answer(question: Question) -> SizeResult:
    try:
        return _solve(question)
    except KeyboardInterrupt:
        from forebay.sizing.best_so_far import best_so_far

        raise Interrupted(_unfinished(question), best_so_far(question)) from None


def _check(seeds: Sequence[int]) -> None:
    if not seeds or len(set(seeds)) != len(seeds):
        raise SizingError("bad-seeds", "seeds", f"got {list(seeds)}", "give one or more, each once")


def _solve(question: Question) -> SizeResult:
    """Find the region; its smallest buffer is the answer. If it is empty, relax the goals."""
    start = first_guess(question.scenario, question.laws)
    seen = region.find(question, start, picture=True)
    if not seen.spans:
        from forebay.sizing.relax import relaxations

        give_way = relaxations(question, start)
        seen = _again(question, start, seen)
    if not seen.spans:
        reason, against = _why_none(question, seen)
        return none(question, reason, against, give_way)
    least = seen.spans[0][0]
    there = question.trials.settle(least, question.trials.goals)
    low = seen.need.low + 1 if least == seen.need.high else least
    return found(question, region.intervals(question, seen.spans), low, there)


def _again(question: Question, start: int, seen: region.Found) -> region.Found:
    """Search again if a buffer that was tried for another reason meets all goals."""
    tried = question.trials.done.values()
    if any(trial.verdict(trial.goals) is Verdict.MET for trial in tried):
        return region.find(question, start)
    return seen


def _why_none(question: Question, seen: region.Found) -> tuple[str, tuple[Goal, ...]]:
    """Return why there is no region, and which goals prevent it."""
    trials, least = question.trials, seen.need.high
    if least is None:
        return unreachable(trials, question.up, question.limit), question.up
    if seen.missed:
        against = (*question.not_met_below(least), *seen.missed)
        return contradiction(trials, question.up, seen.missed, seen.need, seen.allow), against
    high = question.limit if seen.allow is None or seen.allow.high is None else seen.allow.low
    return nowhere(trials, question.either, least, max(least, high)), question.either


def _unfinished(question: Question) -> SizeResult:
    tried = len(question.trials.done)
    buffers = "1 buffer" if tried == 1 else f"{tried} buffers"
    reason = f"stopped after {buffers}; {started_again()}"
    stopped = none(question, reason)
    return stopped.model_copy(update={"interrupted": True})
