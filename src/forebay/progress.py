"""Progress of a job while it runs."""

from collections.abc import Callable

Progress = Callable[[float], None]
"""Called with the fraction done, 0 to 1; raising KeyboardInterrupt in it stops the run."""


def enter(progress: Progress | None, stage: str, done: float | None = None) -> None:
    """Say which stage of a job begins, or how far its steps are, to a callback that shows it.

    It shows stages if it has a method ``stage``, which takes the name; others are not told. Both
    are told the fraction ``done``, if it is given.
    """
    told = getattr(progress, "stage", None)
    if told is not None:
        told(stage)
    if progress is not None and done is not None:
        progress(done)


def with_stages(callback: Progress, of: Progress | None) -> Progress:
    """Let a callback show the stages that ``of`` shows, which it reports to; returns it."""
    if (stage := getattr(of, "stage", None)) is not None:
        callback.stage = stage  # type: ignore[attr-defined]  # a function's attribute
    return callback


def part(progress: Progress | None, index: int, of: int, width: int = 1) -> Progress | None:
    """Return the callback of one part of a job; None without one.

    Parameters
    ----------
    index, of : index of the part, from 0, and number of equal parts of the job.
    width : number of parts that it takes.
    """
    if progress is None:
        return None
    return lambda fraction: progress((index + width * fraction) / of)


def never_less(progress: Progress | None) -> Progress | None:
    """Return a callback that never reports less than before; None without one."""
    if progress is None:
        return None
    most = 0.0

    def report(fraction: float) -> None:
        nonlocal most
        most = max(most, fraction)
        progress(most)

    return report


def of_stages(progress: Progress | None) -> Progress | None:
    """Return the callback of a job whose stages have fractions of their own.

    One that shows no stages is told the largest so far.
    """
    return progress if hasattr(progress, "stage") else never_less(progress)
