"""From crossings on scaled links to the whole link, with what the trend leaves open.

How a buffer grows with the number of flows that share it is known at two ends. The sum of many
independent windows has a spread of sqrt(n), and a buffer that absorbs it grows so (Appenzeller et
al. 2004, section 3). But that spread becomes ever smaller against the link, so that what a goal of
98 % leaves idle covers more and more of it, until bursts of single flows are what is left, and
those do not grow. A loss rate is set by the window that each flow finds, so the buffer that keeps
it grows with n. Where a link lies between the ends is measured, and ways of carrying it on tell
how far it could go: as over all scales but no steeper than the law, dying away, bending on as it
bent. docs/explanation/scaled-links.md compares them with links that were simulated whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from forebay.budget.crossing import Crossing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    _Way = Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]

DRAWS = 2000
_LEAST_ERROR = 0.02
"""Of a crossing's log: the seeds of all scales are alike, which no spread over them shows."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The whole link's buffer.

    Attributes
    ----------
    packets, low, high : the estimate and its 95 % interval.
    exponent, exponent_low, exponent_high : of packets in the rate, over the scales simulated.
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
    gentlest: float = 0.0,
    *,
    proportional: bool = False,
) -> Carried:
    """Carry crossings on links ``factors`` times smaller over to the link itself.

    Parameters
    ----------
    factors : 1 or more each, the largest link (the smallest factor) first; at least two.
    found : the crossing of each.
    steepest : the exponent that nothing exceeds for long: 1/2, or 1 for a loss rate.
    gentlest : above 0 where windows shrink with the link: the exponent of BDP/sqrt(n) then, below
        which nothing was seen. The trend alone makes the estimate, and both ends the interval.
    proportional : the goal is on what long flows lose. That is set by the window of each,
        (BDP + B)/n, which stays where B grows as the link does: so the estimate, while the
        interval is of what the trend says.

    Raises
    ------
    ValueError
        Fewer than two links: a trend has two points at least.
    """
    if len(found) < 2:
        raise ValueError("a trend needs two links or more")
    sizes = -np.log(np.asarray(factors, dtype=np.float64))
    logs = np.array([math.log(each.packets) for each in found])
    errors = np.array([_error(each) for each in found])
    drawn = _draw(logs, errors, [each.seeds for each in found])
    slopes = _slopes(sizes, drawn, errors)
    likely, every = _ways(gentlest, steepest)
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


def _ways(gentlest: float, steepest: float) -> tuple[tuple[_Way, ...], tuple[_Way, ...]]:
    """Return the ways that make the estimate, and those that make the interval."""
    if not gentlest:
        return _WAYS, (*_WAYS, _WORST)
    trend = partial(_between, gentlest, steepest)
    ends = [partial(_between, exponent, exponent) for exponent in (gentlest, steepest)]
    return (trend,), (trend, *ends)


def _between(
    low: float,
    high: float,
    sizes: FloatArray,
    logs: FloatArray,
    errors: FloatArray,
    steepest: float,
) -> FloatArray:
    """A power law through all scales, its exponent kept between two."""
    slope = np.clip(_slopes(sizes, logs, errors), low, high)
    return np.asarray(logs[:, 0] + slope * -sizes[0])


def _straight(
    sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float
) -> FloatArray:
    """In proportion to the link, from the largest on; one packet may stay one."""
    grown = logs[:, 0] - steepest * sizes[0]
    return np.where(logs[:, 0] > 0.0, grown, 0.0)


def _error(found: Crossing) -> float:
    """Return the standard error of a crossing's log, that of whole packets included.

    Where 1 packet is enough it is not an estimate: no link asks for less.
    """
    if found.reached != "inside":
        return _LEAST_ERROR
    whole = 0.5 / math.sqrt(3) / found.packets
    return math.hypot(max(found.log_error, _LEAST_ERROR), whole)


def _draw(logs: FloatArray, errors: FloatArray, seeds: Sequence[int]) -> FloatArray:
    """Return what the crossings may as well have been, shape (draws, links): Student's t."""
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
    """A power law through all scales, from the largest link on."""
    slope = np.maximum(_slopes(sizes, logs, errors), 0.0)
    lasting, excess = np.minimum(slope, steepest), np.maximum(slope - steepest, 0.0)
    return np.asarray(logs[:, 0] + lasting * -sizes[0] + excess * _fading(sizes))


def _fade(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """The growth between the two largest links, which decays over the span that was simulated."""
    slope = np.clip((logs[:, 0] - logs[:, 1]) / (sizes[0] - sizes[1]), 0.0, steepest)
    return np.asarray(logs[:, 0] + slope * _fading(sizes))


def _bend(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """A parabola through the three largest: the exponent falls on as it fell, but not below 0."""
    if len(sizes) < 3:
        return _trend(sizes, logs, errors, steepest)
    near, far = (np.diff(logs[:, :3], axis=1) / np.diff(sizes[:3])).T
    fall = np.maximum((far - near) / ((sizes[0] - sizes[2]) / 2.0), 0.0)
    slope = np.clip(near - fall * (sizes[0] - sizes[1]) / 2.0, 0.0, steepest)
    length = np.minimum(-sizes[0], slope / np.maximum(fall, 1e-9))
    return np.asarray(logs[:, 0] + slope * length - fall * length**2 / 2.0)


def _fading(sizes: FloatArray) -> float:
    """Return over what length, in logarithms, a growth that dies away goes on at full rate."""
    span = float(sizes[0] - sizes[-1])
    return span * -math.expm1(float(sizes[0]) / span)


def _rise(sizes: FloatArray, logs: FloatArray, errors: FloatArray, steepest: float) -> FloatArray:
    """A part that stays and a part that grows as fast as any, through the two largest links."""
    packets = np.exp(logs[:, :2])
    nearer = np.exp(steepest * (sizes[:2] - sizes[0]))
    slope = (packets[:, 0] - packets[:, 1]) / (nearer[0] - nearer[1])
    share = np.clip(slope / packets[:, 0], 0.0, 1.0)
    return np.asarray(logs[:, 0] + np.log1p(share * math.expm1(-steepest * float(sizes[0]))))


_WAYS = (_trend, _fade, _bend)
_WORST = _rise
"""So far seen nowhere, yet nothing rules it out: in the interval, not in the estimate."""
