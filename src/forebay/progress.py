"""Progress of a job while it runs."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1; raising KeyboardInterrupt in it stops the run."""


def part(progress: Progress | None, index: int, of: int, width: int = 1) -> Progress | None:
    """Return the callback of one part of a job; None without one.

    Parameters
    ----------
    index, of : the part's place, from 0, and into how many equal ones the job is cut.
    width : how many of those it takes.
    """
    if progress is None:
        return None
    return lambda fraction: progress((index + width * fraction) / of)


def onward(progress: Progress | None) -> Progress | None:
    """Return a callback that never reports less than before; None without one."""
    if progress is None:
        return None
    most = 0.0

    def report(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        progress(most)

    return report


def rest(progress: Progress | None, done: float) -> Progress | None:
    """Return the callback of what is left of a job after the fraction ``done``."""
    if progress is None:
        return None
    return lambda fraction: progress(done + (1.0 - done) * fraction)
