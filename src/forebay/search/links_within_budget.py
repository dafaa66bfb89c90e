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
from forebay.search.run_within import routed
from forebay.search.stopping import END, Interrupted, OutOfTime
from forebay.search.strategies.bisection import Bisection
from forebay.search.strategies.protocol import Session
from forebay.search.timed import Timed

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.scenario import Scenario
    from forebay.search.network_links import NetworkLoad
    from forebay.search.options import Options
    from forebay.search.problem import Problem
    from forebay.search.stopping import TimeLimit


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
    refusal = _Refusal(time)
    timed = Timed(session.engine, speed, options.clock, before_run=refusal.check)
    ending = session.with_engine(timed).with_progress(time.ending(options.progress))
    try:
        result = ask(problem, Bisection(), ending).result
    except Interrupted:
        if time.spent_s <= END * time.seconds:
            raise
        raise refusal.of(max(predicted_s, time.seconds)) from None
    return with_cost(result, predicted_s, time)


def route_within(engine: Engine, scenario: Scenario, options: Options) -> None:
    """Route a network before its links are chosen, if there is time for it.

    Raises
    ------
    TooLittleTime
        There is not.
    """
    session = Session.begin(engine, options)
    time = session.time
    try:
        routed(engine, scenario, session.speed, time, options.progress)
    except OutOfTime:
        why = "its routes were not found by then"
        raise TooLittleTime(why, time.seconds, time.seconds, of_network=True) from None


@dataclass(slots=True)
class _Refusal:
    """Refuses a run that would not end within the time."""

    time: TimeLimit
    runs: int = 0

    def check(self, expected_s: float) -> None:
        """Count a run, or raise TooLittleTime with the time that the whole search would need."""
        spent_s, budget_s = self.time.spent_s, self.time.seconds
        if spent_s + expected_s > budget_s:
            raise self.of(max(SEARCH_BUFFERS - self.runs, 1.0) * expected_s + spent_s)
        self.runs += 1

    def of(self, needs_s: float) -> TooLittleTime:
        """Return the refusal of a search that needs so many seconds."""
        tried = f"after {self.runs} buffers the search has not ended"
        why = tried if self.runs > 1 else "one buffer takes longer"
        return TooLittleTime(why, needs_s, self.time.seconds, of_network=True)
