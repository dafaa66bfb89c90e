"""Estimate the buffer at which the goals are just met, with an interval, from few runs.

A search must decide for every buffer whether it meets the goals, and spends most runs where noise
is worst. This module measures the curve at a few buffers on the same seeds, and interpolates
where it crosses the target. Close to the target, the logarithm of the excess (the unused share of
the link, or the loss) is about a parabola of the logarithm of the buffer. The interval is the
delete-one jackknife over replications (Efron and Tibshirani, An Introduction to the Bootstrap,
1993, ch. 11) with Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    FloatArray = NDArray[np.float64]

LEAST_SEEDS = 6
"""Minimum replications of a crossing: the jackknife over fewer has wide intervals."""
_MOST_THREADS = 8
WIDTH = 1.25
"""The curve is measured at the guess and at WIDTH times it, or 1/WIDTH of it, until they enclose
the crossing; then at the crossing, or once more farther out where noise hides the slope."""
_FLOOR = 1e-6
_COARSE_STEP = 4.0
_COARSE_END = 1.6
_MOST_COARSE = 16
_MOST_FINE = 6
MOST_NEAR = 4
"""Buffers through which the curve is fitted."""
_STEEPEST, _FLATTEST = 20.0, 0.15
_CERTAIN, _CLOSE = 0.03, 0.03
"""Standard error of the crossing's log below which its shape matters more than noise; distance of
the log within which a measured buffer is close to the crossing."""
_FARTHEST = 4.0
"""Logs of the excess beyond this count as it: an idle share of 0 has none."""
_LEAST_FALL = 0.5
"""Least fall of the curve at its crossing, as a share of that in its middle: noise may bend it."""


_ESTIMATED = 2
"""What the same seeds estimate, the excess and its fall: with one degree of freedom more, 93 of
100 intervals of a flat curve held the truth."""


def seeds_of_crossing(seeds: Sequence[int], threads: int) -> range:
    """Return enough seeds for an interval, in a number that leaves no thread idle."""
    wanted = max(len(seeds), LEAST_SEEDS)
    threads = min(threads, _MOST_THREADS)
    return range(seeds[0], seeds[0] + math.ceil(wanted / threads) * threads)


class Curve(Protocol):
    """Simulates a link with a given buffer."""

    def coarse(self, packets: int) -> float:
        """Return the log of normalized excess, from a short run; 0 is on target."""

    def fine(self, packets: int) -> FloatArray:
        """Return normalized excess, shape (goals, seeds), always on the same seeds."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """The buffer at which the goals are just met.

    Attributes
    ----------
    packets, low, high : the buffer and its 95 % interval; equal if it is 1 packet or the limit.
    log_error : standard error of the logarithm of ``packets``.
    seeds : number of replications.
    reached : "inside", or "below" if 1 packet meets the goals, "above" if the limit does not.
    evaluations : every buffer of the fine curve, with the log of its pooled normalized excess.
    """

    packets: float
    low: float
    high: float
    log_error: float
    seeds: int
    reached: str
    evaluations: tuple[tuple[int, float], ...]


def find(curve: Curve, start: int, limit: int) -> Crossing:
    """Return the crossing on [1, limit]; ``start`` is the first buffer to try.

    At least one buffer ran over the whole window: a short run alone is no evidence.
    """
    low, high = _enclose(curve, min(max(start, 1), limit), limit)
    if high is None:
        missed = pooled(curve.fine(limit)) > 0
        return _end(limit, "above") if missed else _refine(curve, limit, limit)
    if low is None:
        missed = pooled(curve.fine(1)) > 0
        return _refine(curve, 1, limit) if missed else _end(1, "below")
    return _refine(curve, _interpolate(low, high), limit)


def _end(packets: int, reached: str) -> Crossing:
    return Crossing(packets, packets, packets, 0.0, 0, reached, ())


Point = tuple[int, float]


def _enclose(curve: Curve, start: int, limit: int) -> tuple[Point | None, Point | None]:
    """Return neighbours around the coarse curve's crossing; None for an end without a crossing."""
    seen: dict[int, float] = {}
    at: int | None = start
    while at is not None and len(seen) < _MOST_COARSE:
        seen[at] = curve.coarse(at)
        at = _next(seen, limit)
    missed, met = _neighbours(seen)
    return missed, met


