"""Size links of a simulated network within a time limit.

No smaller network can replace it: the search ends within the time, or it raises an error that
names the time it would need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forebay.outcome import SizeResult
from forebay.search.ask import ask
from forebay.search.cost import SEARCH_BUFFERS, TooLittleTime, predict_search
from forebay.search.result import with_cost
from forebay.search.strategies.bisection import Bisection
from forebay.search.timed import Timed

if TYPE_CHECKING:
    from forebay.search.network_links import NetworkLoad
    from forebay.search.problem import Problem
    from forebay.search.stopping import TimeLimit
    from forebay.search.strategies.protocol import Session


def search_links(problem: Problem, load: NetworkLoad, session: Session) -> SizeResult:
    """Return the answer by bisection, if it ends in time.

    The prediction is rough: packets are counted by fair shares of the links, and the buffers to try
    are 30.

    Raises
    ------
    TooLittleTime
        One buffer takes longer than the budget, or the search does.
    """
    options, time = session.options, session.time
    speed = replace(session.speed, price=load.price)
    predicted_s = predict_search(load.scenario, speed, len(options.seeds))
    if options.expect is not None:
        options.expect(predicted_s)
    timed = Timed(session.engine, speed, options.clock, before_run=_Refusal(time).check)
    result = ask(problem, Bisection(), session.with_engine(timed)).result
    return with_cost(result, predicted_s, time)


@dataclass(slots=True)
class _Refusal:
    """Refuses a run that would not end within the time."""

    time: TimeLimit
    runs: int = 0

    def check(self, expected_s: float) -> None:
        """Count a run, or raise TooLittleTime with the time that the whole search would need."""
        spent_s, budget_s = self.time.spent_s, self.time.seconds
        if spent_s + expected_s > budget_s:
            tried = f"after {self.runs} buffers the search has not ended"
            why = tried if self.runs else "one buffer takes longer"
            needs_s = max(SEARCH_BUFFERS - self.runs, 1.0) * expected_s + spent_s
            raise TooLittleTime(why, needs_s, budget_s, of_network=True)
        self.runs += 1
