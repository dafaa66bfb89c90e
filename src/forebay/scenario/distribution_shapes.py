"""The tables of parameters inside a distribution, and the means and tails of truncated laws.

A truncated law is that of X given low <= X <= high. Ends may be infinite if those of the law are.
The functions use plain numbers, or whole packets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import erf, erfc, exp, expm1, inf, log, pi, sqrt
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, Strict, model_validator

from forebay.scenario.base import Between, ScenarioModel
from forebay.scenario.errors import ScenarioError
from forebay.scenario.quantity import Duration

if TYPE_CHECKING:
    from typing import Unpack

    from forebay.scenario.inputs import (
        ExponentialShapeDict,
        LognormalShapeDict,
        NormalShapeDict,
        ParetoShapeDict,
    )


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


_LEAST_KEPT = 1e-3
_MEAN = Between(Duration(1e-12), Duration(1e9))
_SHAPE = Between(0.1, 100.0)
_LOW, _HIGH = "Nothing less is drawn.", "Nothing more is drawn."
_BEFORE_CUT = "Mean before the law is cut at its ends."
_DEVIATION = "Standard deviation before the law is cut at its ends."


class ExponentialShape(ScenarioModel):
    """Without memory; without ends on 0 to 40 means, beyond which nothing is ever drawn."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ExponentialShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    low: Duration = Field(default=Duration(0), description=_LOW)
    high: Duration = Field(
        default_factory=lambda data: Duration(40 * data["mean"]), description=_HIGH
    )

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        return exponential_mean(self.mean, float(self.low), float(self.high))

    def below(self, x: float) -> tuple[float, float]:
        """Return the share of draws up to x, between the ends, and their mean, seconds."""
        low, high = float(self.low), float(self.high)
        share = expm1(-(x - low) / self.mean) / expm1(-(high - low) / self.mean)
        return share, exponential_mean(self.mean, low, x)

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        _rising(self.low, self.high)
        span = self.high - self.low
        _keeps(self.low, self.high, 1.0 if span > self.mean else span / self.mean)
        return self


class NormalShape(ScenarioModel):
    """Bell-shaped; without ends cut at four standard deviations, and never below 0."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[NormalShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    deviation: Annotated[Duration, _MEAN] = Field(description=_DEVIATION)
    low: Duration = Field(
        default_factory=lambda data: Duration(max(0.0, data["mean"] - 4 * data["deviation"])),
        description=_LOW,
    )
    high: Duration = Field(
        default_factory=lambda data: Duration(data["mean"] + 4 * data["deviation"]),
        description=_HIGH,
    )

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        ends = float(self.low), float(self.high)
        return normal_mean(self.mean, self.deviation, *ends)

    def below(self, x: float) -> tuple[float, float]:
        """Return the share of draws up to x, between the ends, and their mean, seconds."""
        law = self.mean, self.deviation, float(self.low)
        share = normal_share(*law, x, float(self.high))
        return share, normal_mean(*law, x) if share else x

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        check_deviation(self.deviation, self.mean)
        _rising(self.low, self.high)
        a, b = ((x - self.mean) / self.deviation / sqrt(2) for x in (self.low, self.high))
        _keeps(self.low, self.high, (erf(b) - erf(a)) / 2)
        return self


class LognormalShape(ScenarioModel):
    """Its logarithm is normal; without ends cut at six of the logarithm's deviations."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[LognormalShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN] = Field(description=_BEFORE_CUT)
    deviation: Annotated[Duration, _MEAN] = Field(description=_DEVIATION)
    low: Duration = Field(default_factory=lambda data: _at_deviations(data, -6), description=_LOW)
    high: Duration = Field(default_factory=lambda data: _at_deviations(data, 6), description=_HIGH)

    @property
    def sigma(self) -> float:
        """Standard deviation of the logarithm."""
        return lognormal_sigma(self.mean, self.deviation)

    @property
    def median(self) -> float:
        """Median of the whole law, seconds."""
        return lognormal_median(self.mean, self.deviation)

    @property
    def expected(self) -> float:
        """Mean after the law is cut, seconds."""
        ends = float(self.low), float(self.high)
        return lognormal_mean(self.median, self.sigma, *ends)

    def below(self, x: float) -> tuple[float, float]:
        """Return the share of draws up to x, between the ends, and their mean, seconds."""
        law = self.median, self.sigma, float(self.low)
        share = lognormal_share(*law, x, float(self.high))
        return share, lognormal_mean(*law, x) if share else x

    @model_validator(mode="after")
    def _holds_enough(self) -> Self:
        check_deviation(self.deviation, self.mean)
        _rising(self.low, self.high)
        ends = (max(x, 1e-300) for x in (self.low, self.high))
        a, b = (log(x / self.median) / self.sigma / sqrt(2) for x in ends)
        _keeps(self.low, self.high, (erf(b) - erf(a)) / 2)
        return self


