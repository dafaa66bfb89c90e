"""The two boundaries of the feasible region, and a few more points for the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from forebay.sizing.bracket import Bracket, Side, bracket, conflicts, next_buffer, steps_left
from forebay.sizing.goals import Goal
from forebay.sizing.trials import Trials
from forebay.sizing.verdict import Verdict

MAX_BUFFERS = 60
"""No search tries more buffers than this, whatever the engine answers."""

PICTURE_POINTS = 9
PICTURE_SPAN = 4
NEAR = 1.12

_UP: Mapping[Verdict, Side] = {
    Verdict.MISSED: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MET: Side.ABOVE,
}
_DOWN: Mapping[Verdict, Side] = {
    Verdict.MET: Side.BELOW,
    Verdict.UNDECIDED: Side.UNSURE,
    Verdict.MISSED: Side.ABOVE,
}


def smallest_met(trials: Trials, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the smallest buffer that meets goals which push the buffer up.

    ``high`` of the result is that buffer, None where none up to ``limit`` is shown to meet
    them; ``low`` is the largest buffer shown to miss.
    """
    return _boundary(trials, goals, _UP, start, limit)


def largest_met(trials: Trials, goals: Sequence[Goal], start: int, limit: int) -> Bracket:
    """Search the largest buffer that meets goals which push it down: ``low`` of the result."""
    return _boundary(trials, goals, _DOWN, start, limit)


def _boundary(
    trials: Trials, goals: Sequence[Goal], sides: Mapping[Verdict, Side], start: int, limit: int
) -> Bracket:
    def table() -> dict[int, Side]:
        return {b: sides[trial.verdict(goals)] for b, trial in trials.done.items()}

    while True:
        now = table()
        trials.remaining = steps_left(now, limit) + PICTURE_POINTS
        if recheck := [b for b in conflicts(now) if not trials.exhausted(b)]:
            trials.settle_fully(recheck[0])
        elif unsettled := [b for b in bracket(now).unsure if not trials.exhausted(b)]:
            trials.settle(unsettled[0], goals)
        elif len(now) >= MAX_BUFFERS or (b := next_buffer(now, start, limit)) is None:
            return bracket(now)
        else:
            trials.settle(b, goals)


def paint(trials: Trials, centre: int, limit: int) -> None:
    """Try a geometric row of buffers around the answer, where none is near already."""
    wanted = list(picture(centre, limit))
    for i, packets in enumerate(wanted):
        trials.remaining = len(wanted) - i
        if len(trials.done) < MAX_BUFFERS and not _near(packets, trials.done):
            trials.at(packets)


def picture(centre: int, limit: int) -> Iterable[int]:
    """Buffers from a quarter of the answer to four times it, at equal ratios."""
    half = PICTURE_POINTS // 2
    rungs = (centre * PICTURE_SPAN ** (i / half) for i in range(-half, half + 1))
    return sorted({min(max(round(b), 1), limit) for b in rungs})


def _near(packets: int, tried: Iterable[int]) -> bool:
    return any(packets <= NEAR * b and b <= NEAR * packets for b in tried)
