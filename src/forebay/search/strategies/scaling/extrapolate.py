"""Extrapolate from crossings on scaled links to the whole link, with an interval.

The growth of a buffer with its number of flows is known in two limits. The sum of n independent
windows has a spread of sqrt(n), and a buffer that absorbs it grows as sqrt(n) (Appenzeller et al.
2004, section 3). But this spread shrinks relative to the link, so the idle share that a goal of
98 % allows covers more and more of it. In the end only bursts of single flows remain, and they do
not grow. The window of each flow determines a loss rate, so the buffer for a loss goal grows with
n. The position of a link between the limits is measured. Several extrapolations give the possible
range: a power law through all scales that is no steeper than the law, a growth that decays, and a
growth whose exponent keeps falling at the measured rate. docs/explanation/scaled-links.md compares
them with links that were simulated whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from forebay.search.strategies.crossing.crossing import Crossing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    _Way = Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]

DRAWS = 2000
_BEND = 0.25
"""Standard deviation, among kinds of links, of the exponent's change for each factor e of windows.

Observed: -0.46 (Compound) to 0.2, and about 0.5 with a mix (docs/explanation/scaled-links.md).
"""
_LEAST_ERROR = 0.02
"""Least error of a crossing's log: all scales use the same seeds, and no spread shows this."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The extrapolated buffer of the full-size link.

    Attributes
    ----------
    packets, low, high : the estimate and its 95 % interval.
    exponent, exponent_low, exponent_high : exponent of packets in the rate, over simulated scales.
    """

    packets: float
    low: float
    high: float
    exponent: float
    exponent_low: float
    exponent_high: float


def extrapolate(
    factors: Sequence[float],
    found: Sequence[Crossing],
    steepest: float,
    *,
    gentlest: float | None = None,
    proportional: bool = False,
) -> Carried:
    """Extrapolate crossings on links ``factors`` times smaller to the link itself.

    Parameters
    ----------
    factors : at least two, each 1 or more; the largest link (the smallest factor) is first.
    found : the crossing of each link.
    steepest : the largest lasting exponent: 1/2, or 1 for a loss rate.
    gentlest : the smallest lasting exponent, where flows have smaller windows on a smaller link;
        else None. The exponent then changes with the windows, and both limits are those of its
        mean between the largest simulated link and the link itself.
    proportional : the goal is on the loss of long flows. The window of each flow, (BDP + B)/n,
        determines it and stays the same if B grows with the link. The estimate uses this; the
        interval uses the trend.

    Raises
    ------
    ValueError
        There are fewer than two links; a trend needs at least two points.
    """
    if len(found) < 2:
        raise ValueError("a trend needs two links or more")
    sizes = -np.log(np.asarray(factors, dtype=np.float64))
    logs = np.array([math.log(each.packets) for each in found])
    errors = np.array([_error(each) for each in found])
    drawn = _draw(logs, errors, [each.seeds for each in found])
    slopes = _slopes(sizes, drawn, errors)
    likely, every = _ways(gentlest)
    if proportional:
        likely = (_straight,)
    ways = np.concatenate([way(sizes, drawn, errors, steepest) for way in every])
    centre = [float(way(sizes, logs[None, :], errors, steepest)[0]) for way in likely]
    low, high = np.percentile(ways, [2.5, 97.5])
    fitted = float(_slopes(sizes, logs[None, :], errors)[0])
    best = min(max(float(np.mean(centre)), float(low)), float(high))
    return Carried(
        math.exp(best), math.exp(float(low)), math.exp(float(high)),
        fitted, *(float(end) for end in np.percentile(slopes, [2.5, 97.5])),
    )  # fmt: skip


def _ways(gentlest: float | None) -> tuple[tuple[_Way, ...], tuple[_Way, ...]]:
    """Return the extrapolations of the estimate, and those of the interval."""
    if gentlest is None:
        return _WAYS, (*_WAYS, _WORST)
    return (partial(_curve, gentlest, True),), (partial(_curve, gentlest, False),)


def _curve(
    gentlest: float,
    fades: bool,
    sizes: FloatArray,
    logs: FloatArray,
    errors: FloatArray,
    steepest: float,
) -> FloatArray:
    """Extrapolate a parabola through all scales, with a prior for the change of its exponent.

    The prior is one more observation: the change for each factor e is 0, with an error `_BEND`.
    Draws of the crossings take draws of this one along. With ``fades`` the exponent changes no
    longer than over the simulated scales: farther away a parabola is a guess.
    """
    weights = np.append(1.0 / errors, 2.0 / _BEND)
    terms = np.vstack([np.vander(sizes, 3), [1.0, 0.0, 0.0]]) * weights[:, None]
    change = np.zeros(len(logs))
    if len(logs) > 1:  # draws; the estimate is one row, and takes the prior's mean
        change = np.random.default_rng(1).normal(0.0, _BEND / 2.0, len(logs))
    seen = np.column_stack([logs, change]) * weights
    square, straight, _ = np.linalg.lstsq(terms, seen.T, rcond=None)[0]
    far, span = -float(sizes[0]), float(sizes[0] - sizes[-1])
    slope = straight - square * far  # the mean from sizes[0] to 0
    if fades and far > span:
        slope -= square * (far - span) ** 2 / far
    return np.asarray(logs[:, 0] - np.clip(slope, gentlest, steepest) * float(sizes[0]))


def _straight(
    sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float
) -> FloatArray:
    """Extrapolate from the largest link in proportion to its size; one packet may stay one."""
    grown = logs[:, 0] - steepest * sizes[0]
    return np.where(logs[:, 0] > 0.0, grown, 0.0)


def _error(found: Crossing) -> float:
    """Return the standard error of a crossing's log, with the error of rounding to packets.

    Where 1 packet is enough, the crossing is exact: no link needs less.
    """
    if found.reached != "inside":
        return _LEAST_ERROR
    whole = 0.5 / math.sqrt(3) / found.packets
    return math.hypot(max(found.log_error, _LEAST_ERROR), whole)


def _draw(logs: FloatArray, errors: FloatArray, seeds: Sequence[int]) -> FloatArray:
    """Return random draws of the crossings from Student's t, shape (draws, links)."""
    chance = np.random.default_rng(0)  # of the arithmetic; the same answer every time
    columns = [chance.standard_t(max(n - 1, 3), DRAWS) for n in seeds]
    return np.maximum(logs + errors * np.stack(columns, axis=1), 0.0)


