"""From goals and an engine to the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median_low
from typing import TYPE_CHECKING

from forebay.sizing.assemble import Question, found, none, not_met_below
from forebay.sizing.bracket import Bracket
from forebay.sizing.errors import SizingError
from forebay.sizing.goals import goals_of
from forebay.sizing.result import LawLike, SizeResult
from forebay.sizing.search import largest_met, paint, smallest_met
from forebay.sizing.trials import Trials
from forebay.sizing.verdict import Verdict
from forebay.sizing.wording import contradiction, unreachable

if TYPE_CHECKING:
    from forebay.engines.protocol import Engine, Progress
    from forebay.scenario import Scenario


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle; ``result`` is what was found so far, without an answer."""

    def __init__(self, result: SizeResult) -> None:
        super().__init__(result.reason)
        self.result = result


def size(
    scenario: Scenario,
    engine: Engine,
    *,
    seeds: Sequence[int],
    max_seeds: int,
    jobs: int = 0,
    progress: Progress | None = None,
    laws: Sequence[LawLike] = (),
) -> SizeResult:
    """Find the smallest buffer, in packets that may wait, which meets the scenario's goals.

    Parameters
    ----------
    engine : answers a scenario; it is run at every buffer with the same seeds.
    seeds, max_seeds : seeds of each first look, and how many a buffer may get in all when
        its 95 % interval does not clear a target (no effect below ``len(seeds)``).
    jobs : handed on to the engine.
    progress : called with the fraction done, an estimate that never goes back.
    laws : published laws' answers; shown in the result, and the search starts from them.

    Returns
    -------
    SizeResult
        With ``buffer`` None, and ``reason``, where no buffer meets all goals.

    Raises
    ------
    SizingError
        Bad seeds; NoGoals where nothing is asked; GoalNotAnswered where a goal is about a
        metric that this engine does not give.
    Interrupted
        Ctrl-C; it carries what was found so far.
    """
    goals = goals_of(scenario)
    _check(seeds)
    trials = Trials(
        scenario, engine, goals, seeds=seeds, max_seeds=max_seeds, jobs=jobs, progress=progress
    )
    question = Question(
        scenario=scenario,
        engine=engine.name,
        trials=trials,
        laws=tuple(laws),
        up=tuple(goal for goal in goals if goal.kind.pushes == "up"),
        down=tuple(goal for goal in goals if goal.kind.pushes == "down"),
        limit=upper_limit(scenario),
    )
    try:
        result = _solve(question)
    except KeyboardInterrupt:
        raise Interrupted(_unfinished(question)) from None
    if progress is not None:
        progress(1.0)
    return result


def first_guess(scenario: Scenario, laws: Sequence[LawLike]) -> int:
    """Return where to start: the laws that hold (their lower median), else bdp/sqrt(n)."""
    said = [law.packets for law in laws if law.assumptions_hold and law.packets]
    if said:
        return max(1, round(median_low(said)))
    return max(1, round(scenario.bdp_packets / math.sqrt(max(1, scenario.n_flows))))


def upper_limit(scenario: Scenario) -> int:
    """Return the largest buffer worth trying, packets.

    One bdp keeps a link busy even under one flow or under flows in step (paper A, sections
    2 and 3); four of them leave room for slow starts, and the constant for tiny links.
    """
    return math.ceil(4 * scenario.bdp_packets) + 64


def _check(seeds: Sequence[int]) -> None:
    if not seeds or len(set(seeds)) != len(seeds):
        raise SizingError("bad-seeds", "seeds", f"got {list(seeds)}", "give one or more, each once")


def _solve(question: Question) -> SizeResult:
    """Search the lower end; draw the picture; look again at the lower end, then the upper.

    The second look costs nothing unless the picture showed a buffer that misses above one
    that was found to meet.
    """
    need = _need(question)
    if need.high is not None:
        paint(question.trials, need.high, question.limit)
        need = _need(question)
    if need.high is None:
        return none(
            question, unreachable(question.trials, question.up, question.limit), question.up
        )
    return _with_ceiling(question, need, need.high)


def _need(question: Question) -> Bracket:
    """Return the bracket of the smallest buffer that meets the goals which push it up."""
    if not question.up:  # nothing asks for more than the smallest buffer there is
        return Bracket(0, 1, ())
    start = first_guess(question.scenario, question.laws)
    return smallest_met(question.trials, question.up, start, question.limit)


def _with_ceiling(question: Question, need: Bracket, least: int) -> SizeResult:
    """Hold the smallest buffer against the goals that push it down."""
    trials, down = question.trials, question.down
    allow = largest_met(trials, down, least, question.limit) if down else None
    there = trials.settle(least, trials.goals)
    missed = [goal for goal in down if goal.judge(there.metric(goal)) is Verdict.MISSED]
    if not missed:
        return found(question, need, allow, there)
    against = (*not_met_below(question, least), *missed)
    return none(question, contradiction(trials, question.up, missed, need, allow), against)


def _unfinished(question: Question) -> SizeResult:
    tried = len(question.trials.done)
    return none(question, f"stopped after {tried} buffers; run the same again to finish")