class ParetoShape(ScenarioModel):
    """Heavy-tailed: P(X > x) falls as x to the power of -shape, up to high."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Unpack[ParetoShapeDict]) -> None: ...

    mean: Annotated[Duration, _MEAN]
    """Mean of what is drawn."""
    shape: Annotated[float, Strict(), _SHAPE]
    """Exponent of the tail."""
    high: Annotated[Duration, _MEAN] = Field(description=_HIGH)

    @property
    def low(self) -> float:
        """Lower end of the law, seconds."""
        return _pareto_low(self.mean, self.shape, self.high)

    @property
    def expected(self) -> float:
        """Mean of the truncated law, seconds."""
        return self.mean

    def below(self, x: float) -> tuple[float, float]:
        """Return the share of draws up to x, between the ends, and their mean, seconds."""
        share = 1 - pareto_tail(x, self.shape, self.low, float(self.high))
        return share, pareto_mean(self.shape, self.low, x)

    @model_validator(mode="after")
    def _mean_below_high(self) -> Self:
        if self.mean >= self.high:
            wrong = f"{self.mean} is not below high, {self.high}"
            raise ScenarioError("out-of-range", wrong, "write a smaller mean", field="mean")
        return self


def _at_deviations(data: dict[str, Any], deviations: int) -> Duration:
    law = data["mean"], data["deviation"]
    return Duration(lognormal_median(*law) * exp(deviations * lognormal_sigma(*law)))


@lru_cache(maxsize=256)
def _pareto_low(mean: float, shape: float, high: float) -> float:
    rising = lambda low: pareto_mean(shape, low, high)  # noqa: E731
    return solve(rising, mean, mean * 1e-12, mean)


def check_deviation(deviation: float, mean: float) -> None:
    """Raise ScenarioError for a standard deviation that is out of range for this mean."""
    if not 1e-6 <= deviation / mean <= 1e3:
        wrong, hint = "is out of range", "write a deviation of 0.000001 to 1000 times the mean"
        raise ScenarioError("out-of-range", wrong, hint, field="deviation")


def _rising(low: Duration, high: Duration) -> None:
    if low >= high:
        wrong, hint = f"low, {low}, is not below high, {high}", "write a low below the high"
        raise ScenarioError("out-of-range", wrong, hint, field="low")


def _keeps(low: Duration, high: Duration, share: float) -> None:
    if share < _LEAST_KEPT:
        wrong = f"{low} to {high} has almost no probability"
        raise ScenarioError("out-of-range", wrong, "write a low and a high around the mean")


_SUMMED = 200


@dataclass(frozen=True, slots=True)
class PacketLaw:
    """A law of lengths in packets, including fractions of packets.

    Attributes
    ----------
    kind : "fixed", "geometric", "pareto" or "lognormal".
    mean : expected value of the drawn whole packets.
    shape : exponent of a Pareto law's tail.
    deviation : standard deviation of a lognormal law over its mean, both before truncation.
    high : length of the longest flow.
    """

    kind: str
    mean: float
    shape: float = 0.0
    deviation: float = 0.0
    high: float = 0.0

    @property
    def mean_square(self) -> float:
        """The mean of the squared length over the square of the mean: 1 if all are equal."""
        if self.kind == "geometric":
            return 2.0 - 1.0 / self.mean
        if self.kind == "lognormal":
            return 1.0 + (self.deviation / self.mean) ** 2
        if self.kind == "fixed":
            return 1.0
        low = lower_end(self.kind, self.mean, self.shape, self.deviation, self.high)
        ratio, more = log(self.high / low), 2.0 - self.shape
        over = ratio if abs(more) < 1e-9 else expm1(more * ratio) / more
        square = self.shape * low**2 * over / -expm1(-self.shape * ratio)
        return max(1.0, square / self.mean**2)


@lru_cache(maxsize=256)
def lower_end(kind: str, mean: float, shape: float, deviation: float, high: float) -> float:
    """Return the parameter with which the mean of the drawn whole packets is `mean`.

    It is the lower end of a Pareto law and the median of a lognormal law, in packets. The drawn
    number is max(1, nearest whole number).
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

    # With a median six deviations above the upper end, a lognormal law is nearly a Pareto law.
    most = high if kind == "pareto" else high * exp(6 * sigma)
    return solve(rounded_mean, mean, mean * 1e-9, most * (1 - 1e-12))


def _rounded_mean(
    tail: Callable[[float], float], mean_above: Callable[[float], float], high: float
) -> float:
    """E[max(1, round X)] = 1 + sum over j >= 2 of P(X > j - 1/2).

    Beyond J = 200 the sum is the integral of the tail, E[X - J; X > J], to seven digits.
    """
    last = min(_SUMMED, int(high + 0.5))
    total = 1.0 + sum(tail(j - 0.5) for j in range(2, last + 1))
    if last < _SUMMED or tail(last) <= 0.0:
        return total
    return total + tail(last) * (mean_above(last) - last)
