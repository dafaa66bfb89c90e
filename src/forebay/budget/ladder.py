"""Simulate a link at increasing scales, called rungs, until the time ends.

The smallest link is first: it costs almost nothing, shows the speed of this machine, and gives a
starting buffer for the next one. The whole link is the last rung if it fits into the time. If it
does not, `extrapolate` estimates it from the smaller rungs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from forebay.budget import settling
from forebay.budget.begun import Record
from forebay.budget.cost import Speed, TooLittleTime
from forebay.budget.crossing import Crossing, find
from forebay.budget.curve import COARSE_SEEDS, COARSE_SHARE, LinkCurve, curve_of
from forebay.budget.sawtooths import long_enough
from forebay.budget.scale import TOP_FLOWS, Path, path_of, scaled
from forebay.budget.timed import OutOfTime, Timed
from forebay.sizing.usable import is_due

if TYPE_CHECKING:
    from forebay.budget.sawtooths import Sawtooths
    from forebay.engines.base import Engine
    from forebay.progress import Progress
    from forebay.scenario import Measure, Scenario

STEP = 4.0
"""Factor from one rung to the next."""
_LEAST_STEP = 1.3
_LESS, _ABOUT, _HOPED = 0.9, 1.01, 1.3
"""Factor on a step whose link is expected to take too long; what still counts as in time, and what
is tried where a link that takes less has too few flows to represent many."""
_SETTLES_LATER = 4
"""Multiple of the first guess at which settling is watched: larger buffers settle more slowly."""
_MOST_RUNGS = 9
_SURE = 1.5
"""Multiple of the link's own predicted time: with this much time left, no rung is run before it."""
_END = 0.98
"""Share of the time after which the last run is stopped; the rest is for the result."""
_FIRST_END = 0.5
"""Share of the time after which the first rung is stopped, so that smaller ones still fit."""
_SMALLER_SHARE = 0.2
"""Share of the remaining time for a smaller link that replaces a stopped one."""
_ROOM = 3.0
"""Least factor between the smallest link and one that would take all the time."""
_FIRST_SHARE = 0.03
"""Share of the time for the first rung."""
_COARSE_LOOKS, _FINE_LOOKS = 4.0, 4.5
_LOSS_SHARE = 0.25
"""Share of the time for the buffer of usable loss, where the loss at the answer is not usable."""
_RESERVE = 0.9
"""Share of the remaining time that may be planned, because predictions have errors."""


_TOP = 1.4
"""Factor of the largest link that fits, relative to the time of the whole link over the budget."""
_TOO_FEW = "too few flows share it for a smaller link to behave in the same way"


@dataclass(slots=True)
class Rung:
    """One link that was simulated to its crossing in ``took_s`` seconds.

    ``meets`` is a buffer that was found to meet the goals.
    """

    factor: float
    link: LinkCurve
    found: Crossing
    took_s: float = 0.0
    meets: float = 0.0


