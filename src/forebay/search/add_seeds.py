"""Use the time that is left after an answer for more seeds, if they make its range narrower.

Where the curve is flat at the target, noise leaves many buffers undecided: loss of Reno falls by
1 % for 1 % more buffer, and 20 seeds know it to 5 %. More seeds decide some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from forebay.progress import enter
from forebay.search.result import interrupted
from forebay.search.stopping import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

    from forebay.outcome import Buffer, SizeResult
    from forebay.search.strategies.protocol import Session

_WIDE, _SPARE = 1.15, 2
"""Ratio of the ends of a range that is wide, and packets that rounding adds to it."""
_ROOM = 1.2
"""Least ratio of the time left to that of all searches so far."""


class Improvable(Protocol):
    """An answer that more seeds can improve."""

    def next_seeds(self) -> int | None:
        """Return the seeds of the next try; None if none is worth it, or fits into the time."""

    def use(self, seeds: int) -> bool:
        """Answer again with so many seeds; return whether the time was enough."""


def add_seeds(answer: Improvable) -> None:
    """Answer again with more seeds while it is worth it and time is left."""
    while (seeds := answer.next_seeds()) is not None:
        if not answer.use(seeds):
            return


@dataclass(slots=True)
class MoreSearches:
    """Searches again with twice the seeds, and again, while the range is wide.

    The engine knows the replications of the searches before. One with twice the seeds takes at
    most as long as they did together, because only undecided buffers need more.

    Attributes
    ----------
    found : the answer of the last search that ended, with up to ``seeds`` seeds a buffer.
    search : runs a search with the most seeds of a buffer; None if the session's time ends before.
    session : of all searches together.
    """

    found: SizeResult
    search: Callable[[int, Session], SizeResult | None]
    session: Session
    seeds: int

    def next_seeds(self) -> int | None:
        """Return twice the seeds, if the range is wide and time is left."""
        if self.found.buffer is None or not _is_wide(self.found.buffer):
            return None
        time = self.session.time
        spent_s = time.spent_s
        return None if time.seconds - spent_s < _ROOM * spent_s else 2 * self.seeds

    def use(self, seeds: int) -> bool:
        """Search with so many seeds.

        Raises
        ------
        Interrupted
            Ctrl-C; its reason has the answer of the last search that ended.
        """
        session = self.session.for_seconds(self.session.time.left_s)
        enter(session.options.progress, f"{seeds} seeds")
        try:
            narrower = self.search(seeds, session)
        except Interrupted:
            by = f"the search with up to {self.seeds} seeds gave"
            raise Interrupted(interrupted(self.found, by)) from None
        if narrower is None:
            return False
        self.found, self.seeds = narrower, seeds
        return True


def _is_wide(buffer: Buffer) -> bool:
    return buffer.high > _WIDE * (buffer.low + _SPARE)
