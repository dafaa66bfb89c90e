"""A link played at one scale after the other, each larger than the last, until the time is spent.

The smallest is played first: it costs next to nothing, shows how fast this machine is, and tells
where to look on the next. The whole link is the last rung where it fits; where it does not, the
rungs below it carry on to it (`extrapolate`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from forebay.budget import settling
from forebay.budget.cost import Speed, TooLittleTime
from forebay.budget.crossing import Crossing, find
from forebay.budget.curve import COARSE_SEEDS, COARSE_SHARE, Played, play
from forebay.budget.scale import Path, path_of, scaled
from forebay.budget.timed import OutOfTime, Timed
from forebay.sizing.goals import goals_of
from forebay.sizing.usable import is_due

if TYPE_CHECKING:
    from forebay.engines.protocol import Engine
    from forebay.progress import Progress
    from forebay.scenario import Measure, Scenario

STEP = 4.0
"""From one rung to the next."""
_LEAST_STEP = 1.3
_SETTLES_LATER = 4
"""Times the first guess that is watched: larger buffers take longer to settle."""
_MOST_RUNGS = 9
_END = 0.98
"""Of the time, when the last run is stopped: the rest puts the answer together."""
_FIRST_END = 0.5
"""Of the time, when the first rung is stopped, so that smaller ones still fit."""
_SMALLER_SHARE = 0.2
"""Of what is left, for a smaller link in the place of one that was stopped."""
_ROOM = 3.0
"""The smallest link is at least so many times smaller than one that would take all the time."""
_FIRST_SHARE = 0.03
"""Of the time, for the first rung."""
_COARSE_LOOKS, _FINE_LOOKS = 4.0, 4.5
_LOSS_SHARE = 0.25
"""Of the time, for the buffer that would keep the loss usable, where the answer does not."""
_RESERVE = 0.9
"""Of what is left, so that what a prediction misses by does not go beyond the end."""


_ENOUGH = 80
"""Flows of the largest link that may stand for one of more."""
_TOO_FEW = "too few flows share it for a smaller link to behave in the same way"


@dataclass(slots=True)
class Rung:
    """One link that was played to its crossing, in ``took_s`` seconds.

    ``meets`` is a buffer found to meet the goals.
    """

    factor: float
    link: Played
    found: Crossing
    took_s: float = 0.0
    meets: float = 0.0


@dataclass(slots=True)
class Climb:
    """Where a climb is, and what it may still spend.

    Attributes
    ----------
    budget_s : seconds in all; the clock started at ``started``.
    rungs : those that are finished, the largest link first.
    predicted_s : what the climb was expected to take before it began.
    reserved_s : what no further rung may use: for the buffer of usable loss (`usable`).
    stopped : Ctrl-C ended it, with rungs enough to say what they point to.
    cut : the factor of a rung that the end of the time stopped; None where none was.
    begun_s : what was spent when the present rung began.
    """

    scenario: Scenario
    engine: Engine
    seeds: Sequence[int]
    jobs: int
    budget_s: float
    progress: Progress | None = None
    clock: Callable[[], float] = time.monotonic
    started: float = 0.0
    path: Path = field(default_factory=lambda: Path(1.0, 1.0))
    speed: Speed = field(default_factory=lambda: Speed(1))
    rungs: list[Rung] = field(default_factory=list)
    predicted_s: float = 0.0
    reserved_s: float = 0.0
    stopped: bool = False
    cut: float | None = None
    begun_s: float = 0.0

    @property
    def spent_s(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def left_s(self) -> float:
        """Seconds that a further rung may be planned for."""
        return _RESERVE * (self.budget_s - self.reserved_s - self.spent_s)

    @property
    def end_s(self) -> float:
        """Seconds after the start at which what is running is stopped.

        Before there are two rungs that is early enough for a smaller one, if the path has any.
        """
        most = _END * (self.budget_s - self.reserved_s)
        if not self.rungs:
            share = _FIRST_END if self.path.largest >= STEP else 1.0
            return self.begun_s + share * (most - self.begun_s)
        alone = self.rungs[0]
        if len(self.rungs) > 1 or alone.factor == 1.0 or not _shrinks(self, alone.factor):
            return most
        return most - _ROOM * alone.took_s / STEP


def climb(
    scenario: Scenario,
    engine: Engine,
    seeds: Sequence[int],
    budget_s: float,
    *,
    jobs: int,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.monotonic,
    why_whole: str | None = None,
    speed: Speed | None = None,
) -> Climb:
    """Play links of this kind, ever larger ones, for so many seconds.

    Parameters
    ----------
    seeds : of every fine look; as many as threads, or a multiple, leave none idle.
    jobs : threads, 1 or more.
    clock : seconds; handed in by tests.
    why_whole : why no smaller link may stand for this one; None where one may.
    speed : of this machine, where something ran before.

    Raises
    ------
    TooLittleTime
        There are fewer finished links than an answer needs.
    """
    speed = Speed(jobs) if speed is None else speed
    state = Climb(
        scenario, Timed(engine, speed, clock), seeds, jobs, budget_s, progress, clock, clock(),
        speed=speed,
    )  # fmt: skip
    whole = predict(state, scenario)
    state.path = path_of(scenario, max(STEP, _ROOM * whole / budget_s))
    state.predicted_s = min(whole, _RESERVE * budget_s)
    fits = whole <= state.left_s
    alone = why_whole is not None or state.path.largest < STEP
    if alone:
        state.path = Path(1.0, 1.0)
    if alone and not fits:
        raise TooLittleTime(why_whole or _TOO_FEW, whole, budget_s)
    try:
        _climb(state, 1.0 if alone or whole <= state.left_s / 2 else _first(state))
    except KeyboardInterrupt:
        if _lacking(state) is not None:
            raise
        state.stopped = True
    except Exception as error:
        if getattr(error, "exit_status", None) is None or len(state.rungs) < 2:
            raise  # a bug, or a refusal such as of its memory, before there is a trend
    if (why := _lacking(state)) is not None:
        why = (why_whole or _TOO_FEW) if alone else why
        raise TooLittleTime(why, predict(state, scenario), budget_s)
    return state


def _climb(state: Climb, first: float) -> None:
    """Play rung after rung; where the time stopped one before there were two, a smaller one."""
    factor: float | None = first
    while factor is not None:
        try:
            state.rungs.append(_play(state, factor))
        except OutOfTime:
            state.cut = factor
            factor = _smaller(state, factor)
            continue
        state.rungs.sort(key=lambda rung: rung.factor)
        state.reserved_s = _LOSS_SHARE * state.budget_s if _loses(state) else 0.0
        factor = _next(state)
        if factor is None and len(state.rungs) == 1:
            factor = _smaller(state, state.rungs[0].factor)


def measure_stands(scenario: Scenario) -> bool:
    """Whether warm-up and window are the scenario's, and not what the link itself asks for.

    So it is where the scenario says what they are, and where a goal is on a loss: what slow starts
    lose shows in no sum of windows.
    """
    said = "measure" in scenario.model_fields_set
    return said or any("loss" in goal.kind.name for goal in goals_of(scenario))


def _loses(state: Climb) -> bool:
    """Whether the last rung lost more than is usable, on a path on which that carries over."""
    played = state.rungs[0].link.outcomes.values()
    return state.path.share == 1.0 and any(is_due(state.scenario, each) for each in played)


def _lacking(state: Climb) -> str | None:
    """Return why the rungs are no answer: one link is no trend, and few flows no sum of many."""
    if not state.rungs or (state.rungs[0].factor > 1.0 and len(state.rungs) < 2):
        return "two smaller links do not fit into the time"
    flows = state.rungs[0].link.scenario.n_flows
    if state.rungs[0].factor > 1.0 and 0 < flows < _ENOUGH:
        return f"the largest link that fits has {flows} flows, too few to represent many"
    return None


def confirm(state: Climb) -> None:
    """Play the buffer that is shown to meet the goals, unless it was or no time is left."""
    top = state.rungs[0]
    wanted = max(1, math.ceil(top.found.high))
    wanted = min(wanted, top.link.limit)
    try:
        if wanted not in top.link.outcomes and not state.stopped:
            top.link.fine(wanted)
    except KeyboardInterrupt as end:
        state.stopped = not isinstance(end, OutOfTime)
    if wanted not in top.link.outcomes:
        above = [b for b in top.link.outcomes if b >= top.found.packets]
        wanted = min(above, default=max(top.link.outcomes))
    top.meets = wanted


def at(state: Climb, factor: float) -> Scenario:
    """Return the link so many times smaller."""
    return scaled(state.scenario, factor, state.path.share)


def predict(state: Climb, link: Scenario, measure: Measure | None = None) -> float:
    """Return the seconds that a rung takes here."""
    return crossing_s(link, state.speed, len(state.seeds), measure)


def crossing_s(link: Scenario, speed: Speed, seeds: int, measure: Measure | None = None) -> float:
    """Return the seconds that the crossing of a link's curve takes, with so many seeds a look.

    ``measure`` is what is measured where that is not as the scenario says.
    """
    of = link.measure if measure is None else measure
    warmup, window = float(of.warmup), float(of.duration)
    coarse = speed.wall_s(link, warmup + COARSE_SHARE * window, COARSE_SEEDS)
    fine = speed.wall_s(link, warmup + window, seeds)
    watched = 0.0 if measure_stands(link) else speed.wall_s(link, settling.WATCHED_S, 1)
    return _COARSE_LOOKS * coarse + _FINE_LOOKS * fine + watched


def _first(state: Climb) -> float:
    """Return the factor of the first rung: a small share of the time, or as small as it goes."""
    factor = STEP
    while predict(state, at(state, factor)) > _FIRST_SHARE * state.budget_s:
        factor *= STEP
        if factor >= state.path.largest:
            return state.path.largest
    return factor


def _next(state: Climb) -> float | None:
    """Return the factor of the next rung, None at the top or where no larger one fits."""
    factor = state.rungs[0].factor
    if factor == 1.0:
        return None
    measure = state.rungs[0].link.scenario.measure
    step = _step(state.left_s / max(predict(state, at(state, factor), measure), 1e-9))
    if step >= factor:
        return 1.0
    return factor / step if step >= _LEAST_STEP else None


def _shrinks(state: Climb, factor: float) -> bool:
    """Whether there is a link enough smaller than this one to make a trend with it."""
    return state.path.largest >= _LEAST_STEP * factor


def _smaller(state: Climb, factor: float) -> float | None:
    """Return the factor of a link that fits where this one was the last; None where none does."""
    if len(state.rungs) > 1 or (state.rungs and state.rungs[0].factor == 1.0):
        return None
    factor = max([factor, *(rung.factor for rung in state.rungs)])
    if not _shrinks(state, factor):
        return None
    smaller = min(STEP * factor, state.path.largest)
    while (
        smaller < state.path.largest
        and predict(state, at(state, smaller)) > _SMALLER_SHARE * state.left_s
    ):
        smaller = min(STEP * smaller, state.path.largest)
    return smaller if predict(state, at(state, smaller)) <= state.left_s else None


def _step(room: float) -> float:
    """Return how many times larger the next rung is, so that the last one ends with the time.

    ``room`` is what is left over what the present rung takes, and a rung takes as much more as it
    is larger: with m of them to come, ``step + step**2 + … + step**m`` is the room.
    """
    for rungs in range(1, _MOST_RUNGS):
        roots = np.roots([*[1.0] * rungs, -room])
        step = max(float(root.real) for root in roots if abs(root.imag) < 1e-9)
        if step <= STEP:
            return step
    return STEP


def _play(state: Climb, factor: float) -> Rung:
    """Play one link to its crossing, with a warm-up and a window that suit it."""
    state.begun_s, link = state.spent_s, at(state, factor)
    played = play(link, state.engine, state.seeds, jobs=state.jobs, progress=ticking(state))
    start = _start(state, played, factor)
    if not measure_stands(link) and hasattr(state.engine, "trace"):
        large = min(_SETTLES_LATER * start, played.limit)
        seen = settling.watch(
            link, state.engine, played.knob, large, state.seeds[0], ticking(state)
        )
        measure = settling.measure_for(link, seen)
        played.scenario = link.model_copy(update={"measure": measure})
    found = find(played, start, played.limit)
    return Rung(factor, played, found, state.spent_s - state.begun_s)


def _start(state: Climb, played: Played, factor: float) -> int:
    """Return where to look first: as the rungs below go on, or at BDP/sqrt(n) over two."""
    below = state.rungs[:2]
    if not below:
        link = played.scenario
        return max(1, round(link.bdp_packets / math.sqrt(max(1, link.n_flows)) / 2))
    exponent = state.path.steepest / 2.0
    if len(below) == 2:
        rise = math.log(below[0].found.packets / below[1].found.packets)
        exponent = rise / math.log(below[1].factor / below[0].factor)
    exponent = min(max(exponent, 0.0), state.path.steepest)
    guess: float = below[0].found.packets * (below[0].factor / factor) ** exponent
    return max(1, round(guess))


def ticking(state: Climb) -> Progress:
    """Return a callback that tells how much of the time is gone, and ends at its end."""

    def tick(_: float) -> None:
        if state.progress is not None:
            state.progress(min(state.spent_s / state.budget_s, 0.99))
        if state.spent_s > state.end_s:
            raise OutOfTime

    return tick