def _neighbours(seen: dict[int, float]) -> tuple[Point | None, Point | None]:
    """Return a buffer that misses and the next larger one that meets; None if there is none.

    Because of noise, a buffer that meets the goals below one that misses does not count, unless
    all larger buffers also miss. They do where loss rises again with the buffer.
    """
    missing = [b for b, excess in seen.items() if excess > 0]
    meeting = [b for b, excess in seen.items() if excess <= 0]
    top = max(meeting, default=max(missing, default=0) + 1)
    missed = max((b for b in missing if b < top), default=None)
    met = min((b for b in meeting if b > (missed or 0)), default=None)
    pair = [None if b is None else (b, seen[b]) for b in (missed, met)]
    return pair[0], pair[1]


def _next(seen: dict[int, float], limit: int) -> int | None:
    missed, met = _neighbours(seen)
    if met is None:
        there = missed[0] if missed else limit
        if there >= limit:
            return _turned(seen)
        return min(limit, math.ceil(there * _COARSE_STEP))
    if missed is None:
        return None if met[0] == 1 else max(1, int(met[0] / _COARSE_STEP))
    if met[0] <= max(missed[0] * _COARSE_END, missed[0] + 1):
        return None
    return min(max(round(_interpolate(missed, met)), missed[0] + 1), met[0] - 1)


def _turned(seen: dict[int, float]) -> int | None:
    """Return a buffer next to the least excess, in the wider gap; None if the largest has it."""
    tried = sorted(seen)
    least = tried.index(min(tried, key=seen.__getitem__))
    if least == 0:
        return max(1, int(tried[0] / _COARSE_STEP)) if tried[0] > 1 else None
    if least == len(tried) - 1:
        return None
    gaps = (tried[least - 1 : least + 1], tried[least : least + 2])
    low, high = max(gaps, key=lambda gap: gap[1] / gap[0])
    between = round(math.sqrt(low * high))
    return between if high > max(_COARSE_END * low, low + 1) else None


def _interpolate(low: Point, high: Point) -> float:
    """Return where the line between two points, in logarithms, crosses, away from its ends."""
    share = low[1] / max(low[1] - high[1], 1e-9)
    share = min(max(share, 0.2), 0.8)
    return float(low[0] * (high[0] / low[0]) ** share)


def _refine(curve: Curve, guess: float, limit: int) -> Crossing:
    """Measure the fine curve from the guess on until two of its buffers enclose the crossing."""
    packets = min(max(round(guess), 1), limit)
    return _enclosed(curve, {packets: curve.fine(packets)}, limit)


def _enclosed(curve: Curve, excesses: dict[int, FloatArray], limit: int) -> Crossing:
    """Measure further buffers until two enclose the crossing, and one more; solve for it."""
    while (further := _missing(excesses, limit)) is not None and len(excesses) < _MOST_FINE:
        excesses[further] = curve.fine(further)
    found = _solve(excesses, limit)
    more = _nearer(excesses, found) if found.log_error < _CERTAIN else _wider(excesses, limit)
    if more is None or more in excesses:
        return found
    excesses[more] = curve.fine(more)
    return _solve(excesses, limit)


def _nearer(excesses: dict[int, FloatArray], found: Crossing) -> int | None:
    """Return the crossing if no measured buffer is close: the curve between them may be bent."""
    packets = max(1, round(found.packets))
    far = all(abs(math.log(packets / each)) > _CLOSE for each in excesses)
    return packets if far else None


