"""Converts uniform numbers to durations and flow lengths by a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forebay.scenario import Distribution, FlowLength
from forebay.scenario.cut_laws import lognormal_sigma
from forebay.scenario.distribution import Exponential, Lognormal, Normal, Pareto, Values
from forebay.scenario.distribution_shapes import PacketLaw, lower_end

PS_PER_S = 1e12

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def picoseconds(law: Distribution, u: _Floats) -> _Ints:
    """Return one draw for each uniform number; a larger number never gives a smaller draw."""
    low, high = round(law.low * PS_PER_S), round(law.high * PS_PER_S)
    if isinstance(law, Values) and law.stratified and u.size:
        u = _dealt(u)
    if law.kind in ("constant", "uniform"):
        steps: _Ints = np.rint(u * (high - low)).astype(np.int64)
        return low + steps
    drawn: _Ints = np.rint(_seconds(law, u) * PS_PER_S).astype(np.int64)
    return np.asarray(np.clip(drawn, low, high))  # rounding may exceed the bounds


def _dealt(u: _Floats) -> _Floats:
    """Return as many numbers in the same order, equally spaced: systematic sampling.

    Each interval of [0, 1] contains as many of them as its width gives, to within one. The first is
    uniform in the first step.
    """
    ranks = np.empty(u.size)
    ranks[np.argsort(u, axis=None, kind="stable")] = np.arange(u.size)
    return np.asarray((ranks + u.sum() % 1.0) / u.size).reshape(u.shape)


def whole_packets(law: FlowLength, packet_bytes: int, u: _Floats) -> _Ints:
    """Return the packets of one flow, at least 1, for each uniform number, in its order."""
    counted = law.in_packets(packet_bytes)
    drawn: _Floats
    match counted.kind:
        case "fixed":
            drawn = np.full(u.shape, np.ceil(counted.mean))
        case "geometric" if counted.mean <= 1:
            drawn = np.ones(u.shape)
        case "geometric":  # P(N > k) = (1 - 1/mean)^k
            drawn = np.ceil(np.log1p(-u) / np.log1p(-1 / counted.mean))
        case _:
            drawn = np.rint(_length(counted, u))
    whole: _Ints = np.maximum(drawn, 1).astype(np.int64)
    return whole


def _length(law: PacketLaw, u: _Floats) -> _Floats:
    low = lower_end(law.kind, law.mean, law.shape, law.deviation, law.high)
    if law.kind == "pareto":
        return _pareto(u, law.shape, low, law.high)
    return _lognormal(u, low, lognormal_sigma(law.mean, law.deviation), 0.0, law.high)


def _seconds(law: Distribution, u: _Floats) -> _Floats:
    low, high = float(law.low), float(law.high)
    match law:
        case Exponential(exponential=shape):
            kept = -np.expm1(-(high - low) / shape.mean)
            return np.asarray(low - float(shape.mean) * np.log1p(-u * kept))
        case Normal(normal=shape):
            mean, deviation = float(shape.mean), float(shape.deviation)
            ends = (low - mean) / deviation, (high - mean) / deviation
            return mean + deviation * _normal(u, *ends)
        case Lognormal(lognormal=shape):
            return _lognormal(u, shape.median, shape.sigma, low, high)
        case Pareto(pareto=shape):
            return _pareto(u, shape.shape, low, high)
        case Values(values=values, shares=shares):
            sums = np.cumsum(shares)
            place = np.minimum(np.searchsorted(sums, u, side="right"), len(sums) - 1)
            return np.asarray(values, dtype=np.float64)[place]
        case _:
            raise TypeError(f"no draw of {law!r}")


def _pareto(u: _Floats, shape: float, low: float, high: float) -> _Floats:
    kept = -np.expm1(-shape * np.log(high / low))
    drawn: _Floats = low * np.exp(-np.log1p(-u * kept) / shape)
    return drawn


def _lognormal(u: _Floats, median: float, sigma: float, low: float, high: float) -> _Floats:
    a = np.log(low / median) / sigma if low > 0 else -np.inf
    return np.asarray(median * np.exp(sigma * _normal(u, a, np.log(high / median) / sigma)))


def _normal(u: _Floats, a: float, b: float) -> _Floats:
    """Standard normal numbers on [a, b]."""
    from scipy.special import ndtr, ndtri

    first, last = ndtr(a), ndtr(b)
    drawn: Any = ndtri(first + u * (last - first))
    return np.asarray(np.clip(drawn, a, b), dtype=np.float64)