@dataclass(slots=True)
class Climb:
    """The state of a climb, and its remaining time.

    Attributes
    ----------
    budget_s : total seconds; the clock started at ``started``.
    rungs : the finished rungs, the largest link first.
    predicted_s : seconds that were predicted before the climb began.
    reserved_s : seconds reserved for the buffer of usable loss (`usable`); no rung may use them.
    stopped : Ctrl-C ended the climb, and the finished rungs are enough for an estimate.
    cut : the factor of a rung that the end of the time stopped; None if there was none.
    begun_s : seconds that were spent when the present rung began.
    record : the rungs that an earlier climb had begun; they come first.
    sawtooths : what a rung's sawtooths need; None leaves warm-up and window as they are measured.
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
    record: Record | None = None
    sawtooths: Sawtooths | None = None

    @property
    def spent_s(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def left_s(self) -> float:
        """Seconds that a further rung may take by prediction."""
        return _RESERVE * (self.budget_s - self.reserved_s - self.spent_s)

    @property
    def end_s(self) -> float:
        """Seconds after the start at which the current run is stopped.

        Before there are two rungs, this leaves time for a smaller one, if the path has any.
        """
        most = _END * (self.budget_s - self.reserved_s)
        if not self.rungs:
            share = _FIRST_END if self.path.largest >= STEP else 1.0
            return self.begun_s + share * (most - self.begun_s)
        alone = self.rungs[0]
        if len(self.rungs) > 1 or alone.factor == 1.0 or not _shrinks(self, alone.factor):
            return most
        smaller = at(self, min(STEP * alone.factor, self.path.largest))
        return most - max(_ROOM * alone.took_s / STEP, predict(self, smaller) / _RESERVE)


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
    sawtooths: Sawtooths | None = None,
) -> Climb:
    """Simulate increasingly large links of this kind for ``budget_s`` seconds.

    Parameters
    ----------
    seeds : seeds of every fine run; a multiple of the threads leaves none idle.
    jobs : threads, 1 or more.
    clock : returns seconds; tests replace it.
    why_whole : why no smaller link may represent this one; None if one may.
    speed : speed of this machine, if something ran before.
    sawtooths : see `size_within`.

    Raises
    ------
    TooLittleTime
        There are fewer finished links than an answer needs.
    """
    speed = Speed(jobs) if speed is None else speed
    state = Climb(
        scenario, Timed(engine, speed, clock), seeds, jobs, budget_s, progress, clock, clock(),
        speed=speed, sawtooths=sawtooths,
    )  # fmt: skip
    whole = predict(state, scenario)
    over = whole / budget_s
    state.path = path_of(scenario, max(STEP, _ROOM * over), _TOP * over)
    state.predicted_s = min(whole, _RESERVE * budget_s)
    state.record = Record(engine, scenario, seeds)
    fits = whole <= state.left_s
    alone = why_whole is not None or state.path.largest < STEP or 0 < scenario.n_flows < TOP_FLOWS
    if alone:
        state.path = Path(1.0, 1.0)
    if alone and not fits and sawtooths is not None:
        state.sawtooths = None  # measure for less time: the answer has a note (`too_short`)
        fits = predict(state, scenario) <= state.left_s
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
        scaled_s = None if alone else _trend_s(state)
        raise TooLittleTime(why, predict(state, scenario), budget_s, scaled_s=scaled_s)
    return state


def _climb(state: Climb, first: float) -> None:
    """Simulate rung after rung; if the time stops the first or second, try a smaller one."""
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
        factor = _recorded(state, state.rungs[0].factor) or _next(state)
        if factor is None and len(state.rungs) == 1:
            factor = _smaller(state, state.rungs[0].factor)


def _loses(state: Climb) -> bool:
    """Whether the last rung's loss is not usable, on a path where it holds for the whole link."""
    outcomes = state.rungs[0].link.outcomes.values()
    return not state.path.shrinks_windows and any(is_due(state.scenario, each) for each in outcomes)


def _lacking(state: Climb) -> str | None:
    """Return why the rungs give no answer: too few links for a trend, or too few flows."""
    if not state.rungs or (state.rungs[0].factor > 1.0 and len(state.rungs) < 2):
        return "two smaller links do not fit into the time"
    flows = state.rungs[0].link.scenario.n_flows
    if state.rungs[0].factor > 1.0 and 0 < flows < TOP_FLOWS:
        return f"the largest link that fits has {flows} flows, too few to represent many"
    return None


def _trend_s(state: Climb) -> float | None:
    """Return the predicted seconds of the least climb that has an answer; None if none has."""
    small = state.path.largest
    enough = [1.0 / _LEAST_STEP, *(STEP**-k for k in range(1, _MOST_RUNGS))]
    for share in enough:
        large = at(state, small * share)
        if small * share < 1.0:
            return None
        if not 0 < large.n_flows < TOP_FLOWS:
            first_s, second_s = predict(state, at(state, small)), predict(state, large)
            return max(first_s + second_s, first_s / _FIRST_END) / _RESERVE
    return None


