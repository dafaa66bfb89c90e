"""What a strategy is: one way to answer a question about one number of flows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from forebay.search.cost import Speed
from forebay.search.stopping import TimeLimit

if TYPE_CHECKING:
    from forebay.engines.base import Engine
    from forebay.outcome import SizeResult
    from forebay.progress import Progress
    from forebay.search.evaluations import Evaluation
    from forebay.search.options import Options
    from forebay.search.problem import Problem


@dataclass(frozen=True, slots=True)
class Session:
    """What a strategy works with.

    Attributes
    ----------
    time : the time that it may use.
    speed : of this machine; runs correct it.
    """

    engine: Engine
    options: Options
    time: TimeLimit
    speed: Speed

    @classmethod
    def begin(cls, engine: Engine, options: Options) -> Session:
        """Return the session of a search that begins now; without a budget it is endless."""
        seconds = math.inf if options.budget_s is None else options.budget_s
        started_at = options.clock() if options.started_at is None else options.started_at
        time = TimeLimit(seconds, options.clock, started_at)
        if options.budget_s is None:
            return cls(engine, options, time, Speed(options.threads))
        return cls(engine, options, time, Speed.under_load(options.threads, options.clock))

    def with_progress(self, progress: Progress | None) -> Session:
        """Return the session with another callback."""
        return replace(self, options=self.options.with_progress(progress))

    def with_engine(self, engine: Engine) -> Session:
        """Return the session with another engine."""
        return replace(self, engine=engine)

    def for_seconds(self, seconds: float) -> Session:
        """Return the session with a time limit that begins now."""
        return replace(self, time=TimeLimit.begin(seconds, self.options.clock))


class Finding(Protocol):
    """What a strategy found, and can still be asked."""

    @property
    def problem(self) -> Problem: ...
    @property
    def result(self) -> SizeResult: ...
    @property
    def predicted_s(self) -> float:
        """Seconds that were predicted before it began; 0 if nothing was."""

    def evaluate(self, packets: int, session: Session) -> Evaluation | None:
        """Evaluate a size by a run, with the evidence that an answer of this strategy has.

        Returns
        -------
        Evaluation or None
            None if the session's time is too short.
        """


class Strategy(Protocol):
    """Answers a question whose number of flows is no range."""

    def answer(self, problem: Problem, session: Session) -> Finding:
        """Return what was found.

        Raises
        ------
        Interrupted
            Ctrl-C, or the end of the time; the exception contains the findings so far.
        TooLittleTime
            The time is too short for this strategy.
        """
