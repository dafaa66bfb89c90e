"""Ask a strategy about one number of flows, or about both ends of a range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from forebay.outcome import SizeResult

if TYPE_CHECKING:
    from forebay.search.problem import Problem
    from forebay.search.strategies.protocol import Session, Strategy


class Answered(NamedTuple):
    """A result, and the seconds that were predicted before the strategy began; 0 if none were."""

    result: SizeResult
    predicted_s: float


def ask(problem: Problem, strategy: Strategy, session: Session) -> Answered:
    """Return the answer; it serves both ends if the number of flows is a range.

    Raises
    ------
    Interrupted, TooLittleTime
        See `Strategy.answer`.
    """
    if problem.scenario.flows_uncertain:
        from forebay.search.flow_range import serve_both

        answered = Answered(*serve_both(problem, strategy, session))
    else:
        finding = strategy.answer(problem, session)
        answered = Answered(finding.result, finding.predicted_s)
    if session.options.progress is not None:
        session.options.progress(1.0)
    return answered
