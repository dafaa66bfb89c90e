"""What ends a search: its time, of which a part may be planned and used, or Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forebay.progress import with_stages

if TYPE_CHECKING:
    from forebay.outcome import SizeResult
    from forebay.progress import Progress
    from forebay.search.options import Clock

END = 0.98
"""Share of the time after which the last run is stopped; the rest is for the result."""
RESERVE = 0.9
"""Share of the remaining time that may be planned, because predictions have errors."""
SURE = 1.5
"""Multiple of a predicted time that is surely enough."""


class OutOfTime(KeyboardInterrupt):
    """The time ends in the middle of a run; an engine stops for it as for Ctrl-C."""


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


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """Seconds that began at ``started_at`` of the clock."""

    seconds: float
    clock: Clock
    started_at: float

    @classmethod
    def begin(cls, seconds: float, clock: Clock) -> TimeLimit:
        """Return a limit that begins now."""
        return cls(seconds, clock, clock())

    @property
    def spent_s(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started_at

    @property
    def left_s(self) -> float:
        """Seconds until the end."""
        return self.seconds - self.spent_s

    def ending(self, progress: Progress | None, after_s: float = 0.0) -> Progress:
        """Return a callback that raises OutOfTime at the end, and else reports to ``progress``.

        ``after_s`` are the seconds that what comes after the last report takes.
        """
        last_s = END * self.seconds - after_s

        def tick(fraction: float) -> None:
            if self.spent_s > last_s:
                raise OutOfTime
            if progress is not None:
                progress(fraction)

        return with_stages(tick, progress)
