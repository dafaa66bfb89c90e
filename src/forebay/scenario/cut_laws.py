"""Means and shares of laws that are cut at their ends, and the parameters that give a mean."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, erfc, exp, expm1, inf, log, pi, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def exponential_mean(mean: float, low: float, high: float) -> float:
    """Mean of an exponential law on [low, high]."""
    span = (high - low) / mean
    if span < 1e-6:  # practically uniform
        return (low + high) / 2
    return low + mean - (high - low) / expm1(span) if span < 700 else low + mean


def normal_mean(mean: float, deviation: float, low: float, high: float) -> float:
    """Mean of a normal law on [low, high]."""
    a, b = (low - mean) / deviation, (high - mean) / deviation
    return mean + deviation * (_density(a) - _density(b)) / _between(a, b)


def normal_share(mean: float, deviation: float, low: float, x: float, high: float) -> float:
    """P(X <= x) of a normal law on [low, high]."""
    a, at, b = ((end - mean) / deviation for end in (low, x, high))
    return _between(a, at) / _between(a, b)


def lognormal_mean(median: float, sigma: float, low: float, high: float) -> float:
    """Mean of a lognormal law on [low, high]; sigma is that of the logarithm."""
    a, b = (_log(x / median) / sigma for x in (low, high))
    whole = median * exp(sigma * sigma / 2)
    return whole * _between(a - sigma, b - sigma) / _between(a, b)


def lognormal_share(median: float, sigma: float, low: float, x: float, high: float) -> float:
    """P(X <= x) of a lognormal law on [low, high]."""
    a, at, b = (_log(end / median) / sigma for end in (low, x, high))
    return _between(a, at) / _between(a, b)


def pareto_mean(shape: float, low: float, high: float) -> float:
    """Mean of a Pareto law on [low, high]."""
    ratio = log(high / low)
    if abs(shape - 1) < 1e-9:
        return low * ratio / -expm1(-shape * ratio)
    over = -expm1(-(shape - 1) * ratio) / (shape - 1)
    return low * shape * over / -expm1(-shape * ratio)


def lognormal_sigma(mean: float, deviation: float) -> float:
    """Standard deviation of the logarithm, from mean and standard deviation."""
    return sqrt(log(1 + (deviation / mean) ** 2))


def lognormal_median(mean: float, deviation: float) -> float:
    """Median of the whole law, from its mean and standard deviation."""
    return mean / sqrt(1 + (deviation / mean) ** 2)


def lognormal_tail(x: float, median: float, sigma: float, high: float) -> float:
    """P(X > x) of a lognormal law on (0, high]."""
    top = _log(high / median) / sigma
    return _between(_log(x / median) / sigma, top) / _between(-inf, top) if x < high else 0.0


def pareto_tail(x: float, shape: float, low: float, high: float) -> float:
    """P(X > x) of a Pareto law on [low, high]."""
    if x <= low:
        return 1.0
    if x >= high:
        return 0.0
    most = (low / high) ** shape
    return float(((low / x) ** shape - most) / (1 - most))


def solve(rising: Callable[[float], float], wanted: float, least: float, most: float) -> float:
    """Return the x in [least, most] at which an increasing function has the wanted value."""
    low, high = log(least), log(most)
    for _ in range(100):
        middle = (low + high) / 2
        if rising(exp(middle)) < wanted:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


def _log(x: float) -> float:
    if x <= 0:
        return -inf
    return log(x) if x < inf else inf


def _density(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def _between(a: float, b: float) -> float:
    """P(a < Z < b) of a standard normal Z, computed from the nearer tail to avoid cancellation."""
    if a > 0:
        return (erfc(a / sqrt(2)) - erfc(b / sqrt(2))) / 2
    if b < 0:
        return (erfc(-b / sqrt(2)) - erfc(-a / sqrt(2))) / 2
    return (erf(b / sqrt(2)) - erf(a / sqrt(2))) / 2
