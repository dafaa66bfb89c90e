"""The buffer at which the goals are just met, as a number with an interval, from few runs.

A search that must show of every buffer whether it meets the goals spends most where noise is worst.
Here the curve itself is measured at a few buffers on the same seeds, and read where it crosses the
target. Close to the target the logarithm of the harm (what is missing to a full link, or what is
lost) falls about linearly with the logarithm of the buffer. The interval is the delete-one
jackknife over replications (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 11)
with Student's t.
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
"""Replications of a crossing: the jackknife over fewer has wide intervals."""
_MOST_THREADS = 8
WIDTH = 1.25
"""The curve is read at the crossing and at so many times it, to both sides."""
_FLOOR = 1e-6
_COARSE_STEP = 4.0
_COARSE_END = 1.6
_MOST_COARSE = 16
_MOST_FINE = 6
_STEEPEST, _FLATTEST = 20.0, 0.15


def seeds_of_crossing(seeds: Sequence[int], threads: int) -> range:
    """Return as many seeds as leave no thread idle, and enough for an interval."""
    wanted = max(len(seeds), LEAST_SEEDS)
    threads = min(threads, _MOST_THREADS)
    return range(seeds[0], seeds[0] + math.ceil(wanted / threads) * threads)


class Curve(Protocol):
    """Plays a link at a buffer."""

    def coarse(self, packets: int) -> float:
        """Return the log of the harm over what is allowed, from a short look; 0 is on target."""

    def fine(self, packets: int) -> FloatArray:
        """Return harm over what is allowed, shape (goals, seeds), the same seeds every time."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the goals are just met.

    Attributes
    ----------
    packets, low, high : the buffer and its 95 % interval; equal where it is 1 packet or the limit.
    log_error : standard error of the logarithm of ``packets``.
    seeds : replications behind it.
    reached : "inside", or "below" where 1 packet meets the goals, "above" where the limit does not.
    looks : every buffer of the fine curve, with the log of its pooled harm over what is allowed.
    """

    packets: float
    low: float
    high: float
    log_error: float
    seeds: int
    reached: str
    looks: tuple[tuple[int, float], ...]


def find(curve: Curve, start: int, limit: int) -> Crossing:
    """Return the crossing on [1, limit]; ``start`` is where to look first."""
    low, high = _enclose(curve, min(max(start, 1), limit), limit)
    if high is None:
        return (
            _end(limit, "above") if pooled(curve.fine(limit)) > 0 else _refine(curve, limit, limit)
        )
    if low is None:
        return _end(1, "below")
    return _refine(curve, _interpolate(low, high), limit)


def _end(packets: int, reached: str) -> Crossing:
    return Crossing(packets, packets, packets, 0.0, 0, reached, ())


Point = tuple[int, float]


def _enclose(curve: Curve, start: int, limit: int) -> tuple[Point | None, Point | None]:
    """Return neighbours between which the coarse curve crosses; None at an end it never crosses."""
    seen: dict[int, float] = {}
    at: int | None = start
    while at is not None and len(seen) < _MOST_COARSE:
        seen[at] = curve.coarse(at)
        at = _next(seen, limit)
    missed, met = _neighbours(seen)
    return missed, met


def _neighbours(seen: dict[int, float]) -> tuple[Point | None, Point | None]:
    """Return a buffer that misses and the next above it that meets; None where there is none.

    Noise is held against a buffer: what meets below one that misses does not count, unless all
    above it miss as well, as they do where a loss rises again with the buffer.
    """
    missing = [b for b, harm in seen.items() if harm > 0]
    meeting = [b for b, harm in seen.items() if harm <= 0]
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
    """Return a buffer beside the least harm, in the wider gap; None where the largest has it."""
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
    """Return where the line between two points, in logarithms, crosses; kept off their ends."""
    share = low[1] / max(low[1] - high[1], 1e-9)
    share = min(max(share, 0.2), 0.8)
    return float(low[0] * (high[0] / low[0]) ** share)


def _refine(curve: Curve, guess: float, limit: int) -> Crossing:
    """Look finely around the guess until the crossing lies between two of the looks."""
    harms: dict[int, FloatArray] = {}
    for packets in _around(guess, limit):
        harms[packets] = curve.fine(packets)
    while (further := _missing(harms, limit)) is not None and len(harms) < _MOST_FINE:
        harms[further] = curve.fine(further)
    return _solve(harms, limit)


def _around(guess: float, limit: int) -> list[int]:
    wanted = (guess / WIDTH, guess, guess * WIDTH)
    return sorted({min(max(round(b), 1), limit) for b in wanted})


def _missing(harms: dict[int, FloatArray], limit: int) -> int | None:
    """Return a further buffer where the crossing lies outside those that were looked at."""
    tried = sorted(harms)
    ends = pooled(harms[tried[0]]), pooled(harms[tried[-1]])
    if ends[1] > 0 and tried[-1] < limit:
        return min(limit, max(tried[-1] + 1, round(tried[-1] * WIDTH)))
    if ends[0] <= 0 and tried[0] > 1:
        return max(1, min(tried[0] - 1, round(tried[0] / WIDTH)))
    return None


def pooled(harm: FloatArray) -> float:
    """Return the log of the worst goal's mean harm over what is allowed."""
    return float(np.log(np.maximum(harm.mean(axis=1), _FLOOR)).max())


def _solve(harms: dict[int, FloatArray], limit: int) -> Crossing:
    near = _nearest(harms)
    logs = np.log(np.array(near, dtype=np.float64))
    stack = np.stack([harms[b] for b in near])  # (buffers, goals, seeds)
    seeds = stack.shape[2]
    whole = _fit(logs, stack)
    rest = [_fit(logs, np.delete(stack, s, axis=2)) for s in range(seeds)] if seeds > 1 else [whole]
    spread = np.array(rest) - np.mean(rest)
    error = math.sqrt((seeds - 1) / seeds * float((spread**2).sum()))
    half = _student_t(seeds - 1) * error if seeds > 1 else math.inf
    packets = min(max(math.exp(whole), 1.0), float(limit))
    low = max(1.0, min(packets * math.exp(-half), packets - 0.5))
    high = max(packets * math.exp(half), packets + 0.5)
    looks = tuple((b, pooled(harms[b])) for b in sorted(harms))
    return Crossing(packets, low, high, error, seeds, "inside", looks)


def _nearest(harms: dict[int, FloatArray]) -> list[int]:
    """Return the buffers, at most four, whose harm is nearest to the target."""
    return sorted(sorted(harms, key=lambda b: abs(pooled(harms[b])))[:4])


def _fit(logs: FloatArray, stack: FloatArray) -> float:
    """Return the log of the buffer at which the line through the looks crosses the target."""
    values = np.array([pooled(each) for each in stack])
    centre = logs - logs.mean()
    fall = -float((centre * values).sum()) / max(float((centre**2).sum()), 1e-12)
    fall = min(max(fall, _FLATTEST), _STEEPEST)
    return float(logs.mean() + values.mean() / fall)


def _student_t(degrees: int) -> float:
    from forebay.outcome.statistics import student_t

    return student_t(degrees)