def confirm(state: Climb) -> None:
    """Simulate the buffer that meets the goals, unless it was simulated or no time is left."""
    top = state.rungs[0]
    wanted = max(1, math.ceil(top.found.high))
    wanted = min(wanted, top.link.limit)
    try:
        if wanted not in top.link.outcomes and not state.stopped:
            top.link.fine(wanted)
    except KeyboardInterrupt as end:
        state.stopped = not isinstance(end, OutOfTime)
    if wanted not in top.link.outcomes:
        above = [b for b in top.link.outcomes if b >= top.found.high]
        wanted = min(above, default=max(top.link.outcomes))
    top.meets = wanted


def at(state: Climb, factor: float) -> Scenario:
    """Return the link, ``factor`` times smaller."""
    return scaled(state.scenario, factor, state.path.share)


def predict(state: Climb, link: Scenario, measure: Measure | None = None) -> float:
    """Return the predicted seconds of a rung on this machine."""
    measure = _lasting(state, link, link.measure if measure is None else measure)
    return crossing_s(link, state.speed, len(state.seeds), measure)


def _lasting(state: Climb, link: Scenario, measure: Measure, packets: int | None = None) -> Measure:
    """Return a measurement, lengthened for a link's sawtooths unless the scenario sets it."""
    if state.sawtooths is None or settling.measure_stands(link):
        return measure
    return long_enough(measure, state.sawtooths(link, packets or _first_buffer(link)))


def crossing_s(link: Scenario, speed: Speed, seeds: int, measure: Measure | None = None) -> float:
    """Return the predicted seconds for the crossing of a link's curve with ``seeds`` per run.

    ``measure`` replaces the scenario's measurement unless it is None.
    """
    of = link.measure if measure is None else measure
    warmup, window = float(of.warmup), float(of.duration)
    coarse = speed.wall_s(link, warmup + COARSE_SHARE * window, COARSE_SEEDS)
    fine = speed.wall_s(link, warmup + window, seeds)
    watched = 0.0 if settling.measure_stands(link) else speed.wall_s(link, settling.WATCHED_S, 1)
    return _COARSE_LOOKS * coarse + _FINE_LOOKS * fine + watched


def _first(state: Climb) -> float:
    """Return the factor of the first rung: a recorded one, or one that takes little time."""
    if recorded := _recorded(state, math.inf):
        return recorded
    factor = STEP
    while predict(state, at(state, factor)) > _FIRST_SHARE * state.budget_s:
        factor *= STEP
        if factor >= state.path.largest:
            return state.path.largest
    return factor


def _recorded(state: Climb, above: float) -> float | None:
    """Return the factor of the next rung of an earlier climb, below ``above``."""
    return None if state.record is None else state.record.next_below(above, state.path.share)


def _next(state: Climb) -> float | None:
    """Return the factor of the next rung; None at the top, or if no larger one fits."""
    factor = state.rungs[0].factor
    if factor == 1.0:
        return None
    measure = state.rungs[0].link.scenario.measure
    room = state.left_s / max(predict(state, at(state, factor), measure), 1e-9)
    step = _step(room)
    if step >= factor or (factor <= _SURE * STEP and room >= _SURE * factor):
        step = factor
    while step >= min(_LEAST_STEP, factor):  # the link itself is worth any step
        takes_s = predict(state, at(state, factor / step), measure)
        if takes_s <= _ABOUT * state.left_s:
            return _with_enough_flows(state, factor / step, takes_s, measure)
        step *= _LESS  # the larger windows of a larger link take longer to settle
    return None


