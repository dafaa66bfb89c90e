"""Choose the scale of the next level by the remaining time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from forebay.search.stopping import RESERVE, SURE
from forebay.search.strategies.scaling.rule import TOP_FLOWS
from forebay.search.strategies.scaling.study import FIRST_END, LEAST_STEP, STEP

if TYPE_CHECKING:
    from forebay.scenario import Measure
    from forebay.search.strategies.scaling.study import ScalingStudy

MOST_LEVELS = 9
_LESS, _ABOUT, _HOPED = 0.9, 1.01, 1.3
"""Factor on a step whose link is expected to take too long; what still counts as in time, and what
is tried where a link that takes less has too few flows to represent many."""
_SMALLER_SHARE = 0.2
"""Share of the remaining time for a smaller link that replaces a stopped one."""
_FIRST_SHARE = 0.03
"""Share of the time for the first level."""


def first_level(study: ScalingStudy) -> float:
    """Return the factor of the first level: a recorded one, or one that takes little time."""
    if recorded := _recorded(study, math.inf):
        return recorded
    factor = STEP
    while study.predict(study.at(factor)) > _FIRST_SHARE * study.time.seconds:
        factor *= STEP
        if factor >= study.rule.largest:
            return study.rule.largest
    return factor


def next_level(study: ScalingStudy) -> float | None:
    """Return the factor of the next level; None at the top, or if no other one fits."""
    factor = study.levels[0].factor
    following = _recorded(study, factor) or _larger(study, factor)
    if following is None and len(study.levels) == 1:
        return smaller_level(study, factor) or _for_a_later_try(study, factor)
    return following


def _for_a_later_try(study: ScalingStudy, factor: float) -> float | None:
    """Return the least level that makes a trend, though it takes too long; None without a store.

    What of it is simulated is kept, and the next try begins with that.
    """
    if not study.checkpoint.is_kept:
        return None
    step = LEAST_STEP
    while step < factor and 0 < study.at(factor / step).n_flows < TOP_FLOWS:
        step *= LEAST_STEP
    return factor / step if step <= factor else None


def smaller_level(study: ScalingStudy, factor: float) -> float | None:
    """Return the factor of a smaller link that fits after this one; None if none fits."""
    if len(study.levels) > 1 or (study.levels and study.levels[0].factor == 1.0):
        return None
    factor = max([factor, *(level.factor for level in study.levels)])
    if not study.shrinks(factor):
        return None
    most = study.rule.largest
    smaller = min(STEP * factor, most)
    while smaller < most and study.predict(study.at(smaller)) > _SMALLER_SHARE * study.left_s:
        smaller = min(STEP * smaller, most)
    return smaller if study.predict(study.at(smaller)) <= study.left_s else None


def trend_s(study: ScalingStudy) -> float | None:
    """Return the predicted seconds of the least study that has an answer; None if none has."""
    small = study.rule.largest
    enough = [1.0 / LEAST_STEP, *(STEP**-k for k in range(1, MOST_LEVELS))]
    for share in enough:
        large = study.at(small * share)
        if small * share < 1.0:
            return None
        if not 0 < large.n_flows < TOP_FLOWS:
            first_s, second_s = study.predict(study.at(small)), study.predict(large)
            return max(first_s + second_s, first_s / FIRST_END) / RESERVE
    return None


def _recorded(study: ScalingStudy, above: float) -> float | None:
    """Return the factor of the next level of an earlier study, below ``above``."""
    return study.checkpoint.next_below(above, study.rule.share)


def _larger(study: ScalingStudy, factor: float) -> float | None:
    """Return the factor of a larger link that fits; None at the top, or if none fits."""
    if factor == 1.0:
        return None
    measure = study.levels[0].link.measure
    room = study.left_s / max(study.predict(study.at(factor), measure), 1e-9)
    step = _step(room)
    if step >= factor or (factor <= SURE * STEP and room >= SURE * factor):
        step = factor
    while step >= min(LEAST_STEP, factor):  # the link itself is worth any step
        takes_s = study.predict(study.at(factor / step), measure)
        if takes_s <= _ABOUT * study.left_s:
            return _with_enough_flows(study, factor / step, takes_s, measure)
        step *= _LESS  # the larger windows of a larger link take longer to settle
    return None


def _with_enough_flows(
    study: ScalingStudy, factor: float, takes_s: float, measure: Measure
) -> float | None:
    """Return the factor, or that of `TOP_FLOWS` flows where nothing with so many fits after it.

    A largest link with fewer flows gives no answer. None if the one with enough takes too long.
    """
    flows = study.at(factor).n_flows
    if not 0 < flows < TOP_FLOWS:
        return factor
    enough = factor * (flows / TOP_FLOWS) ** (1.0 / study.rule.share)
    while enough > 1.0 and study.at(enough).n_flows < TOP_FLOWS:
        enough = max(1.0, 0.99 * enough)
    needs_s = study.predict(study.at(enough), measure)
    if takes_s + needs_s <= study.left_s / RESERVE:
        return factor
    return enough if needs_s <= _HOPED * study.left_s else None


def _step(room: float) -> float:
    """Return the factor to the next level with which the last level ends at the end of the time.

    ``room`` is the remaining time over the time of the present level. The time of a level is
    proportional to its size: with m levels to come, ``step + step**2 + … + step**m`` is the room.
    """
    for levels in range(1, MOST_LEVELS):
        roots = np.roots([*[1.0] * levels, -room])
        step = max(float(root.real) for root in roots if abs(root.imag) < 1e-9)
        if step <= STEP:
            return step
    return STEP
