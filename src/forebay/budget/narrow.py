"""Use the time that is left after a search for more seeds, if its range is wide.

Where the curve is flat at the target, noise leaves many buffers undecided: loss of Reno falls by
1 % for 1 % more buffer, and 20 seeds know it to 5 %. More seeds decide some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from forebay.budget.timed import again_within
from forebay.progress import enter
from forebay.sizing import Interrupted
from forebay.sizing.assemble import interrupted

if TYPE_CHECKING:
    from forebay.budget.cost import Speed
    from forebay.engines.base import Engine
    from forebay.outcome import Buffer, SizeResult
    from forebay.progress import Progress

    Search = Callable[[int, Engine, Progress], SizeResult]

_WIDE, _SPARE = 1.15, 2
"""Ratio of the ends of a range that is wide, and packets that rounding adds to it."""
_ROOM = 1.2
"""Least ratio of the time left to that of all searches so far."""


def narrow(
    found: SizeResult,
    search: Search,
    engine: Engine,
    most_seeds: int,
    *,
    begun_s: float,
    budget_s: float,
    speed: Speed,
    clock: Callable[[], float],
    progress: Progress | None,
) -> SizeResult:
    """Search again with twice the seeds, and again, while the range is wide and time is left.

    The engine knows the replications of the searches before. One with twice the seeds takes at
    most as long as they did together, because only undecided buffers need more.

    Parameters
    ----------
    found : the answer of a search with up to ``most_seeds`` seeds a buffer; it began at
        ``begun_s`` of the clock.
    search : runs the search with the most seeds of a buffer, an engine and a progress callback.

    Raises
    ------
    Interrupted
        Ctrl-C; its reason has the answer of the last search that ended.
    """
    while found.buffer is not None and _is_wide(found.buffer):
        spent_s = clock() - begun_s
        left_s = budget_s - spent_s
        if left_s < _ROOM * spent_s:
            break
        most_seeds *= 2
        enter(progress, f"{most_seeds} seeds")
        try:
            narrower = again_within(
                partial(search, most_seeds), engine, left_s,
                speed=speed, clock=clock, progress=progress,
            )  # fmt: skip
        except Interrupted:
            by = f"the search with up to {most_seeds // 2} seeds gave"
            raise Interrupted(interrupted(found, by)) from None
        if narrower is None:
            break
        found = narrower
    return found


def _is_wide(buffer: Buffer) -> bool:
    return buffer.high > _WIDE * (buffer.low + _SPARE)
