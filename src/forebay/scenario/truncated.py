"""Laws cut off at two ends: their means and tails, in plain numbers and in whole packets.

Each is the law of X given low <= X <= high. Infinite ends are allowed where the law's are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import erf, erfc, exp, expm1, inf, log, pi, sqrt


def exponential_mean(mean: float, low: float, high: float) -> float:
    """Mean of an exponential law on [low, high]."""
    span = (high - low) / mean
    if span < 1e-6:  # as good as uniform
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
    """Mean of a Pareto law that begins at low and is cut at high."""
    ratio = log(high / low)
    if abs(shape - 1) < 1e-9:
        return low * ratio / -expm1(-shape * ratio)
    over = -expm1(-(shape - 1) * ratio) / (shape - 1)
    return low * shape * over / -expm1(-shape * ratio)


def lognormal_sigma(mean: float, deviation: float) -> float:
    """Standard deviation of the logarithm, from those of the number itself."""
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
    """Return the x in [least, most] where a rising function takes the wanted value."""
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
    """P(a < Z < b) of a standard normal Z, from the nearer tail so that no digits cancel."""
    if a > 0:
        return (erfc(a / sqrt(2)) - erfc(b / sqrt(2))) / 2
    if b < 0:
        return (erfc(-b / sqrt(2)) - erfc(-a / sqrt(2))) / 2
    return (erf(b / sqrt(2)) - erf(a / sqrt(2))) / 2


_SUMMED = 200


@dataclass(frozen=True, slots=True)
class PacketLaw:
    """A law of lengths counted in packets, parts of packets included.

    Attributes
    ----------
    kind : "fixed", "geometric", "pareto" or "lognormal".
    mean : expected value of the whole packets drawn.
    shape : exponent of a Pareto law's tail.
    deviation : a lognormal law's standard deviation, relative to its mean before it is cut.
    high : no longer flow is drawn.
    """

    kind: str
    mean: float
    shape: float = 0.0
    deviation: float = 0.0
    high: float = 0.0


@lru_cache(maxsize=256)
def lower_end(kind: str, mean: float, shape: float, deviation: float, high: float) -> float:
    """Return what makes the mean of the whole packets drawn the mean asked for.

    For a Pareto law that is its lower end; for a lognormal one its median. In packets; the
    number drawn is max(1, nearest whole number).
    """
    sigma = lognormal_sigma(mean, deviation) if kind == "lognormal" else 0.0

    def rounded_mean(scale: float) -> float:
        if kind == "pareto":
            return _rounded_mean(
                lambda x: pareto_tail(x, shape, scale, high),
                lambda x: pareto_mean(shape, max(x, scale), high),
                high,
            )
        return _rounded_mean(
            lambda x: lognormal_tail(x, scale, sigma, high),
            lambda x: lognormal_mean(scale, sigma, x, high),
            high,
        )

    # Six deviations beyond the upper end a lognormal law is all but a Pareto one, cut there.
    most = high if kind == "pareto" else high * exp(6 * sigma)
    return solve(rounded_mean, mean, mean * 1e-9, most * (1 - 1e-12))


def _rounded_mean(
    tail: Callable[[float], float], mean_above: Callable[[float], float], high: float
) -> float:
    """E[max(1, round X)] = 1 + sum over j >= 2 of P(X > j - 1/2).

    Beyond 200 the sum is the integral of the tail, E[X - J; X > J], to seven digits.
    """
    last = min(_SUMMED, int(high + 0.5))
    total = 1.0 + sum(tail(j - 0.5) for j in range(2, last + 1))
    if last < _SUMMED or tail(last) <= 0.0:
        return total
    return total + tail(last) * (mean_above(last) - last)