def _slopes(sizes: FloatArray, logs: FloatArray, errors: FloatArray) -> FloatArray:
    """Return the weighted least-squares exponent of each draw."""
    weights = errors**-2 / (errors**-2).sum()
    centre = sizes - (weights * sizes).sum()
    rise = (weights * centre * (logs - (weights * logs).sum(axis=1, keepdims=True))).sum(axis=1)
    return np.asarray(rise / (weights * centre**2).sum())


def _trend(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """Extrapolate a power law through all scales from the largest link."""
    slope = np.maximum(_slopes(sizes, logs, errors), 0.0)
    lasting, excess = np.minimum(slope, steepest), np.maximum(slope - steepest, 0.0)
    return np.asarray(logs[:, 0] + lasting * -sizes[0] + excess * _fading(sizes))


def _fade(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """Extrapolate the growth between the two largest links; it decays over the simulated span."""
    slope = np.clip((logs[:, 0] - logs[:, 1]) / (sizes[0] - sizes[1]), 0.0, steepest)
    return np.asarray(logs[:, 0] + slope * _fading(sizes))


def _bend(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """Extrapolate a parabola through the three largest links; its exponent is never below 0."""
    if len(sizes) < 3:
        return _trend(sizes, logs, errors, steepest)
    near, far = (np.diff(logs[:, :3], axis=1) / np.diff(sizes[:3])).T
    fall = np.maximum((far - near) / ((sizes[0] - sizes[2]) / 2.0), 0.0)
    slope = np.clip(near - fall * (sizes[0] - sizes[1]) / 2.0, 0.0, steepest)
    length = np.minimum(-sizes[0], slope / np.maximum(fall, 1e-9))
    return np.asarray(logs[:, 0] + slope * length - fall * length**2 / 2.0)


def _fading(sizes: FloatArray) -> float:
    """Return the length, in logarithms, of full growth that equals a decaying growth."""
    span = float(sizes[0] - sizes[-1])
    return span * -math.expm1(float(sizes[0]) / span)


def _rise(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """Extrapolate a constant part plus a part of the steepest growth, from the two largest."""
    packets = np.exp(logs[:, :2])
    nearer = np.exp(steepest * (sizes[:2] - sizes[0]))
    slope = (packets[:, 0] - packets[:, 1]) / (nearer[0] - nearer[1])
    share = np.clip(slope / packets[:, 0], 0.0, 1.0)
    return np.asarray(logs[:, 0] + np.log1p(share * math.expm1(-steepest * float(sizes[0]))))


_WAYS = (_trend, _fade, _bend)
_WORST = _rise
"""Never observed so far, but not excluded: it counts in the interval, not in the estimate."""
