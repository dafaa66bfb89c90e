"""Find the smallest buffer that meets the goals: the one entry of every sizing.

Without a budget the answer comes from a bisection, which tests for each buffer whether it meets
the goals. With one, it comes from the bisection if that fits into the time, else from the crossing
of the whole link's curve, else from the crossings of smaller links of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forebay.catalogue.link_names import BOTTLENECK
from forebay.outcome import SizeResult
from forebay.scenario import Tcp
from forebay.search.ask import ask
from forebay.search.goals import NobodyCrosses, SizingError
from forebay.search.recommended import with_recommended
from forebay.search.strategies.bisection import Bisection
from forebay.search.strategies.protocol import Session

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.search.options import Options
    from forebay.search.problem import Problem


def search(problem: Problem, engine: Engine, options: Options) -> SizeResult:
    """Find the sizes that meet the problem's goals; the smallest is the answer.

    Parameters
    ----------
    engine : runs the problem's scenario; it runs every buffer with the same seeds.

    Returns
    -------
    SizeResult
        If no buffer meets all goals, ``buffer`` is None, with ``reason`` and ``relaxations``. If
        the evidence does not carry a recommended size, ``recommended`` is None, with ``reason``.
        If flows are a range, the answer serves both of its ends (`forebay.search.flow_range`).
        With a budget it has ``cost``, and ``scaled`` if smaller links were simulated in place of
        this one.

    Raises
    ------
    SizingError
        Bad seeds; nothing crosses the link; GoalNotAnswered if this engine does not give the metric
        of a goal.
    TooLittleTime
        Neither the link nor a smaller one of its kind can be simulated within the budget.
    Interrupted
        Ctrl-C; the exception contains the findings so far.
    """
    _check(problem, options.seeds)
    session = Session.begin(engine, options)
    result = with_recommended(problem, _searched(problem, session))
    if any(isinstance(each, Tcp) and each.offloads_by_default for each in problem.scenario.traffic):
        from forebay.search.without_offload import of_link

        result = of_link(problem, result, session)
    return result if problem.network is None else problem.network.named(result)


def _searched(problem: Problem, session: Session) -> SizeResult:
    """Choose how to search by the budget."""
    if session.options.budget_s is None:
        return ask(problem, Bisection(), session).result
    if problem.network is not None and problem.network.load is not None:
        from forebay.search.links_within_budget import search_links

        return search_links(problem, problem.network.load, session)
    from forebay.search.within_budget import search_within_budget

    return search_within_budget(problem, session)


def _check(problem: Problem, seeds: Sequence[int]) -> None:
    """Refuse bad seeds, and a link that nothing crosses."""
    if not seeds or len(set(seeds)) != len(seeds):
        raise SizingError("bad-seeds", "seeds", f"got {list(seeds)}", "give one or more, each once")
    if not problem.scenario.crossing:
        raise NobodyCrosses(BOTTLENECK)