def _with_enough_flows(
    state: Climb, factor: float, takes_s: float, measure: Measure
) -> float | None:
    """Return the factor, or that of `TOP_FLOWS` flows where nothing with so many fits after it.

    A largest link with fewer flows gives no answer. None if the one with enough takes too long.
    """
    flows = at(state, factor).n_flows
    if not 0 < flows < TOP_FLOWS:
        return factor
    enough = factor * (flows / TOP_FLOWS) ** (1.0 / state.path.share)
    while enough > 1.0 and at(state, enough).n_flows < TOP_FLOWS:
        enough = max(1.0, 0.99 * enough)
    needs_s = predict(state, at(state, enough), measure)
    if takes_s + needs_s <= state.left_s / _RESERVE:
        return factor
    return enough if needs_s <= _HOPED * state.left_s else None


def _shrinks(state: Climb, factor: float) -> bool:
    """Whether a sufficiently smaller link exists to form a trend with this one."""
    return state.path.largest >= _LEAST_STEP * factor


def _smaller(state: Climb, factor: float) -> float | None:
    """Return the factor of a smaller link that fits after this one; None if none fits."""
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
    """Return the factor to the next rung with which the last rung ends at the end of the time.

    ``room`` is the remaining time over the time of the present rung. The time of a rung is
    proportional to its size: with m rungs to come, ``step + step**2 + … + step**m`` is the room.
    """
    for rungs in range(1, _MOST_RUNGS):
        roots = np.roots([*[1.0] * rungs, -room])
        step = max(float(root.real) for root in roots if abs(root.imag) < 1e-9)
        if step <= STEP:
            return step
    return STEP


def _play(state: Climb, factor: float) -> Rung:
    """Simulate one link to its crossing, with a suitable warm-up and window."""
    state.begun_s, link = state.spent_s, at(state, factor)
    curve = curve_of(link, state.engine, state.seeds, jobs=state.jobs, progress=ticking(state))
    start = _start(state, curve, factor)
    curve.scenario = link.model_copy(update={"measure": _measure(state, factor, curve, start)})
    found = find(curve, start, curve.limit)
    return Rung(factor, curve, found, state.spent_s - state.begun_s)


def _measure(state: Climb, factor: float, curve: LinkCurve, start: int) -> Measure:
    """Return a rung's warm-up and window: as an earlier climb measured them, or measured now."""
    link, share = curve.scenario, state.path.share
    known = None if state.record is None else state.record.measure_of(factor, share)
    if known is not None:
        return known
    measure = link.measure
    trace = state.engine.capabilities.trace
    if trace is not None and not settling.measure_stands(link):
        large = min(_SETTLES_LATER * start, curve.limit)
        seen = settling.watch(link, trace, curve.knob, large, state.seeds[0], ticking(state))
        measure = settling.measure_for(link, seen)
    measure = _lasting(state, link, measure, start)
    if state.record is not None:
        state.record.add(factor, share, measure)
    return measure


def _start(state: Climb, curve: LinkCurve, factor: float) -> int:
    """Return the first buffer: extrapolated from smaller rungs, or BDP/sqrt(n) over two."""
    below = state.rungs[:2]
    if not below:
        return _first_buffer(curve.scenario)
    exponent = state.path.likely
    if len(below) == 2:
        rise = math.log(below[0].found.packets / below[1].found.packets)
        exponent = rise / math.log(below[1].factor / below[0].factor)
    exponent = min(max(exponent, 0.0), state.path.steepest)
    guess: float = below[0].found.packets * (below[0].factor / factor) ** exponent
    return max(1, round(guess))


def _first_buffer(link: Scenario) -> int:
    return max(1, round(link.bdp_packets / math.sqrt(max(1, link.n_flows)) / 2))


def ticking(state: Climb) -> Progress:
    """Return a callback that reports the elapsed share of the time, and stops at its end."""

    def tick(_: float) -> None:
        if state.progress is not None:
            state.progress(min(state.spent_s / state.budget_s, 0.99))
        if state.spent_s > state.end_s:
            raise OutOfTime

    return tick