def _wider(excesses: dict[int, FloatArray], limit: int) -> int | None:
    """Return a buffer beyond two measured ones: noise hides the fall between these."""
    if len(excesses) > 2:
        return None
    low, high = min(excesses), max(excesses)
    if pooled(excesses[low]) + pooled(excesses[high]) > 0:  # the crossing is nearer to the upper
        return min(limit, max(high + 1, round(high * WIDTH)))
    return max(1, min(low - 1, round(low / WIDTH)))


def again(curve: Curve, found: Crossing, limit: int) -> Crossing:
    """Return the crossing again from the same buffers, after the curve has more seeds."""
    near = sorted(found.evaluations, key=lambda each: abs(each[1]))[:MOST_NEAR]
    excesses = {packets: curve.fine(packets) for packets, _ in sorted(near)}
    return _enclosed(curve, excesses, limit)


def _missing(excesses: dict[int, FloatArray], limit: int) -> int | None:
    """Return a further buffer if the crossing lies outside the measured ones, else None."""
    tried = sorted(excesses)
    ends = pooled(excesses[tried[0]]), pooled(excesses[tried[-1]])
    if ends[1] > 0 and tried[-1] < limit:
        return min(limit, max(tried[-1] + 1, round(tried[-1] * WIDTH)))
    if ends[0] <= 0 and tried[0] > 1:
        return max(1, min(tried[0] - 1, round(tried[0] / WIDTH)))
    return None


def pooled(excess: FloatArray) -> float:
    """Return the log of the worst goal's mean normalized excess."""
    return float(np.log(np.maximum(excess.mean(axis=1), _FLOOR)).max())


def _solve(excesses: dict[int, FloatArray], limit: int) -> Crossing:
    near = _nearest(excesses)
    logs = np.log(np.array(near, dtype=np.float64))
    stack = np.stack([excesses[b] for b in near])  # (buffers, goals, seeds)
    seeds, weights = stack.shape[2], np.ones(len(near))
    weights = 1.0 / np.hypot(logs - _fit(logs, stack, weights), _CLOSE)
    whole = _fit(logs, stack, weights)
    rest = [whole]
    if seeds > 1:
        rest = [_fit(logs, np.delete(stack, s, axis=2), weights) for s in range(seeds)]
    spread = np.array(rest) - np.mean(rest)
    error = math.sqrt((seeds - 1) / seeds * float((spread**2).sum()))
    half = _student_t(seeds - _ESTIMATED) * error if seeds > _ESTIMATED else math.inf
    packets = min(max(math.exp(whole), 1.0), float(limit))
    low = max(1.0, min(packets * math.exp(-half), packets - 0.5))
    high = max(packets * math.exp(half), packets + 0.5)
    evaluations = tuple((b, pooled(excesses[b])) for b in sorted(excesses))
    return Crossing(packets, low, high, error, seeds, "inside", evaluations)


def _nearest(excesses: dict[int, FloatArray]) -> list[int]:
    """Return a few buffers, those with excess nearest to the target."""
    return sorted(sorted(excesses, key=lambda b: abs(pooled(excesses[b])))[:MOST_NEAR])


def _fit(logs: FloatArray, stack: FloatArray, weights: FloatArray) -> float:
    """Return the log of the buffer at which the fitted curve crosses the target.

    The curve is a parabola, the line where there are two buffers only. Through three buffers 1.25
    times apart a line would be 1 to 3 % too low where the excess falls ever faster.
    """
    values = np.clip([pooled(each) for each in stack], -_FARTHEST, _FARTHEST)
    centre, degree = float(logs.mean()), min(len(logs) - 1, 2)
    bend, slope, middle = [0.0, 0.0, *np.polyfit(logs - centre, values, degree, w=weights)][-3:]
    fall = min(max(-slope, _FLATTEST), _STEEPEST)
    steep = math.sqrt(max(fall**2 - 4.0 * bend * middle, (_LEAST_FALL * fall) ** 2))
    return float(centre + 2.0 * middle / (fall + steep))


def _student_t(degrees: int) -> float:
    from forebay.outcome.statistics import student_t

    return student_t(degrees)
