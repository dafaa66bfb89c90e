"""The answer's size once more, with hosts that send one packet at a time.

Where nobody chose the hosts, their bursts are a default, and move the answer on fast links and of
paced flows. One run at the least size says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.scenario import Scenario, Tcp
from forebay.search.evaluations import Evaluations
from forebay.search.result import curve_of, interrupted
from forebay.search.run_within import predict_run
from forebay.search.stopping import RESERVE, Interrupted, OutOfTime

if TYPE_CHECKING:
    from forebay.outcome import Outcome, SizeResult
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Session
    from forebay.search.strategies.scaling.study import ScalingStudy


def of_link(problem: Problem, found: SizeResult, session: Session) -> SizeResult:
    """Return the answer of a link that was simulated whole, with that run if there is time.

    Raises
    ------
    Interrupted
        Ctrl-C.
    """
    there = found.there
    if found.buffer is None or found.scaled is not None or there is None or not _asks(problem):
        return found
    ran = Scenario.model_validate(there.outcome.scenario)
    outcome = _run(problem, found, ran, there.outcome.provenance.seeds, session)
    return found if outcome is None else _with(problem, found, outcome)


def of_largest_level(
    problem: Problem, found: SizeResult, study: ScalingStudy, session: Session
) -> SizeResult:
    """Return an extrapolated answer with that run of the largest link, if there is time.

    The link itself, if it is the largest, is left to `of_link`.

    Raises
    ------
    Interrupted
        Ctrl-C.
    """
    top = study.levels[0]
    if found.buffer is None or top.factor == 1.0 or not _asks(problem):
        return found
    ran = top.curve.evaluator.sized(int(top.meets))
    outcome = _run(problem, found, ran, top.curve.seeds, session)
    if outcome is None:
        return found
    return _with(problem, found, study.as_whole(outcome, top.factor, found.buffer.packets))


def _asks(problem: Problem) -> bool:
    """Whether hosts have offload by default alone, and one run of the simulator tells of it."""
    if problem.engine != "simulation" or problem.network is not None or problem.scenario.files:
        return False
    return bool(_changes(problem)) and not any(goal.kind.compares for goal in problem.goals)


def _changes(problem: Problem) -> dict[str, str]:
    """Return the changes of the scenario that make its hosts send one packet at a time."""
    return {
        f"traffic.{index}.offload": "off"
        for index, group in enumerate(problem.scenario.traffic)
        if isinstance(group, Tcp) and group.offloads_by_default
    }


def _run(
    problem: Problem, found: SizeResult, ran: Scenario, seeds: Sequence[int], session: Session
) -> Outcome | None:
    """Return the outcome without offload; None if the time is too short."""
    if predict_run(ran, len(seeds), session.speed) > RESERVE * session.time.left_s:
        return None
    changed = ran.replace(_changes(problem))
    progress = session.time.ending(None)
    try:
        return session.engine.run(changed, seeds, jobs=session.options.jobs, progress=progress)
    except OutOfTime:
        return None
    except KeyboardInterrupt:
        raise Interrupted(interrupted(found, "the least was")) from None


def _with(problem: Problem, found: SizeResult, outcome: Outcome) -> SizeResult:
    assert found.buffer is not None, "by the callers"
    evaluations = Evaluations(problem.goals, problem.engine)
    evaluations.record(found.buffer.packets, outcome)
    return found.model_copy(update={"without_offload": curve_of(evaluations)[0]})
